/** What can be asked of and done to stored operations without sending anything. */
import { namePrefix, type OperationName } from '../core/name.js';
import { type Ending, rejected, replayed, unknown } from '../core/outcome.js';
import { bare, type OnceRecord, RECORD_VERSION, readRecord, seal } from '../core/record.js';
import { retiredForgetAt, settledForgetAt } from '../core/retention.js';
import { OnceError } from '../errors.js';
import type { Store } from '../ports.js';
import { busyError, noFacts, tryLock } from './claim.js';
import type { Client, Place } from './client.js';
import { Flight } from './flight.js';
import { changed, publish, rememberedOutcome, stateOf } from './observe.js';
import { freeFromTheGone } from './owner.js';
import { idsOf, slotOf } from './place.js';
import { SCHEME } from './prepared.js';
import { heldElsewhere, readStored, storedIn, storeOf, timed, updateStored } from './storing.js';

/** Records looked at in one step of a listing. */
export const PAGE = 100;

export interface Scanned {
  readonly record: OnceRecord;
  readonly slot: string;
}

/** An unnamed operation is kept apart from its equals by its key. */
export const slotOfRecord = (client: Client, namespace: string, { label, key }: Pick<OnceRecord, 'label' | 'key'>): string =>
  slotOf(client, namespace, label, label[0] === '~' ? key : '');

/** One page of pending records. `start`: what their labels' text begins with. */
export type Pages = (start: string | undefined, after: string | undefined) => Promise<{ found: Scanned[]; next: string | undefined }>;

/** Where the pending records of a namespace are: in the store, and what could only be kept in memory. */
export async function pendingIn(client: Client, namespace: string, prefix: OperationName | undefined): Promise<readonly Pages[]> {
  const { ns } = await idsOf(client, { namespace, label: '', id: '' });
  const wanted = prefix?.length ? namePrefix(prefix) : undefined;
  return storesOf(client).map((store) => async (start = wanted?.start, after) => {
    const { records, next } = await timed(client, store.scan({ ns, state: 'pending', prefix: start, after, limit: PAGE }));
    const found = records.flatMap((stored) => {
      const record = readRecord(stored);
      if (!record || (wanted && !wanted.begins(record.label))) return [];
      const slot = slotOfRecord(client, namespace, record);
      // Each client has an object of its own for the memory of the page.
      return storeOf(client, slot).scope === store.scope ? [{ record, slot }] : [];
    });
    return { found, next };
  });
}

/** The store, and with it the memory that has what it could not take. */
export const storesOf = (client: Client): readonly Store[] => (client.registry.degraded.size ? [client.store, client.fallback()] : [client.store]);

/** The pending records of a namespace, page by page, in the order of their names. */
export async function* scanPending(client: Client, namespace: string, prefix: OperationName | undefined, after: string | undefined): AsyncGenerator<Scanned> {
  for (const pages of await pendingIn(client, namespace, prefix)) {
    let cursor = after;
    do {
      const page = await pages(undefined, cursor);
      yield* page.found;
      cursor = page.next;
    } while (cursor !== undefined);
  }
}

/** Takes the claim of a name for one change; rejects with ERR_ONCE_BUSY while a live driver holds it. */
async function claimed<T>(client: Client, place: Place, work: (id: string, ns: string) => Promise<T>): Promise<T> {
  if (client.registry.flights.has(place.slot)) throw busyError({ client, ...place });
  // Held in this realm from this very tick, so that a click waits until the change is made.
  const hold = new Flight(client.registry, place.slot, client);
  hold.fingerprinted(undefined);
  try {
    const release = await tryLock(client, place);
    if (!release) throw busyError({ client, ...place });
    const { id, ns } = await idsOf(client, place);
    await freeFromTheGone(client, place.slot, id);
    return await work(id, ns).finally(release);
  } finally {
    hold.free();
    changed(client);
  }
}

function refusal(
  client: Client,
  place: Place,
  record: OnceRecord | undefined,
  code: 'ERR_ONCE_RECORD' | 'ERR_ONCE_UNKNOWN' | 'ERR_ONCE_ALREADY_SETTLED',
  ending: Ending,
): OnceError {
  const where = storedIn(storeOf(client, place.slot));
  const none = { ...noFacts({ client, ...place }, 'maybe'), ...ending };
  return new OnceError(code, record ? { ...rememberedOutcome(record, ending, where, false), sent: record.ambiguous ? 'maybe' : 'no' } : none);
}

