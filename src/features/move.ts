/** Brings a guest's operations into the namespace of the user who has logged in. */
import type { Namespace, OperationKey, RecordId } from '../core/ids.js';
import { decodeName, isUnnamed, typeOf } from '../core/name.js';
import { type OnceRecord, readRecord, seal } from '../core/record.js';
import { leaseHolds, MOVED } from '../core/retention.js';
import { digestOfNamespace, idOfUnnamed, idsOf, namespaceOf, operationKeyOf } from '../engine/address.js';
import { tryLockInTime } from '../engine/claim.js';
import type { Client, OperationAddress } from '../engine/client.js';
import { changed, emit, pendingOf, publish } from '../engine/observe.js';
import { timed, updateStored } from '../engine/record-access.js';
import { operationKeyOfRecord, PAGE, type Scanned, scanPending, storesOf } from '../engine/scan.js';
import { clientOf, type Once } from '../once.js';

/**
 * Moves a guest's unsettled operations, including their keys, into the present namespace. A key that stays in use after a refusal is
 * moved, too. Await it in each page of the user before anything is pressed there: an earlier page may have been closed in the middle of it.
 *
 * @param from - the namespace that the guest had
 * @throws TypeError on an empty namespace
 * @throws StoreFault, or an Error that says how long it waited, where the store fails: call it again before anything is pressed
 * @example
 * await move(once, guestId);
 */
export async function move(once: Once, from: string): Promise<void> {
  const client = clientOf(once, 'move');
  const to = namespaceOf(client);
  if (typeof from !== 'string' || from === '') throw new TypeError(`once: move takes the namespace to move from, got ${typeOf(from)}`);
  if (from === to) return;
  const guest = from as Namespace;
  for (const scanned of [scanPending(client, guest, undefined, undefined), scanInUse(client, guest)])
    for await (const { record, operationKey } of scanned) await moveOne(client, guest, to, record, operationKey);
  changed(client);
}

/** What was refused, and leaves its key in use: a copy that the platform sent unseen may have had an effect under it. */
async function* scanInUse(client: Client, namespace: Namespace): AsyncGenerator<Pick<Scanned, 'record' | 'operationKey'>> {
  const ns = await digestOfNamespace(client, namespace);
  for (const store of storesOf(client)) {
    let cursor: string | undefined;
    do {
      const page = await timed(client, store.scan({ ns, state: 'retired', after: cursor, limit: PAGE }));
      for (const stored of page.records) {
        const record = readRecord(stored);
        if (record && isOpen(record) && !isUnnamed(record.label)) yield { record, operationKey: operationKeyOfRecord(client, namespace, record) };
      }
      cursor = page.next;
    } while (cursor !== undefined);
  }
}

/** Whether a call would go on with its key. */
const isOpen = ({ state, keyInUse }: OnceRecord): boolean => state === 'pending' || keyInUse === true;

/** What has ended without an effect counts least, then what never left, a key in use, what may have left, and what is done. */
function weightOf({ state, ambiguous, keyInUse, previous }: OnceRecord): number {
  if (state === 'settled') return 4;
  if (state === 'pending' && ambiguous) return 3;
  if (keyInUse || previous?.keyInUse) return 2;
  return state === 'pending' ? 1 : 0;
}

/** What the user has gives way to the same operation, and to what is more likely to have had an effect. What is damaged stays. */
function givesWay(stored: unknown, taken: OnceRecord): boolean {
  const there = readRecord(stored);
  return stored === undefined || (there !== undefined && (there.key === taken.key || weightOf(there) < weightOf(taken)));
}

/** Nothing of it has left. */
const isClean = ({ state, ambiguous }: OnceRecord): boolean => state === 'pending' && !ambiguous;

/** Where the app gave both operations one key, an answer under it may be that of either. */
function withPayloadsOf(there: OnceRecord, { state, payloads, scheme }: OnceRecord): { next?: OnceRecord } {
  const more = payloads.filter((one) => !there.payloads.includes(one));
  if (there.state !== 'pending' || state !== 'pending' || scheme !== there.scheme || !more.length) return {};
  return { next: seal({ ...there, payloads: [...more, ...there.payloads] }) };
}

