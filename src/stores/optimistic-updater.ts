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
import { type Answer, type Attempt, isDone, revAfter, type Seen } from './compare-and-set.js';
import { StoreFault } from './fault.js';
import { ServerClock } from './server-clock.js';
import { recordOf, textOf } from './text.js';
import { type TakeTurn, turnsByPromise } from './turns.js';

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
/** After a time that is over, for what has arrived and was not read yet, ms. */
const LAST_LOOK_MS = 5;
/** Wrong guesses in a row before there are pauses: the first one is usual, the second one happens. */
const QUICK_ROUNDS = 3;

const pause = (): Promise<void> => new Promise((done) => setTimeout(done, Math.random() * PAUSE_MS_MAX));

export class OptimisticUpdater {
  readonly clock = new ServerClock();
  readonly #server: Server;
  readonly #timeoutMs: number;
  readonly #seen = new Map<string, Seen>();
  readonly #takeTurn: TakeTurn;

  constructor(server: Server, timeoutMs: number, takeTurn = turnsByPromise()) {
    this.#server = server;
    this.#timeoutMs = timeoutMs;
    this.#takeTurn = takeTurn;
  }

  async read(id: string): Promise<unknown> {
    const seen = await this.within(() => this.#server.read(id));
    this.learn(id, seen);
    return recordOf(seen?.text);
  }

  /** Resolves when what `next` makes of the record is committed. Updates of one record from here come one after the other. */
  async update(id: string, next: (current: unknown) => Next, durability: Durability): Promise<void> {
    const deadline = performance.now() + this.#timeoutMs;
    const asking: Asking = { id, next, durability, deadline, looked: false, broke: false };
    const end = await this.#takeTurn(id, deadline);
    await this.within(() => this.#rounds(asking), deadline, asking)
      .catch((fault) => this.#takeBack(asking, fault))
      .finally(end);
  }

  /**
   * Whoever asked may take what its change saw last for a look, and "absent" for leave to go on without the store: an
   * earlier key may be in it. So before it fails, the change sees what is there, or that nobody knows.
   */
  async #takeBack(asking: Asking, fault: unknown): Promise<never> {
    const { id, next, looked } = asking;
    // Work that goes on after a timeout asks nothing more.
    asking.deadline = 0;
    // A store that is full can still be looked at.
    const full = (fault as Partial<StoreFault>).reason === 'quota';
    const current = full ? await this.read(id).catch(() => UNKNOWN) : UNKNOWN;
    this.clock.now();
    if (!looked || full) ask(next, current);
    throw fault;
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

  /** Bounded, because clients wait for a server that is gone, some of them for ever. `refused` has what it said last, if it said why. */
  async within<T>(work: () => Promise<T>, deadline = performance.now() + this.#timeoutMs, refused?: Pick<Asking, 'blocked'>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      const over = (): void => reject(refused?.blocked ?? new StoreFault('timeout', `the store did not answer within ${this.#timeoutMs} ms`));
      // A process that stood still finds its timers due before it reads the answer that came meanwhile.
      const look = (): void => {
        timer = setTimeout(over, LAST_LOOK_MS);
      };
      timer = setTimeout(look, Math.max(0, deadline - performance.now()));
    });
    try {
      return await Promise.race([work(), timeout]);
    } catch (error) {
      throw error instanceof Thrown ? error.error : this.#server.fault(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #rounds(asking: Asking): Promise<void> {
    const { id, durability } = asking;
    let { next } = asking;
    let seen = this.#seen.get(id);
    let heard = false;
    for (let round = 0; performance.now() < asking.deadline; round++) {
      if (round > QUICK_ROUNDS) await pause();
      const now = this.clock.now();
      const left = asking.deadline - performance.now();
      const asked = ask(next, recordOf(seen?.text), seen);
      if ('thrown' in asked) {
        if (asking.looked) throw new Thrown(asked.thrown);
        // `next` threw on a cached value, which may be outdated: read the record and try again.
        seen = await this.#server.read(id);
        asking.looked = true;
        continue;
      }
      // The server has just said what is there, and it is to stay so: that was the step.
      if (heard && asked.next === undefined) return;
      // Clients send what was given up when they are connected again, and servers do it when a lock is free: after the time that is left
      // for this call, the server must refuse it. Once the server has told its time in this call, a slow way to it is no other reason to
      // refuse. Before, half of the time: even where the guess is so much too late, the whole is not exceeded.
      const offMs = heard ? left : Math.min(left / 2, CLOCK_OFF_MS_MAX);
      const attempt: Attempt = { id, expected: seen, now, offMs, durability, ...asked };
      const answer = await this.#send(attempt, asking);
      this.clock.hear(answer.now);
      if (isDone(attempt, answer)) {
        if (!answer.done && durability === 'strict') {
          // Its own answer was lost, and with it the word that it is stored as safely as asked. The same record written once more has that word.
          next = (current) => current as Next;
          seen = answer.seen;
          asking.broke = false;
          continue;
        }
        this.learn(id, asked.next ? { rev: attempt.rev, text: asked.text } : asked.next === null ? undefined : seen);
        return;
      }
      if (asking.broke && next === asking.next && asked.next !== undefined && answer.seen?.rev !== seen?.rev) {
        throw new StoreFault('io', 'the connection broke, and whether the update was committed can not be told: the record was changed since');
      }
      seen = answer.seen;
      this.learn(id, seen);
      asking.looked = heard = true;
    }
    throw asking.blocked ?? new StoreFault('timeout', `others were faster with this record for ${this.#timeoutMs} ms`);
  }

  /** Sends it; once more if the connection broke, which does nothing twice, because of the version's name. */
  async #send(attempt: Attempt, asking: Asking): Promise<Answer> {
    // What was said before is no look any more: a write without an answer may be committed yet, unseen until then, and a server that lets
    // nobody write may have a successor, which knows more.
    asking.looked = false;
    for (;;) {
      try {
        const answer = await this.#server.attempt(attempt);
        asking.blocked = undefined;
        asking.broke ||= Boolean(answer.broke);
        if (!asking.broke || !mayStillCome(attempt, answer) || performance.now() > asking.deadline - PAUSE_MS_MAX) return answer;
      } catch (error) {
        const fault = this.#server.fault(error);
        asking.blocked = fault.reason === 'blocked' ? fault : undefined;
        const again = fault.reason === 'blocked' || (fault.reason === 'io' && !asking.broke);
        // Before the time is over, so that the fault says why.
        if (!again || performance.now() > asking.deadline - PAUSE_MS_MAX) {
          this.learn(attempt.id, undefined);
          throw fault;
        }
        asking.broke ||= fault.reason === 'io';
      }
      await pause();
    }
  }
}

/** An update under way. `looked`: what its change saw last is the server's word, not a guess. */
interface Asking {
  readonly id: string;
  readonly next: (current: unknown) => Next;
  readonly durability: Durability;
  deadline: number;
  looked: boolean;
  /** A connection broke under one of its attempts, so a copy of that may be committed at any time, unseen. */
  broke: boolean;
  /** Why its last attempt came to nothing: the server lets nobody write for now. */
  blocked?: StoreFault | undefined;
}

/**
 * Nothing stood in its way, and yet it was not committed: a copy that was sent before the connection broke has the record, or had it
 * after this one looked. The same attempt sent again finds out; another one might take effect beside it.
 */
const mayStillCome = (attempt: Attempt, answer: Answer): boolean =>
  !isDone(attempt, answer) && answer.seen?.rev === attempt.expected?.rev && Math.abs(answer.now - attempt.now) <= attempt.offMs;

/** In place of a record that could not be looked at. It reads as a damaged one: something that must not be written over. */
const UNKNOWN = 'could not be looked at';

/** What a change threw, on its way past those who translate what clients throw. */
class Thrown {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

type Asked = { readonly next: Next; readonly text: string; readonly rev: string } | { readonly thrown: unknown };

/** `seen`: the version that is to be followed. */
function ask(next: (current: unknown) => Next, current: unknown, seen?: Seen): Asked {
  try {
    const record = next(current);
    return { next: record, text: record ? textOf(record) : '', rev: record ? revAfter(seen) : '' };
  } catch (thrown) {
    return { thrown };
  }
}
