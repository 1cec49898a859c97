/**
 * Updates in one round trip, for stores behind a network. The record and the time are guessed: the record as last seen here, or absent;
 * the time by the server's clock as last heard. The change is called with these guesses, and its result is sent together with them. The
 * server commits only if both guesses are right; if not, it says what is right.
 *
 * So changes need not trust this machine's clock, which may be wrong, jump, or stand still while the machine sleeps: if the guess is
 * further off than {@link CLOCK_OFF_MS_MAX}, nothing is committed.
 */
import type { Durability } from '../ports.js';
import type { Next } from './base.js';
import { type Answer, type Attempt, isDone, revAfter, type Seen } from './compare-and-set.js';
import { StoreFault } from './fault.js';
import { ServerClock } from './server-clock.js';
import { recordOf, textOf } from './text.js';
import { type TakeTurn, turnsByPromise } from './turns.js';
import { type Waiting, within } from './waiting.js';

export interface Server {
  attempt(attempt: Attempt): Promise<Answer>;
  read(id: string): Promise<Seen | undefined>;
  /** Turns what the client threw into a StoreFault. */
  fault(error: unknown): StoreFault;
  /** Whether a refusal for now (`blocked`) leaves open whether the update was made. */
  unsure?(fault: StoreFault): boolean;
}

/** How far the guessed time may be off, ms: more than a slow round trip, less than any lease. */
const CLOCK_OFF_MS_MAX = 1000;
/** How many versions are kept for guesses, and the longest text that is, so that they need a few MB at most. */
const SEEN_MAX = 1000;
const SEEN_UNITS_MAX = 16_384;
/** The longest pause before another attempt, after several wrong guesses or a busy server, ms. */
const PAUSE_MS_MAX = 50;
/** How many wrong guesses are followed by another attempt without a pause. One wrong guess is common, and a second one is not rare. */
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
    const seen = await this.look(() => this.#server.read(id));
    this.learn(id, seen);
    return recordOf(seen?.text);
  }

  /** Reads something. Like an update, it waits while the server refuses it only for now, and survives one connection that breaks. */
  look<T>(work: () => Promise<T>): Promise<T> {
    const asking: Waiting = { deadline: performance.now() + this.#timeoutMs, broke: false };
    const looks = async (): Promise<T> => {
      for (;;) {
        try {
          return await work();
        } catch (error) {
          const fault = this.#lastFault(asking, error);
          if (fault) throw fault;
        }
        await pause();
      }
    };
    return this.#within(looks, asking);
  }

  /** Resolves when what `next` returns is committed. Updates of one record by this object come one after the other. */
  async update(id: string, next: (current: unknown) => Next, durability: Durability): Promise<void> {
    const deadline = performance.now() + this.#timeoutMs;
    const asking: Asking = { id, next, durability, deadline, looked: false, broke: false };
    const end = await this.#takeTurn(id, deadline);
    await this.#within(() => this.#rounds(asking), asking)
      .catch((fault) => this.#callOnceMore(asking, fault))
      .finally(end);
  }

  /**
   * Called before an update fails. The caller relies on what its change saw last: if that was the guess "absent", it may go on without the
   * store, although an earlier key may be stored. So this calls the change once more, with what is stored, or with {@link UNKNOWN}.
   */
  async #callOnceMore(asking: Asking, fault: unknown): Promise<never> {
    const { id, next, looked } = asking;
    // After a timeout, `#rounds` may still be running: make it stop.
    asking.deadline = 0;
    // A full store can still be read.
    const full = (fault as Partial<StoreFault>).reason === 'quota';
    const current = full ? await this.read(id).catch(() => UNKNOWN) : UNKNOWN;
    this.clock.now();
    if (!looked || full) ask(next, current);
    throw fault;
  }

  /** Remembers what is stored, for the next guess. */
  learn(id: string, seen: Seen | undefined): void {
    // Delete first, so that the map is in the order of use.
    this.#seen.delete(id);
    if (!seen || String(seen.text).length > SEEN_UNITS_MAX) return;
    this.#seen.set(id, seen);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > SEEN_MAX && oldest !== undefined) this.#seen.delete(oldest);
  }

  /** Does `work` in time. Rejects with what a change threw, or with a StoreFault. */
  async #within<T>(work: () => Promise<T>, waiting: Waiting): Promise<T> {
    try {
      return await within(work, waiting, this.#timeoutMs);
    } catch (error) {
      throw error instanceof Thrown ? error.error : this.#server.fault(error);
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
      // The change wants to keep what the server has just said is stored: nothing is left to do.
      if (heard && asked.next === undefined) return;
      // After this call has given up, the client may still send the attempt when it reconnects, and the server may run it when a lock becomes free.
      // So the server must refuse the attempt once the call's time is over. If the server has told its time during this call, the limit is all the
      // time that is left. If not, it is at most half of that: the guess may be that much ahead of the server's clock without exceeding the call's time.
      const offMs = heard ? left : Math.min(left / 2, CLOCK_OFF_MS_MAX);
      const attempt: Attempt = { id, expected: seen, now, offMs, durability, ...asked };
      const answer = await this.#send(attempt, asking);
      this.clock.hear(answer.now);
      if (isDone(attempt, answer)) {
        if (!answer.done && durability === 'strict') {
          // It was committed by a copy whose answer was lost, so nobody has confirmed that it is stored as safely as asked. Write the same record once more.
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
      // If the server says "absent", but did not take the new record although both guesses were right, it may hide a record, for example by
      // row-level security. Then the change has not seen what is stored.
      asking.hidden ||= mayStillCome(attempt, answer);
      asking.looked = seen !== undefined || !asking.hidden;
      heard = true;
    }
    throw asking.blocked ?? new StoreFault('timeout', `others kept changing this record, or this process was too busy, for ${this.#timeoutMs} ms`);
  }

  /** Sends an attempt; again if the connection broke or the server is busy. The version's name keeps it from being done twice. */
  async #send(attempt: Attempt, asking: Asking): Promise<Answer> {
    // What the server said before no longer counts as a look: a write without an answer may still be committed later, and a server that
    // refuses writes may have a successor with newer records.
    asking.looked = false;
    for (;;) {
      try {
        const answer = await this.#server.attempt(attempt);
        asking.blocked = undefined;
        asking.broke ||= Boolean(answer.broke);
        if (!asking.broke || !mayStillCome(attempt, answer) || performance.now() > asking.deadline - PAUSE_MS_MAX) return answer;
      } catch (error) {
        const fault = this.#lastFault(asking, error);
        if (fault) {
          this.learn(attempt.id, undefined);
          throw fault;
        }
      }
      await pause();
    }
  }

  /** The fault to end with after this error; `undefined` if the server may be asked again: it refused only for now, or one connection broke. */
  #lastFault(asking: Waiting, error: unknown): StoreFault | undefined {
    const fault = this.#server.fault(error);
    asking.blocked = fault.reason === 'blocked' ? fault : undefined;
    const again = fault.reason === 'blocked' || (fault.reason === 'io' && !asking.broke);
    // Give up before the time is over, so that the fault says why.
    if (!again || performance.now() > asking.deadline - PAUSE_MS_MAX) return fault;
    asking.broke ||= fault.reason === 'io' || this.#server.unsure?.(fault) === true;
    return undefined;
  }
}

