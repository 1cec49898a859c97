/** Decides what a call does with the record that it finds, if it makes its key for one generation. */
import { begin, keepsKey, nextGeneration } from './begin.js';
import type { Begun, Claimant } from './claimant.js';
import { readRecord, seal } from './record.js';
import { pastWindow } from './retention.js';

/** As {@link begin}. Gives `rekey` if the operation that would begin is of another generation than the call's key. */
export function beginDerived(stored: unknown, call: Claimant, now: number, storeNow: number): Begun {
  const begun = begin(stored, call, now, storeNow);
  if (begun.do !== 'key-burnt' && !(begun.do === 'drive' && begun.inserted)) return begun;
  const before = readRecord(stored);
  const generation = nextGeneration(before, call);
  if (call.keyGeneration !== generation) return { do: 'rekey', generation };
  if (begun.do === 'key-burnt') return begun;
  // The strategy gave the same key for another effect. The server would repeat the answer to the first one.
  if (before?.state === 'settled' && before.key === call.key && !keepsKey(before, call) && !pastWindow(before, call, storeNow))
    return { do: 'key-burnt', record: before };
  const madeAgain = call.atomic && (!before || before.madeAgain);
  return madeAgain ? { ...begun, record: seal({ ...begun.record, madeAgain }) } : begun;
}
