/** An operation under way in this realm, and the callers who wait for it. */
import type { Look } from '../core/claimant.js';
import type { OperationKey } from '../core/ids.js';
import { isObject } from '../core/name.js';
import type { Outcome } from '../core/outcome.js';
import type { Seen } from '../core/ownership.js';
import type { OnceRecord } from '../core/record.js';
import { isOnceError, OnceError } from '../errors.js';
import { type Hears, unheard } from './nested.js';
import type { Result } from './result.js';
import type { Told } from './shown-state.js';
import { StopSource } from './stop-signal.js';

/** How an operation ended, for all its callers. `fail` makes the error that they are rejected with. */
export interface Ended {
  readonly outcome: Outcome;
  readonly result?: Result | undefined;
  readonly fail?: ((outcome: Outcome) => unknown) | undefined;
  /** This call drove the operation, so listeners are told of its end. */
  readonly driven?: boolean;
  /** The record as last stored, for an operation that did not settle. */
  readonly record?: OnceRecord | undefined;
}

/** The key is used up without an effect, so the call goes on under a new one. */
export interface Anew {
  readonly anew: true;
  /** How the call ends if there is no other key: with the refusal that used this one up. */
  readonly refused?: Ended;
}

export const ANEW: Anew = { anew: true };

export type Finished = Ended | Anew;

/** The tables of calls under way, of what they knew last, and of outcomes. */
export interface InFlightTables {
  /** Operations under way, by operation key. */
  readonly flights: Map<OperationKey, InFlightOperation>;
  /** The last records that calls of this realm knew, of operations of which the store may know less: `last-known.ts`. */
  readonly lastKnown: Map<OperationKey, OnceRecord>;
  /** By URL: the latest call that writes without a key. */
  readonly latest: Map<string, symbol>;
  /** How often each user has logged out, by store and namespace. */
  readonly logOuts: Map<string, number>;
  /** By key: how many functions given to `run` have not ended, also after their time was over. Absent before the first `run`. */
  running?: Map<string, number> | undefined;
  /** Outcomes, by the object that the caller was given: a Response, an error, an abort reason. */
  readonly outcomes: WeakMap<object, Outcome>;
  /** Lost operations without a name that somebody has in hand. Made by the first one. */
  inHand?: InHand;
}

/** Lost operations without a name that calls of a realm have in hand. */
export interface InHand {
  /** What a `resume` has in hand, and when that is over. */
  readonly resumes: Map<OperationKey, Promise<void>>;
  /** What presses are about to go on with. */
  readonly presses: Set<OperationKey>;
}

/** What all callers are told. It has no outcome if the call was wrong, or if something broke before anything was known of the operation. */
type Landing = Ended | { readonly outcome?: undefined; readonly result?: undefined; readonly fail: () => unknown };

interface Caller {
  readonly joined: boolean;
  readonly signal: AbortSignal | undefined;
  readonly request: Request | undefined;
  readonly onOutcome: Hears | undefined;
  /** The caller's outcome if it leaves before the end. */
  readonly left: Outcome;
  /** Rejects the caller with this error when its own deadline comes first. */
  readonly late?: Promise<Error> | undefined;
  /** Resolves the caller's promise, or rejects it (`fails`). */
  readonly end: (value: unknown, fails: boolean) => void;
}

/** The signal's reason, or an AbortError on old platforms, which give none. */
export function abortReason(signal: AbortSignal): unknown {
  return signal.reason ?? Object.defineProperty(new Error('The operation was aborted'), 'name', { value: 'AbortError' });
}

/**
 * Notes the outcome of an aborted call under its abort reason, for `outcomeOf(reason)`. Gives `undefined` if the reason is no object or
 * several calls share it.
 */
export function noteUnderReason({ outcomes }: InFlightTables, reason: unknown, left: Outcome): Outcome | undefined {
  if (!isObject(reason)) return undefined;
  const shared = outcomes.has(reason);
  outcomes.set(reason, shared ? { ...left, operation: undefined } : left);
  return shared ? undefined : left;
}

/** A copy of the result for one caller; `undefined` if that fails, so that the other callers still get their answers. */
function copyOf(result: Result | undefined): unknown {
  try {
    return result?.copy();
  } catch {
    return undefined;
  }
}

/** Counts the readers of a body that still arrives. It is a function of its own, so that a signal that outlives the call keeps only `stop` in memory. */
function readBy(signal: AbortSignal | undefined, stop: StopSource): void {
  if (signal?.aborted) return;
  stop.readers++;
  signal?.addEventListener('abort', () => --stop.readers || stop.abort(abortReason(signal)));
}

export class InFlightOperation {
  readonly #callers = new Set<Caller>();
  /** For callers that left before the end and were rejected then: each gives one of them the final outcome, for its `onOutcome` and for `outcomeOf`. */
  readonly #gone: ((landing: Landing) => void)[] = [];
  /** Aborts when the last caller has left; after the end, while the body of the answer still arrives, when its last reader has left. */
  readonly stop = new StopSource();
  /** Resolves `fingerprint`, which begins with the call's `repeat`: who means another effect does not join. Called with `undefined` if the body could not be read. */
  fingerprinted!: (value: string | undefined) => void;
  #landed!: () => void;
  #landing: Landing | undefined;
  readonly #operationKey: OperationKey;

