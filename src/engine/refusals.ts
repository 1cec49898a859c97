/** Keeps track of refusals under one key: which was the last one, and whether every attempt was refused. */

import type { Refusal } from '../core/record.js';
import type { OperationRun } from './client.js';
import { steadyForMs } from './even-clock.js';
import { storeForOperation, storeTimeOf } from './record-access.js';
import type { Refusals, Start } from './stopped.js';

interface Clocks {
  readonly times: readonly number[];
  readonly passed: number;
}

export function refusalsOf(job: Pick<OperationRun, 'client' | 'operationKey' | 'seen'>, start: Start): Refusals {
  const { clock } = job.client.platform;
  const { refusal: stored } = start.record;
  /** By how much the store's time was ahead of the monotonic clock, ms. */
  const monotonicAheadMs = storeTimeOf(job) - clock.monotonic();
  /** Every attempt of this drive was answered by a refusal. */
  let onlyRefusals = true;
  /** The key is derived, and no record of earlier generations is left. Cleared when an answer shows that this generation is new to the server. */
  let { madeAgain } = start.record;
  /** The application's last refusal, and when it first came. */
  let last: Refusal | undefined = stored && { digest: stored.digest, at: stored.at };
  /** When the present attempt left. The age of a refusal is measured here: a suspended process may read an answer long after the server gave it. */
  let leftAt: Clocks | undefined;
  /**
   * `times`: the store's time, computed from the wall clock and from the monotonic one. `passed`: at least how much time has really passed,
   * as far as this realm can tell; unlimited if the store's time is that of a server, because nobody sets its clock on this device. Of the
   * possible times the shortest counts, because a clock that was set proves nothing.
   */
  const clocks = (): Clocks => ({
    times: [storeTimeOf(job), clock.monotonic() + monotonicAheadMs],
    passed: storeForOperation(job).ownClock ? Infinity : steadyForMs(clock),
  });
  steadyForMs(clock);
  return {
    last: () => last,
    known: () => ({ refusedOnly: start.refusedOnly && onlyRefusals, madeAgain }),
    /**
     * Notes how an attempt ended. Returns for how long the application has been giving this very refusal, ms: 0 if it is new, `undefined` if
     * this is not a refusal of the application.
     */
    note({ reading, refusal }) {
      if (reading.ambiguous) {
        onlyRefusals = false;
        // This attempt may still take effect, so start over: only a refusal that comes twice after it proves something. A mismatch is
        // different: the key stands for another payload, so this attempt can't take effect.
        if (reading.kind !== 'mismatch') last = undefined;
      }
      if (!refusal || reading.from === 'in-front') return undefined;
      if (!reading.replayed) madeAgain = undefined;
      const known = last?.digest === refusal ? last : undefined;
      const now = clocks();
      last = known ?? { digest: refusal, at: Math.max(...now.times) };
      const { passed, times } = leftAt ?? now;
      // 0 stands for a new refusal, so a known one is at least 1 ms old.
      return known ? Math.max(1, Math.min(passed, Math.min(...times) - known.at)) : 0;
    },
    leaves() {
      leftAt = clocks();
    },
    /** What to store for the next call if this drive stops without settling; `undefined` if the record has it already. */
    toStore(reason) {
      // A drive that has sent nothing changes nothing.
      const refusedOnly = ((reason === 'refused' || (!leftAt && start.refusedOnly)) && onlyRefusals) || undefined;
      const isNews = refusedOnly || last || stored || madeAgain !== start.record.madeAgain;
      return isNews ? { refusedOnly, refusal: last, madeAgain } : undefined;
    },
  };
}
