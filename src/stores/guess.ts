/**
 * Updates in one round trip, for stores behind a network. What the record is and what time it is are guessed (absent, or as
 * last seen here; the server's clock as last heard), the change is asked on that guess, and its answer is sent together
 * with the guess. The server commits only if both were right, and says what is right if they were not.
 *
 * So the time that a change gets needs no trust in this machine's clock, which may be wrong, jump, or stand still while the
 * machine sleeps: a guess that is further off than {@link CLOCK_OFF_MS_MAX} commits nothing.
 */
import type { Durability } from '../ports.js';
import type { Next } from './base.js';
import { StoreFault } from './fault.js';
import { recordOf, textOf } from './text.js';

/**
 * A record as the server has it. `rev`: a name for this very version, which no other one ever has, and after it those of the
 * versions before it: whoever sends an update again because the answer was lost finds its own among them.
 */
export interface Seen {
  readonly rev: string;
  readonly text: unknown;
}

/** What the server is asked to do, in one step. */
export interface Attempt {
  readonly id: string;
  /** Commit only if the record is this; `undefined`: only if there is none. */
  readonly expected: Seen | undefined;
  /** The time that the change was told. Commit only if the server's clock is no further from it than `offMs`. */
  readonly now: number;
  readonly offMs: number;
  readonly next: Next;
  /** `next` as text, and the name that this version of the record is to have. */
  readonly text: string;
  readonly rev: string;
  readonly durability: Durability;
}

/** `done`: committed. Otherwise what is there instead; either may prove to have been right, and the next attempt succeed. */
export interface Answer {
  readonly done: boolean;
  readonly now: number;
  readonly seen: Seen | undefined;
  /** The connection was made anew meanwhile, so the attempt may have been sent twice, and this be the second answer. */
  readonly broke?: boolean | undefined;
}

/** Whether an attempt is committed; perhaps by a copy of it whose answer was lost, and others changed the record since. */
export const isDone = ({ next, rev }: Attempt, { done, seen }: Answer): boolean =>
  done || Boolean(next && seen && namesIn(seen.rev).includes(namesIn(rev)[0]));

/** Versions that a record names, itself included, and the length of a name: 60 random bits. */
const NAMES_MAX = 3;
const NAME_UNITS = 16;
const namesIn = (rev: string): (string | undefined)[] => rev.split(' ');
const revAfter = (seen: Seen | undefined): string => {
  const name = crypto.randomUUID().replaceAll('-', '').slice(0, NAME_UNITS);
  return [name, ...(seen ? namesIn(seen.rev) : [])].slice(0, NAMES_MAX).join(' ');
};

export interface Server {
  attempt(attempt: Attempt): Promise<Answer>;
  read(id: string): Promise<Seen | undefined>;
  /** What its client threw. */
  fault(error: unknown): StoreFault;
}

/** How far the guessed time may be off, ms; more than a slow round trip, less than any lease. */
const CLOCK_OFF_MS_MAX = 1000;
/** Versions kept for guesses, and the longest text kept, so that they cost a few MB at most. */
const SEEN_MAX = 1000;
const SEEN_UNITS_MAX = 16_384;
/** The longest pause after a guess that proved wrong several times, or before a server that is busy is asked again, ms. */
const PAUSE_MS_MAX = 50;
/** Wrong guesses in a row before there are pauses: the first one is usual, the second one happens. */
const QUICK_ROUNDS = 3;

const pause = (): Promise<void> => new Promise((done) => setTimeout(done, Math.random() * PAUSE_MS_MAX));

/** The server's clock as last heard, told on by this machine's monotonic one. Until it was heard, this machine's is guessed. */
export class ServerClock {
  #heard = Date.now();
  #at = performance.now();
  /** What {@link now} said last. */
  said = 0;

  readonly now = (): number => {
    this.said = Math.round(this.#heard + performance.now() - this.#at);
    return this.said;
  };

  hear(now: number): void {
    this.#heard = now;
    this.#at = performance.now();
  }
}

export class Guesses {
  readonly clock = new ServerClock();
  readonly #server: Server;
  readonly #timeoutMs: number;
  readonly #seen = new Map<string, Seen>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(server: Server, timeoutMs: number) {
    this.#server = server;
    this.#timeoutMs = timeoutMs;
  }

