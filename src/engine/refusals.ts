/** Keeps track of refusals under one key: which was the last one, and whether every attempt was refused. */

import type { UnknownReason } from '../core/codes.js';
import type { Situation } from '../core/decide.js';
import type { OnceRecord, Refusal } from '../core/record.js';
import type { AttemptResult, OperationRun } from './client.js';
import { steadyForMs } from './even-clock.js';
import { storeForOperation } from './record-access.js';
import type { Start } from './stopped.js';

interface Clocks {
  readonly times: readonly number[];
  readonly passed: number;
}

export class Refusals {
  /** The application's last refusal, and when it first came. */
  last: Refusal | undefined;
  /** Every attempt of this drive was answered by a refusal. */
  #onlyRefusals = true;
  /** The key is derived, and no record of earlier generations is left. Cleared when an answer shows that this generation is new to the server. */
  #madeAgain: boolean | undefined;
  readonly #job: Pick<OperationRun, 'client' | 'operationKey' | 'aheadMs'>;
  readonly #start: Start;
  /** By how much the store's time was ahead of the monotonic clock, ms. */
  readonly #monotonicAheadMs: number;
  /**
   * When the present attempt left. The age of a refusal is measured here, because a suspended process may read an answer long after the
   * server gave it.
   */
  #leftAt: Clocks | undefined;

  constructor(job: Pick<OperationRun, 'client' | 'operationKey' | 'aheadMs'>, start: Start) {
    const { clock } = job.client.platform;
    const { refusal, madeAgain } = start.record;
    this.#job = job;
    this.#start = start;
    this.#monotonicAheadMs = clock.now() + job.aheadMs - clock.monotonic();
    steadyForMs(clock);
    this.last = refusal && { digest: refusal.digest, at: refusal.at };
    this.#madeAgain = madeAgain;
  }

  /** What `decide` must know of earlier refusals. */
  get known(): Pick<Situation, 'refusedOnly' | 'madeAgain'> {
    return { refusedOnly: this.#start.refusedOnly && this.#onlyRefusals, madeAgain: this.#madeAgain };
  }

  /**
   * Notes how an attempt ended. Returns for how long the application has been giving this very refusal, ms: 0 if it is new, `undefined` if
   * this is not a refusal of the application.
   */
  note({ reading, refusal }: AttemptResult): number | undefined {
    if (reading.ambiguous) {
      this.#onlyRefusals = false;
      // This attempt may still take effect, so start over: only a refusal that comes twice after it proves something. A mismatch is
      // different: the key stands for another payload, so this attempt can't take effect.
      if (reading.kind !== 'mismatch') this.last = undefined;
    }
    if (refusal === undefined || reading.from === 'in-front') return undefined;
    if (!reading.replayed) this.#madeAgain = undefined;
    const known = this.last?.digest === refusal ? this.last : undefined;
    const now = this.#clocks();
    this.last = known ?? { digest: refusal, at: Math.max(...now.times) };
    const { passed, times } = this.#leftAt ?? now;
    // 0 stands for a new refusal, so a known one is at least 1 ms old.
    return known ? Math.max(1, Math.min(passed, Math.min(...times) - known.at)) : 0;
  }

  /** Called when an attempt leaves. */
  leaves(): void {
    this.#leftAt = this.#clocks();
  }

  /**
   * `times`: the store's time, computed from the wall clock and from the monotonic one. `passed`: at least how much time has really passed,
   * as far as this realm can tell; unlimited if the store's time is that of a server, because nobody sets its clock on this device. Of the
   * possible times the shortest counts, because a clock that was set proves nothing.
   */
  #clocks(): Clocks {
    const { clock } = this.#job.client.platform;
    return {
      times: [clock.now() + this.#job.aheadMs, clock.monotonic() + this.#monotonicAheadMs],
      passed: storeForOperation(this.#job).ownClock ? Infinity : steadyForMs(clock),
    };
  }

  /** What to store for the next call if this drive stops without settling; `undefined` if the record has it already. */
  toStore(reason: UnknownReason): Pick<OnceRecord, 'refusedOnly' | 'refusal' | 'madeAgain'> | undefined {
    const refusedOnly = reason === 'refused' && this.#onlyRefusals ? true : undefined;
    const { refusedOnly: before, refusal, madeAgain } = this.#start.record;
    if (refusedOnly === before && refusal === this.last && madeAgain === this.#madeAgain) return undefined;
    return { refusedOnly, refusal: this.last, madeAgain: this.#madeAgain };
  }
}
