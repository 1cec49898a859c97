/** Brings a guest's operations into the namespace of the user who has logged in. */
import { doneBefore } from '../core/begin.js';
import type { Namespace, OperationKey, RecordId } from '../core/ids.js';
import { joined, outweighs, weightOf } from '../core/joined.js';
import { decodeName, isUnnamed, typeOf } from '../core/name.js';
import { type OnceRecord, readRecord, seal } from '../core/record.js';
import { leaseOfMove } from '../core/retention.js';
import { addressOf, digestOfNamespace, idsOf, namespaceOf } from '../engine/address.js';
import { tryLockInTime } from '../engine/claim.js';
import type { Client } from '../engine/client.js';
import { knownDone, lastKnownOf } from '../engine/last-known.js';
import { announceChange, emit } from '../engine/observe.js';
import { timed, updateStored } from '../engine/record-access.js';
import { recordsIn, type Scanned, scanPending, storesOf } from '../engine/scan.js';
import { jsonOf } from '../http/bytes.js';
import { clientOf, type Once } from '../once.js';
import type { Changed, Store } from '../ports.js';
import { wrong } from '../texts/full.js';
import { apartIn, LONG_AGO, ownedAs, placeIn } from './moved-keys.js';
import { moveKnown, showMoved } from './moved-known.js';

/**
 * Moves a guest's unsettled operations, including their keys, into the present namespace. A key that stays in use after a refusal is
 * moved, too. Await this in every page of the user before they can press anything: an earlier page may have been closed during a move.
 *
 * @param from - the namespace that the guest had
 * @throws TypeError on an empty namespace
 * @throws StoreFault, or an Error that says how long it waited, if the store fails: call `move` again before anything is pressed
 * @example
 * await move(once, guestId);
 */
export async function move(once: Once, from: string): Promise<void> {
  const client = clientOf(once, 'move');
  const to = namespaceOf(client);
  if (typeof from !== 'string' || from === '') throw new TypeError(wrong('from of move', 'namespace', typeOf(from)));
  if (from === to) return;
  const guest = from as Namespace;
  try {
    // If a name has two records, move the one in memory first, because this page goes on with that one.
    for (const scanned of [scanPending(client, guest, { all: true }), scanInUse(client, guest)])
      await inGroups(scanned, (found) => moveOne(client, guest, to, found));
    await moveDamaged(client, guest, to);
    await moveKnown(client, guest, to);
  } finally {
    // If the store fails in the middle, some records are moved already, so other tabs must look in any case.
    announceChange(client);
  }
}

type Found = Omit<Scanned, 'hidden'>;

/** How many operations are moved at once. Stores commit concurrent writes together. */
const TOGETHER = 32;

/** Moves operations, each once at a time. If one fails, rejects when no other one is under way any more. */
async function inGroups(scanned: AsyncIterable<Found>, moves: (found: Found) => Promise<void>): Promise<void> {
  const group = new Map<OperationKey, Found>();
  const flush = async (): Promise<void> => {
    const ends = await Promise.allSettled([...group.values()].map(moves));
    group.clear();
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  };
  for await (const found of scanned) {
    if (group.size === TOGETHER || group.has(found.operationKey)) await flush();
    group.set(found.operationKey, found);
  }
  await flush();
}

/** All records of a namespace in this state, damaged ones included. */
async function* scanAll(client: Client, namespace: Namespace, state: OnceRecord['state']): AsyncGenerator<{ readonly stored: unknown; readonly store: Store }> {
  const ns = await digestOfNamespace(client, namespace);
  for (const store of [...storesOf(client)].reverse()) for await (const stored of recordsIn(client, store, { ns, state })) yield { stored, store };
}

/** Refused operations whose keys stay in use: a copy that the platform sent unseen may have had an effect under such a key. */
async function* scanInUse(client: Client, namespace: Namespace): AsyncGenerator<Found> {
  for await (const { stored, store } of scanAll(client, namespace, 'retired')) {
    const record = readRecord(stored);
    if (record && isOpen(record) && !isUnnamed(record.label))
      yield { record, operationKey: addressOf(client, record.label, namespace, record).operationKey, store };
  }
}