  async read(id: string): Promise<unknown> {
    const seen = await this.within(() => this.#server.read(id));
    this.learn(id, seen);
    return recordOf(seen?.text);
  }

  /** Resolves when what `next` makes of the record is committed. Updates of one record from here come one after the other. */
  async update(id: string, next: (current: unknown) => Next, durability: Durability): Promise<void> {
    const deadline = performance.now() + this.#timeoutMs;
    const before = this.#turns.get(id);
    const mine = (async () => {
      await before;
      await this.within(() => this.#rounds(id, next, durability, deadline), deadline);
    })();
    const turn = mine.catch(() => {});
    this.#turns.set(id, turn);
    await mine.finally(() => {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    });
  }

  /** What is there, for the next guess. */
  learn(id: string, seen: Seen | undefined): void {
    // Deleted first, so that the map is in the order of use.
    this.#seen.delete(id);
    if (!seen || String(seen.text).length > SEEN_UNITS_MAX) return;
    this.#seen.set(id, seen);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > SEEN_MAX && oldest !== undefined) this.#seen.delete(oldest);
  }

  /** Bounded, because clients wait for a server that is gone, some of them for ever. */
  async within<T>(work: () => Promise<T>, deadline = performance.now() + this.#timeoutMs): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new StoreFault('timeout', `the store did not answer within ${this.#timeoutMs} ms`)), Math.max(0, deadline - performance.now()));
    });
    try {
      return await Promise.race([work(), timeout]);
    } catch (error) {
      throw error instanceof Thrown ? error.error : this.#server.fault(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #rounds(id: string, next: (current: unknown) => Next, durability: Durability, deadline: number): Promise<void> {
    let seen = this.#seen.get(id);
    let [looked, heard] = [false, false];
    for (let round = 0; performance.now() < deadline; round++) {
      if (round > QUICK_ROUNDS) await pause();
      const asked = ask(next, seen);
      if ('thrown' in asked) {
        if (looked) throw new Thrown(asked.thrown);
        // Thrown at a guess, which says nothing.
        seen = await this.#server.read(id);
        looked = true;
        continue;
      }
      const { said: now } = this.clock;
      // Once the server has told its time in this call, a slow way to it is no reason to refuse. Never longer than anybody
      // waits for it: clients send what was given up when they are connected again.
      const offMs = heard ? Math.max(this.#timeoutMs, CLOCK_OFF_MS_MAX) : CLOCK_OFF_MS_MAX;
      const attempt: Attempt = { id, expected: seen, now, offMs, durability, ...asked };
      const { answer, broke } = await this.#send(attempt, deadline);
      this.clock.hear(answer.now);
      if (isDone(attempt, answer)) {
        this.learn(id, asked.next ? { rev: attempt.rev, text: asked.text } : asked.next === null ? undefined : seen);
        return;
      }
      if (broke && asked.next !== undefined && answer.seen?.rev !== seen?.rev) {
        throw new StoreFault('io', 'the connection broke, and whether the update was committed can not be told: the record was changed since');
      }
      seen = answer.seen;
      this.learn(id, seen);
      looked = heard = true;
    }
    throw new StoreFault('timeout', `others were faster with this record for ${this.#timeoutMs} ms`);
  }

  /** Sends it; once more if the connection broke, which does nothing twice, because of the version's name. */
  async #send(attempt: Attempt, deadline: number): Promise<{ readonly answer: Answer; readonly broke: boolean }> {
    for (let broke = false; ; ) {
      try {
        const answer = await this.#server.attempt(attempt);
        return { answer, broke: broke || Boolean(answer.broke) };
      } catch (error) {
        const fault = this.#server.fault(error);
        const again = fault.reason === 'blocked' || (fault.reason === 'io' && !broke);
        if (!again || performance.now() > deadline) {
          this.learn(attempt.id, undefined);
          throw fault;
        }
        broke ||= fault.reason === 'io';
      }
      await pause();
    }
  }
}

/** What a change threw, on its way past those who translate what clients throw. */
class Thrown {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

type Asked = { readonly next: Next; readonly text: string; readonly rev: string } | { readonly thrown: unknown };

function ask(next: (current: unknown) => Next, seen: Seen | undefined): Asked {
  try {
    const record = next(recordOf(seen?.text));
    return { next: record, text: record ? textOf(record) : '', rev: record ? revAfter(seen) : '' };
  } catch (thrown) {
    return { thrown };
  }
}
