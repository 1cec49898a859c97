/** Keeps track of the refusals under one key: what the last one was, and whether every attempt was refused. */

import type { UnknownReason } from '../core/codes.js';
import type { OnceRecord, Refusal } from '../core/record.js';
import type { AttemptResult, OperationRun } from './client.js';
import { evenForMs } from './even-clock.js';
import { storeForOperation } from './record-access.js';
import type { Start } from './stopped.js';

export class Refusals {
  /** The application's last refusal, and when it first came. */
  last: Refusal | undefined;
  /** Every attempt under this key was answered by a refusal. */
  #only: boolean;
  /** A derived key whose earlier generations are forgotten; cleared when an answer shows that this generation is new. */
  #madeAgain: boolean | undefined;
  readonly #record: OnceRecord;
  readonly #found: boolean;
  /** The store's time, by the wall clock and by the monotonic one. */
  readonly #times: () => readonly [number, number];
  /** How much time this realm has seen pass for sure, ms; any, where the store is a server, with a clock that the device does not set. */
  readonly #passed: () => number;

  /** `ambiguous`: an attempt may have ended in something other than a refusal. */
  constructor(job: Pick<OperationRun, 'client' | 'operationKey' | 'aheadMs'>, { record, refusedOnly: found }: Start, ambiguous: boolean) {
    const { clock } = job.client.platform;
    this.#record = record;
    this.#found = found;
    const monotonicAheadMs = clock.now() + job.aheadMs - clock.monotonic();
    this.#times = () => [clock.now() + job.aheadMs, clock.monotonic() + monotonicAheadMs];
    const served = storeForOperation(job).shared === 'cluster';
    evenForMs(clock);
    this.#passed = () => (served ? Infinity : evenForMs(clock));
    this.#only = found || !ambiguous;
    this.last = record.refusal && { digest: record.refusal.digest, at: record.refusal.at };
    this.#madeAgain = record.madeAgain;
  }

  /** For `decide`. */
  get known(): { readonly refusedOnly: boolean; readonly madeAgain: boolean } {
    return { refusedOnly: this.#found && this.#only, madeAgain: this.#madeAgain === true };
  }

  /** Notes how an attempt ended. Gives for how long the application has been giving this very refusal, ms: 0 if it is new, `undefined` if nothing tells. */
  note({ reading, refusal }: AttemptResult): number | undefined {
    if (reading.ambiguous) {
      this.#only = false;
      // This attempt may still take effect. Start over: after it, only a refusal that comes twice proves something. A mismatch
      // says that the key holds an earlier payload, so this one can't.
      if (reading.kind !== 'mismatch') this.last = undefined;
    }
    if (refusal === undefined || reading.from === 'in-front') return undefined;
    if (!reading.replayed) this.#madeAgain = undefined;
    const known = this.last?.digest === refusal ? this.last : undefined;
    const times = this.#times();
    // A clock that was set proves nothing.
    const passed = this.#passed();
    this.last = known ?? { digest: refusal, at: Math.max(...times) };
    return known ? Math.max(1, Math.min(passed, Math.min(...times) - known.at)) : 0;
  }

  /** What to store for the next call after a stop that settled nothing; `undefined` if the record has it already. */
  toStore(reason: UnknownReason): Pick<OnceRecord, 'refusedOnly' | 'refusal' | 'madeAgain'> | undefined {
    const refusedOnly = reason === 'refused' && this.#only ? true : undefined;
    const { refusedOnly: before, refusal, madeAgain } = this.#record;
    if (refusedOnly === before && refusal === this.last && madeAgain === this.#madeAgain) return undefined;
    return { refusedOnly, refusal: this.last, madeAgain: this.#madeAgain };
  }
}
