/** Removes a user's data at log-out. */

import { check } from '../check.js';
import { bare } from '../core/bare.js';
import type { KeyedOperation, Namespace, OperationKey } from '../core/ids.js';
import { decodeName } from '../core/name.js';
import { type OnceRecord, readRecord, seal } from '../core/record.js';
import { settledForgetAt } from '../core/retention.js';
import { addressOf, digestOfNamespace, isOperationOf, namespaceOf } from '../engine/address.js';
import type { Client } from '../engine/client.js';
import { keepLastKnown, knownDone } from '../engine/last-known.js';
import { announceChange, publish } from '../engine/observe.js';
import { updateStored } from '../engine/record-access.js';
import { noteLogOut, OPERATIONS_MAX } from '../engine/registry.js';
import { recordsIn, scanPending, storesOf } from '../engine/scan.js';
import type { PendingOperation } from '../engine/shown-state.js';
import { pendingOf } from '../engine/state-of-record.js';
import { clientOf, type Once } from '../once.js';
import type { Changed } from '../ports.js';

/**
 * For log-out: removes answers, stored requests, `meta` and settled records. The keys of unsettled operations are kept under their
 * namespace, and returned; a key that stays in use after a refusal is kept, too. Calls under way stop before their next attempt. An
 * answer that still arrives goes to the caller, but is not stored; a 202 that took longer than a second proves nothing then, unless
 * `accepted` is `settle`.
 *
 * @param options - `unsettled`: `'keep'`, the default, or `'forget'`, which drops unsettled operations too, and damaged records: each may take effect a second time
 * @throws TypeError on a wrong option or an empty namespace
 * @example
 * const { kept } = await clear(once);
 */
export async function clear(once: Once, options: { unsettled?: 'keep' | 'forget' | undefined } = {}): Promise<{ readonly kept: readonly PendingOperation[] }> {
  const client = clientOf(once, 'clear');
  check(options, { unsettled: ['keep', 'forget'] }, 'clear');
  const namespace = namespaceOf(client);
  try {
    return { kept: await clearAll(client, namespace, options.unsettled === 'forget') };
  } finally {
    // If the store fails in the middle, some records are cleared already, so other tabs must look in any case.
    announceChange(client);
  }
}

const STATES = ['pending', 'settled', 'retired'] as const;

async function clearAll(client: Client, namespace: Namespace, forget: boolean): Promise<readonly PendingOperation[]> {
  const kept: PendingOperation[] = [];
  // Until then a function of `run` may run again, and make its calls under names of their own again.
  let runsUntil = 0;
  // An attempt whose hooks are being asked now must not leave later under a forgotten key, whichever client of this page makes it.
  // A function given to `run` that outlives its call makes no second call under a key of it either.
  // Nor may a call that has not begun begin, or go on with a key that is kept: it would store the user's data anew. One without a name has no flight yet.
  noteLogOut(client, namespace);
  for await (const { record, operationKey, store, hidden } of scanPending(client, namespace, { all: true })) {
    const change = (stored: unknown): Changed<OnceRecord | undefined> => {
      const current = readRecord(stored);
      if (current?.state !== 'pending') return { value: undefined };
      // This page may know that it is done although the store did not take that. Then it is cleared like others that are done.
      const known = client.registry.lastKnown.get(operationKey);
      if (known && knownDone({ client, operationKey }, current)) return { next: seal({ ...known, revision: current.revision + 1 }), value: undefined };
      // The lease stays: an attempt may be under way, and until it has ended, nobody may claim that none took effect.
      const { retryAt, previous } = current;
      // Without a network, this operation took over a key under which an earlier one may have had an effect. Only the predecessor's record tells that.
      const before = previous?.keyInUse ? bare(previous) : undefined;
      // Only a sound record gets a new sum: a damaged one must not look sound afterwards.
      const inUse = before && readRecord(previous) ? seal(before) : before;
      const next = seal({ ...bare(current), retryAt, previous: inUse, lease: current.lease, revision: current.revision + 1 });
      return forget ? { next: null, value: next } : { next, value: next };
    };
    const cleared = await updateStored({ client, store, id: record.id }, change);
    // A window without an end is stored as absent or `null`; so is that of a function that never ran.
    if (cleared?.origin === '') runsUntil = Math.max(runsUntil, cleared.windowEndsAt ?? (cleared.ambiguous ? Infinity : 0));
    if (cleared && !forget) keepOpen(client, operationKey, cleared);
    if (hidden) continue;
    // The request is gone from the store now, and is removed from memory below.
    const shown = cleared && { ...pendingOf(client, operationKey, cleared), resumable: false };
    if (shown) kept.push(shown);
    publish(client, operationKey, shown && !forget ? { phase: 'unsettled', pending: shown } : { phase: 'idle' });
  }
  await clearSettled(client, namespace, forget, runsUntil);
  const { states, answers, payloads, lastKnown } = client.registry;
  for (const [key, { state, listeners }] of states) {
    if (!isOperationOf(client, namespace, key)) continue;
    if (state.phase === 'settled') publish(client, key, { phase: 'idle' });
    // The request and `meta` of a call whose record the store has lost. The next screen reads the store.
    else if ('left' in state && !listeners.size) states.delete(key);
    // Its record is damaged: above, all others that are open have lost their `meta`.
    else if ('pending' in state && state.pending.meta !== undefined)
      publish(client, key, { phase: 'unsettled', pending: { ...state.pending, meta: undefined, resumable: false } });
  }
  for (const table of [answers, payloads] as readonly Map<OperationKey | KeyedOperation, unknown>[])
    for (const key of table.keys()) if (isOperationOf(client, namespace, key)) table.delete(key);
  // What is open is kept here, too: the app may empty its storage at a log-out.
  for (const [key, { ending }] of lastKnown) if ((forget || ending) && isOperationOf(client, namespace, key)) lastKnown.delete(key);
  return kept;
}

