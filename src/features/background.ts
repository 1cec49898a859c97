/** What a customer agreed to goes on when the page is gone. */

import { check } from '../check.js';
import { type Began, type Begun, begin } from '../core/begin.js';
import type { Namespace } from '../core/ids.js';
import { type Consent, type PendingRecord, readRecord, seal } from '../core/record.js';
import { namespaceNow } from '../engine/address.js';
import { awaitLock } from '../engine/claim.js';
import type { Client, OperationAddress, OperationRun, Parts } from '../engine/client.js';
import { readStored, updateStored } from '../engine/record-access.js';
import { addressOfRecord, type Resumed, resumeAll, resumeRecord } from '../engine/resuming.js';
import { scanPending } from '../engine/scan.js';
import type { Waiting } from '../engine/turns.js';
import { clientOf, type Once } from '../once.js';
import type { Feature } from '../option-types.js';
import { needs } from '../texts/full.js';

/** The tag under which a page asks for a `sync` event. */
const TAG = 'oncefetch';
/** Whoever gives less gives a length of time: it is in the year 2001. */
const EARLIEST_MS = 1_000_000_000_000;
/** The last time of a `Date`. Without an end there is no consent, and JSON cannot store `Infinity`. */
const LATEST_MS = 8_640_000_000_000_000;

/** What came of {@link resumeInBackground}. */
export interface InBackground {
  /** How many are to go on later. */
  readonly open: number;
}

/**
 * Lets a call say `once: { operation, background: { untilMs } }`: the customer agrees that it goes on when the page is gone. Its
 * request is stored, and in a browser with background sync the service worker is woken when the network is there.
 *
 * @see https://wicg.github.io/background-sync/spec/
 * @example
 * const once = createOnce({ use: [background()], namespace: () => session.userId });
 */
export const background = (): Feature => ({ name: 'background', parts: { begins } satisfies Partial<Parts> });

/**
 * Puts the consent of a call beside its request; a call that goes on with a consent finds only that, or how it ended. What was
 * stored for a consent alone is not there for any other call: not after its time, and not beside another payload.
 */
function begins(job: OperationRun): typeof begin {
  const { agreed, settings, payload } = job;
  const consent = consentOf(job);
  return (stored, c, now, storeNow): Began => {
    const found = readRecord(stored);
    const before = found?.state === 'pending' ? inForce(found, now) : undefined;
    if (before && agreed !== undefined && before.request?.consent?.until !== agreed) return { value: { do: 'nothing' } };
    const began = begin(before ?? stored, c, now, storeNow);
    if (!began.next) return began;
    const asked = began.next.request ?? (consent && payload?.storable(settings.keep.headers));
    const given = consent ?? asked?.consent;
    if (given) void askForSync(job).catch(() => {});
    // An earlier call asked to keep it, whatever this one adds.
    const kept = asked !== undefined && asked === before?.request && !asked.consent?.alone;
    const request = asked && { ...asked, consent: given && { ...given, alone: given.alone && !c.request && !kept } };
    const record = seal({ ...began.next, request, earlier: began.next.earlier?.filter(({ request }) => !request.consent?.alone) });
    return { next: record, value: { ...began.value, record } as Begun };
  };
}

/** The record without a consent whose time is over, and without the request that was stored for that alone. */
function inForce(record: PendingRecord, now: number): PendingRecord {
  const { request } = record;
  if (!request?.consent || request.consent.until > now) return record;
  return seal({ ...record, request: request.consent.alone ? undefined : { ...request, consent: undefined } });
}

/** Throws a TypeError or RangeError where it could not be kept. */
function consentOf({ client, settings, name, payload }: OperationRun): Consent | undefined {
  const { background: asked, namespace, keep } = settings;
  if (!asked || !payload) return undefined;
  const { untilMs } = asked;
  if (!name.length) throw new TypeError("once: once.background needs a name, such as once: { operation: ['pay', cart.id] }");
  if (!namespace && !client.platform.server) throw new TypeError('once: once.background needs the option namespace: without one no request is stored');
  if (typeof untilMs !== 'number' || !(untilMs >= EARLIEST_MS && untilMs <= LATEST_MS))
    throw new RangeError(`once: once.background.untilMs must be a time in ms since 1970, got ${untilMs}`);
  if (!payload.storable(keep.headers)) throw new TypeError('once: once.background cannot store this body; send text or bytes');
  return untilMs > client.platform.clock.now() ? { until: untilMs, alone: !keep.request } : undefined;
}

