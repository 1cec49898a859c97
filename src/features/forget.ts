/** Forgets an operation, so that its name can be used for another one. */
import { check } from '../check.js';
import { bare } from '../core/bare.js';
import { encodeName, type OperationName } from '../core/name.js';
import { unknown } from '../core/outcome.js';
import { readRecord, seal } from '../core/record.js';
import { retiredForgetAt } from '../core/retention.js';
import { addressOf } from '../engine/address.js';
import { type ByHand, changeByHand, refusedChange } from '../engine/change-by-hand.js';
import { clientOf, type Once } from '../once.js';

/**
 * Forgets an operation, so that the next call under its name is another operation.
 *
 * @param options - `evenIfUnknown`: forget it even if it may have been sent; the next call could then have a second effect
 * @throws TypeError on a wrong name or option
 * @throws ERR_ONCE_BUSY while a call drives it
 * @throws ERR_ONCE_UNKNOWN if it may have been sent, ERR_ONCE_RECORD if its record is damaged, unless `evenIfUnknown`
 * @example
 * await forget(once, ['pay', cart.id]);
 */
export async function forget(once: Once, name: OperationName, options: { evenIfUnknown?: boolean | undefined } = {}): Promise<void> {
  const client = clientOf(once, 'forget');
  check(options, { evenIfUnknown: 'boolean' }, 'forget');
  await forgetRecord({ ...addressOf(client, encodeName(name)), client }, options.evenIfUnknown === true);
}

/** Retires the record instead of removing it, because derived keys need its generation. */
function forgetRecord(operation: ByHand, evenIfUnknown: boolean): Promise<void> {
  const { client, operationKey } = operation;
  const { payloads } = client.registry;
  const dropPayloads = (): void => {
    for (const key of payloads.keys()) if (key.startsWith(`${operationKey}\n`)) payloads.delete(key);
  };
  const change: Parameters<typeof changeByHand>[1] = (record, stored, storeNow) => {
    if (stored === undefined) return { value: undefined };
    if (!record) return evenIfUnknown ? { next: null, value: undefined } : { value: refusedChange(operation, undefined, 'ERR_ONCE_RECORD', unknown('record')) };
    if (record.state === 'pending' && (record.ambiguous || !record.random) && !evenIfUnknown)
      return { value: refusedChange(operation, record, 'ERR_ONCE_UNKNOWN', unknown('no-answer')) };
    // If the operation was retired and its key is not used up, there is nothing to forget but what was done before it.
    if (record.state === 'retired' && !record.sticky) return { ...(record.previous && { next: seal({ ...record, previous: undefined }) }), value: undefined };
    // Nothing of this pending operation was sent. But it may have taken over a key that stays in use, under which a copy that the platform sent
    // unseen may have had an effect: put the record of that key back, without what was done before it.
    if (record.state === 'pending' && record.previous && !evenIfUnknown) {
      const before = readRecord(record.previous);
      if (!before) return { value: refusedChange(operation, record, 'ERR_ONCE_RECORD', unknown('record')) };
      if (before.keyInUse) return { next: seal({ ...before, previous: undefined, revision: record.revision }), value: undefined };
    }
    const now = client.platform.clock.now();
    return {
      next: seal({
        ...bare(record),
        state: 'retired',
        ending: unknown('record'),
        sticky: false,
        settledAt: now,
        touchedAt: storeNow,
        forgetAt: retiredForgetAt(record, Math.max(now, storeNow), client.settings.limits.totalMs),
      }),
      value: undefined,
    };
  };
  return changeByHand(operation, change, dropPayloads);
}