/** What the app learned elsewhere. */
export function settleByHand(client: Client, place: Place, effect: 'done' | 'none'): Promise<void> {
  if (effect !== 'done' && effect !== 'none') throw new TypeError(`once: settle takes 'done' or 'none', got ${typeof effect}`);
  const { clock, randomness } = client.platform;
  const { keep, limits, tuning } = client.settings;
  const since = clock.now();
  return claimed(client, place, async (id, ns) => {
    const ending = effect === 'done' ? replayed('reconcile') : rejected();
    const clash = await updateStored<OnceError | undefined>(
      client,
      place.slot,
      id,
      (stored, storeNow) => {
        const record = readRecord(stored);
        if (heldElsewhere(client, record, storeNow)) return { value: busyError({ client, ...place }) };
        const now = clock.now();
        if (stored !== undefined && !record) return { value: refusal(client, place, undefined, 'ERR_ONCE_RECORD', unknown('record')) };
        if (effect === 'none' && record?.state !== 'pending')
          return {
            value: record?.state === 'settled' ? refusal(client, place, record, 'ERR_ONCE_ALREADY_SETTLED', record.ending ?? replayed('store')) : undefined,
          };
        if (record?.state === 'settled') return { value: undefined };
        const base = record ?? blank(client, place, id, ns, randomness.uuid(), now);
        // Behind a slow store or a sleep it says nothing of what has been sent since. Else clocks do not count, because they differ.
        if (effect === 'none' && now - since > tuning.thawMs && base.touchedAt > since) return { value: busyError({ client, ...place }) };
        const latest = Math.max(now, storeNow);
        const forgetAt = effect === 'done' ? settledForgetAt(latest, keep.forMs, limits.totalMs) : retiredForgetAt(base, latest, limits.totalMs);
        return {
          next: seal({ ...bare(base), state: effect === 'done' ? 'settled' : 'retired', ending, settledAt: now, touchedAt: now, forgetAt }),
          value: undefined,
        };
      },
      'strict',
    );
    if (clash) throw clash;
  }).then(() => refresh(client, place));
}

/** A tombstone for an operation that was never begun here. */
const blank = (client: Client, place: Place, id: string, ns: string, key: string, now: number): OnceRecord =>
  seal({
    v: RECORD_VERSION,
    id,
    ns,
    label: place.label,
    state: 'pending',
    forgetAt: now,
    key,
    carrier: client.settings.dialect.carrier,
    dialect: client.settings.dialect.name,
    origin: '',
    random: true,
    generation: 0,
    revision: 1,
    ambiguous: false,
    scheme: SCHEME,
    payloads: [],
    raw: '',
    createdAt: now,
    touchedAt: now,
  });

/** Forgets an operation. What is left tells a derived key its generation. */
export function forget(client: Client, place: Place, evenIfUnknown: boolean): Promise<void> {
  return claimed(client, place, async (id) => {
    const clash = await updateStored<OnceError | undefined>(
      client,
      place.slot,
      id,
      (stored, storeNow) => {
        const record = readRecord(stored);
        if (heldElsewhere(client, record, storeNow)) return { value: busyError({ client, ...place }) };
        if (stored === undefined) return { value: undefined };
        if (!record)
          return evenIfUnknown ? { next: null, value: undefined } : { value: refusal(client, place, undefined, 'ERR_ONCE_RECORD', unknown('record')) };
        if (record.state === 'pending' && (record.ambiguous || !record.random) && !evenIfUnknown)
          return { value: refusal(client, place, record, 'ERR_ONCE_UNKNOWN', unknown('no-answer')) };
        // Nothing came of it, and nothing will: its key is as good as new.
        if (record.state === 'retired' && record.ending?.effect === 'none' && !record.sticky) return { value: undefined };
        const now = client.platform.clock.now();
        return {
          next: seal({
            ...bare(record),
            state: 'retired',
            ending: unknown('record'),
            sticky: false,
            settledAt: now,
            touchedAt: now,
            forgetAt: retiredForgetAt(record, Math.max(now, storeNow), client.settings.limits.totalMs),
          }),
          value: undefined,
        };
      },
      'strict',
    );
    if (clash) throw clash;
    for (const kept of client.registry.payloads.keys()) if (kept.startsWith(`${place.slot}\n`)) client.registry.payloads.delete(kept);
  }).then(() => refresh(client, place));
}

/** Shows on screens what is stored. */
export async function refresh(client: Client, place: Place): Promise<void> {
  const { id } = await idsOf(client, place);
  const state = stateOf(await readStored(client, place.slot, id), storedIn(storeOf(client, place.slot)));
  if (!client.registry.flights.has(place.slot)) publish(client, place.slot, state);
}