/** An update under way. `looked`: what its change saw last came from the server and was not a guess. */
interface Asking extends Waiting {
  readonly id: string;
  readonly next: (current: unknown) => Next;
  readonly durability: Durability;
  looked: boolean;
  /** Both guesses of an attempt were right, and yet nothing was done. */
  hidden?: boolean;
}

/**
 * Whether an attempt was not committed although both guesses were right. Then an earlier copy of it, sent before the connection broke, is
 * at work on the record. Sending the same attempt again finds out; a different one might take effect in addition to that copy.
 */
const mayStillCome = (attempt: Attempt, answer: Answer): boolean =>
  !isDone(attempt, answer) && answer.seen?.rev === attempt.expected?.rev && Math.abs(answer.now - attempt.now) <= attempt.offMs;

/** Stands for a record that could not be read. It counts as a damaged one, which must not be overwritten. */
const UNKNOWN = 'could not be looked at';

/** Wraps what a change threw, so that it is not taken for an error of the client. */
class Thrown {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

type Asked = { readonly next: Next; readonly text: string; readonly rev: string } | { readonly thrown: unknown };

/** Calls the change. `seen`: the version that it follows. */
function ask(next: (current: unknown) => Next, current: unknown, seen?: Seen): Asked {
  try {
    const record = next(current);
    return { next: record, text: record ? textOf(record) : '', rev: record ? revAfter(seen) : '' };
  } catch (thrown) {
    return { thrown };
  }
}