/** Moves damaged records unchanged if their name can still be read: each may have had an effect, so the user's call of that name must be refused, too. */
async function moveDamaged(client: Client, from: Namespace, to: Namespace): Promise<void> {
  for await (const { stored, store } of scanAll(client, from, 'pending')) {
    const damaged = stored as OnceRecord;
    const { id: old, label, key } = damaged;
    if (readRecord(stored) || (!isUnnamed(label) && !Array.isArray(jsonOf(label)))) continue;
    const address = addressOf(client, label, to, { key, id: isUnnamed(label) ? old : undefined });
    const { id, ns } = await idsOf(client, address);
    const replaces = (there: unknown): boolean => givesWay(there, { ...damaged, ambiguous: true });
    const put = (there: unknown): Changed<boolean> =>
      (id === old ? !readRecord(there) : replaces(there)) ? { next: { ...damaged, id, ns }, value: true } : { value: false };
    // The user's own record of that name in memory would hide it.
    const hiding = client.registry.degraded.get(address.operationKey);
    const replaced = replaces(hiding && (await timed(client, hiding.read(id)))) && (await updateStored({ client, store, id }, put, 'strict'));
    if (replaced && hiding) await updateStored({ client, store: hiding, id }, () => ({ next: null, value: undefined }));
    if (!replaced) emit({ client, namespace: to, name: decodeName(label), label }, key, { type: 'diagnostic', code: 'move-conflict' });
    else if (id !== old) await updateStored({ client, store, id: old }, (there) => ({ next: readRecord(there) ? undefined : null, value: undefined }));
  }
}

/** Whether the next call would go on with the record's key. */
const isOpen = ({ state, keyInUse }: OnceRecord): boolean => state === 'pending' || keyInUse === true;

/**
 * Whether the guest's record (`incoming`) and the user's stand for one operation: the app gave both the same key, or an earlier, interrupted move
 * has inserted it already. Not if the user's is done and the key counts for one account only (`apart`): then the guest's attempt was another one. Of
 * a copy, the key window is over.
 */
const isOne = (own: OnceRecord, incoming: OnceRecord, apart: (of: OnceRecord) => boolean): boolean =>
  own.key === incoming.key && (own.state !== 'settled' || own.windowEndsAt === LONG_AGO || !apart(incoming));

/**
 * Whether the user's own record of that name is joined, or replaced by one that more likely had an effect. A damaged record stays. `again`: the name
 * may take effect again, so that an operation that is done does not end what comes after it.
 */
function givesWay(stored: unknown, incoming: OnceRecord, again = false, apart: (of: OnceRecord) => boolean = () => false): boolean {
  const target = readRecord(stored);
  if (!target) return stored === undefined;
  return isOne(target, incoming, apart) || (again && target.state === 'settled') || weightOf(target) < weightOf(incoming);
}

/** Moves one record. Holds its lock until then, so that no call begins to drive it meanwhile. */
async function moveOne(client: Client, from: Namespace, to: Namespace, found: Found): Promise<void> {
  const { record, operationKey } = found;
  const release = await tryLockInTime(client, addressOf(client, record.label, from, record).lock);
  try {
    // A call, in this context or in another one, drives the operation.
    const driven = !release || client.registry.flights.has(operationKey);
    await moveRecord(client, to, found, driven);
  } finally {
    release?.();
  }
}

/**
 * Moves one record to its id in the namespace `to`. The record is inserted there before it is removed here, so a crash in between leaves both, with
 * the same key.
 */