/** Where there is no such event, or it is refused, the next page or start of a worker goes on. */
async function askForSync({ client, operationKey, id }: OperationRun): Promise<void> {
  const container = globalThis.navigator?.serviceWorker;
  // A worker that goes on is woken again by the event that woke it.
  if (client.platform.server || client.platform.relay || !(await container?.getRegistration())) return;
  // The event comes at once where the network is there, and must find the record: a look queues behind the write.
  const [registration] = await Promise.all([container?.ready, readStored({ client, operationKey, id })]);
  await (registration as { readonly sync?: { register(tag: string): Promise<void> } } | undefined)?.sync?.register(TAG);
}

/**
 * Goes on with what customers agreed to, for the present `namespace`: in a service worker, a page, a background task of a phone.
 * Each has the key, the claims and the limits that it has in a page, and ends at its time. Where another context is at one, it
 * waits for that to end. Without a user, or offline, nothing is sent.
 *
 * How each one ends is told when it ends, as for every call: by `onOutcome` of the client, by `subscribe`, and to the screens that
 * show it.
 *
 * @param options - `signal`: aborted when the time that the system gives is over
 * @throws TypeError on a wrong option, or where the client lacks `background()`
 * @example
 * const { open } = await resumeInBackground(once);
 */
export async function resumeInBackground(once: Once, options: { signal?: AbortSignal | undefined } = {}): Promise<InBackground> {
  const client = clientOf(once, 'resumeInBackground');
  check(options, { signal: 'object' }, 'resumeInBackground');
  // Without it nothing looks at the claim whether the consent still stands.
  if (!client.parts.begins) throw new TypeError(needs('resumeInBackground', 'background'));
  const namespace = namespaceNow(client);
  if (namespace === undefined) return { open: 0 };
  const { clock, connectivity } = client.platform;
  const one = async (record: Waiting, stop: AbortSignal): Promise<Resumed | undefined> => {
    const { consent } = record;
    if (!consent) return undefined;
    if (consent.until <= clock.now()) return takeBack(client, namespace, record, consent);
    return connectivity.online() === false ? undefined : goOn(client, namespace, record, consent, stop);
  };
  try {
    for await (const _ of resumeAll(client, namespace, { ...options, one }));
  } catch (error) {
    if (!options.signal?.aborted) throw error;
  }
  let open = 0;
  for await (const { record } of scanPending(client, namespace, undefined, undefined)) if ((record.request?.consent?.until ?? 0) > clock.now()) open++;
  return { open };
}

async function goOn(client: Client, namespace: Namespace, record: Waiting, { until }: Consent, stop: AbortSignal): Promise<Resumed | undefined> {
  const { platform, settings } = client;
  const address = addressOfRecord(client, namespace, record);
  const held = await turnOf(client, address, until, stop);
  try {
    const totalMs = Math.min(settings.limits.totalMs, until - platform.clock.now());
    if (!held || totalMs <= 0) return undefined;
    return await resumeRecord(client, namespace, record, stop, { held, agreed: until, limits: { ...settings.limits, totalMs } });
  } finally {
    held?.();
  }
}

/** Waits until no other context is at it; `undefined` where that takes longer than any call. Where no lock is shared, leases tell. */
async function turnOf(client: Client, address: OperationAddress, until: number, stop: AbortSignal): Promise<(() => void) | undefined> {
  const { locks, clock } = client.platform;
  return locks ? awaitLock(client, address, Math.min(client.settings.limits.totalMs, until - clock.now()), stop) : () => {};
}

/** The time is over: what was stored for this alone goes. */
async function takeBack(client: Client, namespace: Namespace, record: Waiting, over: Consent): Promise<undefined> {
  const { operationKey } = addressOfRecord(client, namespace, record);
  await updateStored<undefined>({ client, operationKey, id: record.id }, (stored) => {
    const found = readRecord(stored);
    if (found?.state !== 'pending' || found.request?.consent?.until !== over.until) return { value: undefined };
    return { next: inForce(found, over.until), value: undefined };
  });
}
