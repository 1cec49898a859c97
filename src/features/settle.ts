/** Settles an operation with what the app learned elsewhere. */

import { checkOne } from '../check.js';
import { bare } from '../core/bare.js';
import { doneBefore } from '../core/begin.js';
import type { IdempotencyKey, NamespaceDigest, RecordId } from '../core/ids.js';
import { encodeName, type OperationName } from '../core/name.js';
import { rejected, replayed, unknown } from '../core/outcome.js';
import { type OnceRecord, RECORD_VERSION, SCHEME, seal } from '../core/record.js';
import { mayArrive, retiredForgetAt, settledForgetAt } from '../core/retention.js';
import { addressOf } from '../engine/address.js';
import { type ByHand, changeByHand, refusedChange } from '../engine/change-by-hand.js';
import { busyError } from '../engine/failure.js';
import { knownDone } from '../engine/last-known.js';
import { THAW_MS } from '../engine/wait.js';
import { clientOf, type Once } from '../once.js';

/**
 * Settles an operation with what your app found out elsewhere. `'none'` means that there was no effect, *and that there can be none
 * any more*.
 *
 * @throws TypeError on a wrong name or effect
 * @throws ERR_ONCE_BUSY while a call drives it (for `'done'` not if `move` took it from that call); for `'none'` also if another context may
 * have sent it since this was called, one that died or sleeps may have an attempt on its way, or a function of `run` has not ended: look again
 * @throws ERR_ONCE_ALREADY_SETTLED for `'none'` if it is done; ERR_ONCE_RECORD if its record is damaged
 * @example
 * await settle(once, ['pay', cart.id], order.isPaid ? 'done' : 'none');
 */
export async function settle(once: Once, name: OperationName, effect: 'done' | 'none'): Promise<void> {
  const client = clientOf(once, 'settle');
  const operation = { ...addressOf(client, encodeName(name)), client };
  checkOne(effect, ['done', 'none'], 'effect of settle');
  const { clock, randomness } = client.platform;
  const { keep, limits } = client.settings;
  const since = clock.now();
  const ending = effect === 'done' ? replayed('reconcile') : rejected();
  await changeByHand(operation, (record, stored, storeNow, { id, ns }) => {
    const now = clock.now();
    if (stored !== undefined && !record) return { value: refusedChange(operation, undefined, 'ERR_ONCE_RECORD', unknown('record')) };
    // After a refusal a key may stay in use. Then the app may still say that there can be no effect under it any more.
    const open = record?.state === 'pending' || (record?.state === 'retired' && record.keyInUse === true);
    // This page may know that it is done although the store did not take that.
    const done = record && (record.state === 'settled' || knownDone(operation, record));
    if (effect === 'none' && (done || !open))
      return { value: done ? refusedChange(operation, record, 'ERR_ONCE_ALREADY_SETTLED', replayed('store')) : undefined };
    // The store may have lost it, so that only this page knows.
    if (record?.state === 'settled') return { next: record, value: undefined };
    const base = record ?? blank(operation, id, ns, randomness.uuid(), now);
    // If the store was slow or the device slept, the operation may have been sent after the app found out "none". If the clock was set
    // back, nobody knows how long this took. Otherwise times are not compared, because the store's is not known that exactly.
    const behind = now < since - THAW_MS || (now - since > THAW_MS && base.touchedAt > since + storeNow - now);
    if (effect === 'none' && (behind || client.registry.running?.has(base.key) || mayArrive(base, limits, storeNow))) return { value: busyError(operation) };
    const latest = Math.max(now, storeNow);
    // The next call's `repeat` is not known, so keep the record until the key window is over: a key that can be made again must not be used again before.
    const keepMs = base.random ? keep.forMs : Math.max(keep.forMs, limits.keyWindowMs, (base.windowEndsAt ?? 0) - latest);
    const forgetAt = effect === 'done' ? settledForgetAt(latest, keepMs, limits.totalMs) : retiredForgetAt(base, latest, limits.totalMs);
    return {
      next: seal({
        ...bare(base),
        // A waiting call may have seen an earlier refusal in this record. By the revision it tells the new end from that one.
        revision: base.revision + Number(effect === 'done'),
        state: effect === 'done' ? 'settled' : 'retired',
        ending,
        keyInUse: undefined,
        previous: effect === 'done' ? undefined : doneBefore(base),
        settledAt: now,
        touchedAt: storeNow,
        forgetAt,
      }),
      value: undefined,
    };
  });
}

/** A record to settle for an operation that was never begun here. */
const blank = ({ client, label }: ByHand, id: RecordId, ns: NamespaceDigest, key: string, now: number): OnceRecord =>
  seal({
    v: RECORD_VERSION,
    id,
    ns,
    label,
    state: 'pending',
    forgetAt: now,
    key: key as IdempotencyKey,
    carrier: client.settings.dialect.carrier,
    dialect: client.settings.dialect.name,
    origin: '',
    random: true,
    generation: 0,
    revision: 0,
    ambiguous: false,
    scheme: SCHEME,
    payloads: [],
    raw: '',
    createdAt: now,
    touchedAt: now,
  });