/**
 * Keeps in memory what may have been sent, also by an earlier page: the app may empty its storage after this log-out. Not in the place of what this page
 * has left open itself.
 */
function keepOpen(client: Client, operationKey: OperationKey, record: OnceRecord): void {
  const { lastKnown } = client.registry;
  if (record.ambiguous && !lastKnown.has(operationKey) && lastKnown.size < OPERATIONS_MAX)
    keepLastKnown({ client, operationKey, name: decodeName(record.label) }, record, record.lease);
}

/**
 * What is kept of an ended operation. If it has just ended, its record must still answer calls that wait in another tab, which would
 * otherwise send again. So must it until `runsUntil`, if it is a call of a function of `run`. If its key stays in use after a refusal, a copy
 * that the platform sent unseen may have had an effect under it.
 */
function stub(record: OnceRecord, storeNow: number, totalMs: number, runsUntil: number): OnceRecord | null {
  if (record.keyInUse) return seal({ ...bare(record), touchedAt: storeNow });
  const forgetAt = Math.max(settledForgetAt(record.touchedAt, 0, totalMs), Math.min(runsUntil, record.dueAt ?? record.forgetAt));
  return record.state === 'settled' && forgetAt > storeNow ? seal({ ...bare(record), forgetAt }) : null;
}

async function clearSettled(client: Client, namespace: Namespace, forget: boolean, runsUntil: number): Promise<void> {
  const { lastKnown } = client.registry;
  const ns = await digestOfNamespace(client, namespace);
  // Pending records were cleared before; of those, only damaged ones are left.
  for (const store of storesOf(client))
    for (const state of forget ? STATES : STATES.slice(1))
      for await (const found of recordsIn(client, store, { ns, state })) {
        const remove = (stored: unknown, storeNow: number): Changed<undefined> => {
          const current = readRecord(stored);
          if (!current) return forget ? { next: null, value: undefined } : { value: undefined };
          if (current.state !== state || state === 'pending') return { value: undefined };
          // This page may not have heard of that end, or of a later operation of that name.
          if (!current.keyInUse) lastKnown.delete(addressOf(client, current.label, namespace, current).operationKey);
          return { next: forget ? null : stub(current, storeNow, client.settings.limits.totalMs, runsUntil), value: undefined };
        };
        await updateStored({ client, store, id: (found as OnceRecord).id }, remove);
      }
}