async function moveRecord(client: Client, to: Namespace, { record, operationKey, store }: Found, driven: boolean): Promise<void> {
  const { key, label, id: oldId } = record;
  const { registry, settings } = client;
  const { id, ns, operationKey: newOperationKey } = await placeIn(client, to, record);
  const inMemory = store !== client.store;
  const update = <T>(
    of: RecordId,
    change: (there: OnceRecord | undefined, stored: unknown, now: number) => { next?: OnceRecord | null; value: T },
  ): Promise<T> => updateStored({ client, store, id: of }, (stored, now) => change(readRecord(stored), stored, now), 'strict');
  const apart = apartIn(client);
  const moved = (before: OnceRecord, generation = 0, replaced?: OnceRecord): OnceRecord => {
    // `replaced`: the user's own record of that name. What was done before that stays known, as if the user had pressed this one.
    const previous = replaced && doneBefore(replaced.state === 'pending' ? replaced : { previous: replaced });
    const own = ownedAs({ id, ns }, before, apart, previous);
    return seal({ ...own, generation: Math.max(generation, own.generation), revision: own.revision + 1 } as OnceRecord);
  };
  // First take the record from its drivers. If one of them settled it after the copy is made, the copy would stay unsettled.
  const taken = await update(oldId, (current, _, now) => {
    if (!current || !isOpen(current) || current.key !== key) return { value: undefined };
    // The lease keeps the app from settling while an attempt may be under way.
    const lease = leaseOfMove(current, driven, settings.limits, now);
    const next = id !== oldId ? seal({ ...current, revision: current.revision + 1 }) : moved({ ...current, lease });
    return { next, value: { ...next, lease } };
  });
  if (!taken) return;
  let stays: OnceRecord | undefined = taken;
  const known = registry.lastKnown.get(operationKey);
  if (id !== oldId) {
    // The user's own record of that name may be in memory while the guest's is in the store, or the reverse. The one in memory would hide the other.
    const other = inMemory ? client.store : registry.degraded.get(newOperationKey);
    const hiding = other && (await timed(client, other.read(id)));
    let isDone = false;
    stays = await update(id, (target, stored, now) => {
      isDone = target?.state === 'settled';
      // If the store has lost it, only this page knows of it.
      const own = hiding ?? (stored === undefined ? lastKnownOf({ client, operationKey: newOperationKey }, now) : undefined);
      if (![own, stored].every((one) => givesWay(one, taken, settings.repeat !== 'never', apart))) return { value: undefined };
      const mine = readRecord(own);
      const join = (there: OnceRecord, next: OnceRecord): OnceRecord =>
        outweighs(taken, there, record, settings.limits) ? next : (joined(there, next, settings.limits, now).next ?? there);
      const both = mine && isOne(mine, taken, apart) ? join(mine, taken) : taken;
      // A random key uses no generation up, but the key that it replaces here may have, and one that is done has.
      const generation = target && target.generation + Number((taken.random || isDone) && !target.random);
      const next = moved(both, generation, target ?? (both === taken ? mine : undefined));
      const value = target && isOne(target, taken, apart) ? join(target, next) : next;
      return value === target ? { value } : { next: value, value };
    });
    if (!stays) {
      // If the user's own operation is done, nobody will press again, so a key in use that is left behind does no harm.
      if (taken.state === 'pending' || !isDone)
        emit({ client, namespace: to, name: decodeName(label), label }, key, { type: 'diagnostic', code: 'move-conflict' });
      return;
    }
    // What this page knows of it, it still knows if the guest's record stays, or if the store fails before the record has moved.
    // So it does of what it has left open under another key, which the store has lost.
    if (known?.ending ? !knownDone({ client, operationKey }, taken) : known?.key === key) registry.lastKnown.delete(operationKey);
    // A press that has begun since the look goes on in memory. If none has, the next one must find the store: in memory, nobody would find its record.
    const change = (there: unknown) =>
      readRecord(there)?.sum === readRecord(hiding)?.sum ? { next: null, value: void registry.degraded.delete(newOperationKey) } : { value: there };
    if (other && !inMemory && (await updateStored({ client, store: other, id }, change))) stays = undefined;
    await update(oldId, (left) => (left?.key === key && left.revision === taken.revision ? { next: null, value: undefined } : { value: undefined }));
  }
  // Set the entry rather than rename it: a call of the guest may have removed it by now, because memory no longer has the guest's record.
  if (inMemory) registry.degraded.set(newOperationKey, { ...store, atomic: client.store.atomic }).delete(operationKey);
  showMoved(client, operationKey, newOperationKey, stays, known);
}