/** Whether a call in this context or in another one holds the claim. */
async function isDriven(client: Client, address: Pick<OperationAddress, 'label' | 'id'>, operationKey: OperationKey, namespace: Namespace): Promise<boolean> {
  const release = await tryLockInTime(client, { name: [], namespace, operationKey, ...address });
  release?.();
  return !release || client.registry.flights.has(operationKey);
}

/**
 * Brings one record to the place that it has in the namespace `to`; without a name and with a random key that is the same one.
 * It is inserted there before it is removed here: a crash in between leaves both, with one key.
 */
async function moveOne(client: Client, from: Namespace, to: Namespace, record: OnceRecord, operationKey: OperationKey): Promise<void> {
  const { key, label, id: old } = record;
  const unnamed = isUnnamed(label);
  const own = unnamed ? await idOfUnnamed(client, to, record) : undefined;
  const { id, ns } = await idsOf(client, { namespace: to, label, id: own });
  const { degraded } = client.registry;
  const there = operationKeyOf(client, to, label, unnamed ? key : '');
  const memory = degraded.get(operationKey);
  const store = memory ?? client.store;
  const update = <T>(
    of: RecordId,
    change: (there: OnceRecord | undefined, stored: unknown, now: number) => { next?: OnceRecord | null; value: T },
  ): Promise<T> => updateStored({ client, store, id: of }, (stored, now) => change(readRecord(stored), stored, now), 'strict');
  const driven = await isDriven(client, { label, id: old }, operationKey, from);
  const moved = (before: OnceRecord, now: number, generation = 0): OnceRecord => {
    // Where a key counts for one account only, the new account's server does not know what was sent under it.
    const scoped = from !== to && client.settings.dialect.perAccount && before.ambiguous ? { windowEndsAt: now } : {};
    const was = before.previous;
    // What is damaged does not become sound by a new sum.
    const previous = was && readRecord(was) ? seal({ ...was, id, ns }) : was;
    return seal({ ...before, ...scoped, id, ns, previous, generation: Math.max(generation, before.generation), revision: before.revision + 1 } as OnceRecord);
  };
  // First its drivers lose it: what one of them settled from here on would stay open in the other namespace.
  const taken = await update(old, (there, _, now) => {
    if (!there || !isOpen(there) || there.key !== key) return { value: undefined };
    // Its driver sends nothing more, but an attempt may be on the wire, which no driver in the new place answers for.
    const live = there.state === 'pending' && (driven || leaseHolds(there.lease, now));
    const lease = live ? { owner: MOVED, until: now + client.settings.limits.attemptMs } : undefined;
    const next = id !== old ? seal({ ...there, revision: there.revision + 1 }) : moved({ ...there, lease }, now);
    return { next, value: { ...next, lease } };
  });
  if (!taken) return;
  if (id !== old) {
    // What the user has of that name may be in the other place: what is in memory would hide it, or be hidden.
    const other = memory ? client.store : degraded.get(there);
    let isDone = false;
    const free =
      givesWay(other && (await timed(client, other.read(id))), taken) &&
      (await update(id, (there, stored, now) => {
        isDone = there?.state === 'settled';
        // It came with an earlier move that did not come to its end, and may have gone on since.
        if (there?.key === key && !(isClean(there) && taken.ambiguous)) return { value: true, ...withPayloadsOf(there, taken) };
        return givesWay(stored, taken) ? { next: moved(taken, now, there?.generation), value: true } : { value: false };
      }));
    if (!free) {
      // A key in use that is left behind costs nothing where the user's own operation is done: no press follows.
      if (taken.state === 'pending' || !isDone) emit(client, { name: decodeName(label), label }, key, { type: 'diagnostic', code: 'move-conflict' });
      return;
    }
    if (other && !memory) await updateStored({ client, store: other, id }, () => ({ next: null, value: undefined }));
    await update(old, (there) => (there?.key === key && there.revision === taken.revision ? { next: null, value: undefined } : { value: undefined }));
  }
  degraded.delete(there);
  if (degraded.delete(operationKey)) degraded.set(there, store);
  publish(client, operationKey, { phase: 'idle' });
  if (taken.state === 'pending' && !client.registry.flights.has(there)) publish(client, there, { phase: 'unsettled', pending: pendingOf(taken) });
}