  /** Resolves when the body has been read; with `undefined` if that failed. */
  readonly fingerprint = new Promise<string | undefined>((resolve) => {
    this.fingerprinted = resolve;
  });
  readonly landed = new Promise<void>((resolve) => {
    this.#landed = resolve;
  });

  /** The client of the call that began it. */
  readonly client: { readonly registry: InFlightTables };
  /** The deadline of the call that began it, ms since 1970. */
  readonly deadline: number;

  /** The operation has ended; its callers are told right after screens and logs. */
  ended = false;

  /** What was told of it last, for the first screen of the page. */
  declare told?: Told | undefined;

  /** What each look at the record showed: before the wait for the lock, and when this operation began. */
  readonly looks: Look[] = [];

  /** The next call of the name, if it waited for this one, goes on with the same object. */
  readonly seen: Seen;

  /** Claims the operation. Nothing may be awaited between the look into the table and this constructor. */
  constructor(client: { readonly registry: InFlightTables }, operationKey: OperationKey, deadline = 0, seen: Seen = { at: Infinity, aheadMs: 0 }) {
    this.client = client;
    this.deadline = deadline;
    this.seen = seen;
    this.#operationKey = operationKey;
    this.client.registry.flights.set(operationKey, this);
  }

  /** Waits for the end. If a caller aborts, the others go on waiting; when the last one has left, the drive stops. */
  join(caller: Omit<Caller, 'end'>): Promise<unknown> {
    const { signal, late } = caller;
    return new Promise((resolve, reject) => {
      const dismiss = (reason: unknown, noted: Outcome | undefined): void => {
        if (!this.#callers.size) this.stop.abort(reason);
        this.#gone.push((landing) => {
          const own = this.#outcomeFor(entry, landing);
          if (noted && this.client.registry.outcomes.get(reason as object) === noted) this.#note(reason, own);
        });
        entry.end(reason, true);
      };
      const leave = (): void => {
        // The caller aborted inside of its own `onOutcome`, so its answer is already on the way.
        if (!this.#callers.delete(entry)) return;
        const reason = abortReason(signal as AbortSignal);
        // If an HTTP client aborts for its own timeout, its error contains the Request, but not this reason.
        this.#note(entry.request, entry.left);
        dismiss(reason, noteUnderReason(this.client.registry, reason, entry.left));
      };
      const end = (value: unknown, fails: boolean): void => {
        signal?.removeEventListener('abort', leave);
        (fails ? reject : resolve)(value);
      };
      const entry: Caller = { ...caller, end };
      if (this.#landing) {
        this.#tell(entry, this.#landing);
        return;
      }
      this.#callers.add(entry);
      signal?.addEventListener('abort', leave);
      if (signal?.aborted) leave();
      void late?.then((error) => this.#callers.delete(entry) && dismiss(error, undefined));
    });
  }

  /** Releases the claim and tells every caller. The first one gets the answer itself, the others a copy. `landing` is left out if nobody can have joined. */
  land(landing?: Landing): void {
    this.#landing = landing;
    this.client.registry.flights.delete(this.#operationKey);
    this.fingerprinted(undefined);
    if (landing) {
      const [first, ...others] = this.#callers;
      this.#callers.clear();
      for (const caller of others) this.#tell(caller, landing);
      if (first) this.#tell(first, landing, true);
      if (landing.result?.lasting === false && !this.stop.readers) this.stop.abort();
      for (const tellGone of this.#gone) tellGone(landing);
    }
    this.#landed();
  }

  /** This caller's outcome. Calls its `onOutcome`, and notes the outcome under its Request. */
  #outcomeFor({ joined, onOutcome, request }: Caller, { outcome }: Landing): Outcome | undefined {
    const own = outcome && joined ? { ...outcome, joined } : outcome;
    if (own) onOutcome?.(own);
    else unheard(onOutcome);
    this.#note(request, own);
    return own;
  }

  /** Notes the outcome under an object that the caller has, for `outcomeOf`. */
  #note(given: unknown, own: Outcome | undefined): void {
    if (own && isObject(given)) this.client.registry.outcomes.set(given, own);
  }

  #tell(caller: Caller, landing: Landing, first?: boolean): void {
    const own = this.#outcomeFor(caller, landing);
    const { result, fail } = landing;
    const value = fail ? fail(own as Outcome) : first ? result?.value : copyOf(result);
    // No copy can be made: this caller came after the end and the body was too long to keep, or the platform can't make such a Response.
    const gone = !fail && !value && result?.response;
    const given = gone ? new OnceError('ERR_ONCE_ALREADY_SETTLED', own as Outcome) : value;
    // An error thrown by the app's own function has no `outcome`, so it goes into the table.
    this.#note(given, own);
    if (isOnceError(given)) this.#note(given.response, own);
    if (result?.lasting === false && !gone) readBy(caller.signal, this.stop);
    caller.end(given, !!(fail || gone));
  }
}
