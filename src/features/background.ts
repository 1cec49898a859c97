/** Operations that go on when their page is gone, because the customer agreed to that. */

import { refuseArguments } from '../arguments.js';
import { check } from '../check.js';
import type { BeginRule, Begun } from '../core/claimant.js';
import type { Namespace } from '../core/ids.js';
import { type Consent, type PendingRecord, readRecord, seal } from '../core/record.js';
import { LAST_MS } from '../core/retention.js';
import { addressOf, keyedOperationOf, namespaceNow } from '../engine/address.js';
import { awaitLock, tryLockInTime } from '../engine/claim.js';
import type { Client, OperationRun, Parts, Payload } from '../engine/client.js';
import { announceChange } from '../engine/observe.js';
import { readStored, updateStored } from '../engine/record-access.js';
import { refreshScreens } from '../engine/registry.js';
import { type Resumed, resumeAll, resumeRecord } from '../engine/resuming.js';
import { scanPending } from '../engine/scan.js';
import type { Listed } from '../engine/turns.js';
import { requestParts, toStore } from '../http/stored-request.js';
import { clientOf, type Once } from '../once.js';
import type { Feature } from '../option-types.js';
import { RESUME_CONCURRENCY } from '../options.js';
import { needs, wrong } from '../texts/full.js';

/** The tag of the `sync` events that a page asks for. */
const TAG = 'oncefetch';
/** In the year 2001. A smaller `untilMs` is probably a length of time, not a time. */
const EARLIEST_MS = 1_000_000_000_000;

/** The result of {@link resumeInBackground}. */
export interface InBackground {
  /** How many operations are left to go on later. */
  readonly open: number;
}

/**
 * Lets a call say `once: { operation, background: { untilMs } }`: the customer agrees that the operation goes on when the page is gone.
 * Its request is stored, and a browser with background sync wakes the service worker as soon as there is a network.
 *
 * @see https://wicg.github.io/background-sync/spec/
 * @example
 * const once = createOnce({ use: [background()], namespace: () => session.userId });
 */
export const background: () => Feature = (...given: unknown[]) => {
  refuseArguments('background', given);
  return { parts: { begins, ...requestParts } satisfies Partial<Parts> };
};

/**
 * Stores the consent of a call with its request. A background call goes on only with the operation whose consent it was started for, or
 * learns how that one ended. A request that was stored only because of a consent is not used once the consent is over, and is not kept as
 * the request of an earlier payload.
 */
function begins(job: OperationRun, rule: BeginRule): BeginRule {
  const { agreed, settings, payload } = job;
  const consent = consentOf(job);
  return (stored, c, now, storeNow): Begun => {
    const found = readRecord(stored);
    const current = found?.state === 'pending' ? inForce(found, now) : undefined;
    if (current && agreed !== undefined && current.request?.consent?.until !== agreed) return { do: 'nothing' };
    const began = rule(current ?? stored, c, now, storeNow);
    if (began.do !== 'drive') return began;
    // A later call takes a stored request for the bytes that went out first. If this call's bytes are others, store the first ones or nothing.
    const firstSent = began.otherBytes && !began.refusedOnly ? keptFirst(job, began.record) : payload;
    const toKeep = began.record.request ?? (consent && firstSent && toStore(firstSent, settings.keep.headers));
    const inForceNow = consent ?? toKeep?.consent;
    if (inForceNow) void askForSync(job).catch(() => {});
    // If an earlier call asked to keep the request (`keep.request`), the request stays even after this call's consent is over.
    const keptAnyway = toKeep !== undefined && toKeep === current?.request && !toKeep.consent?.alone;
    const request = toKeep && { ...toKeep, consent: inForceNow && { ...inForceNow, alone: inForceNow.alone && !c.request && !keptAnyway } };
    const record = seal({ ...began.record, request, earlier: began.record.earlier?.filter(({ request }) => !request.consent?.alone) });
    // Replace `found`, so that this record is kept even if the call ends before it has sent anything: then what the customer agreed to still goes
    // on, and a consent that ended with an earlier payload does not come back. Keep the lease of an earlier driver that is in `found`.
    const stays = (inForceNow || current?.request?.consent) && { found: began.found && { ...record, lease: began.found.lease } };
    return { ...began, record, ...stays };
  };
}

/** The payload whose bytes went out first, if this page still has it. */
const keptFirst = ({ client, operationKey }: OperationRun, { key, payloads }: PendingRecord): Payload | undefined =>
  client.registry.payloads.get(keyedOperationOf(operationKey, key))?.get(payloads.at(-1) ?? '');

/** The record without a consent whose time is over, and without the request if that was stored only because of the consent. */
function inForce(record: PendingRecord, now: number): PendingRecord {
  const { request } = record;
  if (!request?.consent || request.consent.until > now) return record;
  return seal({ ...record, request: request.consent.alone ? undefined : { ...request, consent: undefined } });
}

/** The consent that a call asks for, if any. Throws a TypeError or RangeError if the operation can't go on without its page. */
function consentOf({ client, settings, name, payload }: OperationRun): Consent | undefined {
  const { background: wanted, namespace, keep } = settings;
  if (!wanted || !payload) return undefined;
  const { untilMs } = wanted;
  if (!name.length) throw new TypeError(wrong('once.background', 'no-name'));
  if (!namespace && !client.platform.server) throw new TypeError(wrong('once.background', 'no-namespace'));
  if (typeof untilMs !== 'number' || !(untilMs >= EARLIEST_MS && untilMs <= LAST_MS))
    throw new RangeError(wrong('once.background.untilMs', 'wall-time', String(untilMs)));
  if (!toStore(payload, keep.headers)) throw new TypeError(wrong('once.background', 'no-request'));
  return untilMs > client.platform.clock.now() ? { until: untilMs, alone: !keep.request } : undefined;
}

/** Asks for a `sync` event. If the browser has none or refuses, the operation goes on when a page is opened or a worker starts next. */
async function askForSync({ client, operationKey, id }: OperationRun): Promise<void> {
  const container = globalThis.navigator?.serviceWorker;
  // Not in a service worker: the event that woke it wakes it again.
  if (client.platform.server || client.platform.relay || !(await container?.getRegistration())) return;
  // If there is a network, the event comes at once, and its handler must find the record. So read the record first: the read queues behind the write.
  const [registration] = await Promise.all([container?.ready, readStored({ client, operationKey, id })]);
  await (registration as { readonly sync?: { register(tag: string): Promise<void> } } | undefined)?.sync?.register(TAG);
}

/**
 * Resumes the operations that the customer agreed to (`once.background`), for the present `namespace`: in a service worker, a page,
 * or a background task of a phone. Each keeps its key and has the same claims and limits as in a page; none goes on after its
 * `untilMs`. If another context drives one, this waits for that to end. While nobody is logged in, or offline, nothing is sent.
 *
 * The app learns how each one ended as for every call: from the client's `onOutcome`, from `subscribe`, and on the screens that show it.
 *
 * @param options - `signal`: aborted when the time that the system gives is over
 * @throws TypeError on a wrong option, or if the client lacks `background()`
 * @example
 * const { open } = await resumeInBackground(once);
 */
export async function resumeInBackground(once: Once, options: { signal?: AbortSignal | undefined } = {}): Promise<InBackground> {
  const client = clientOf(once, 'resumeInBackground');
  check(options, { signal: 'signal' }, 'resumeInBackground');
  // Without the feature, nothing would check at the claim that the consent still stands.
  if (!client.parts.begins) throw new TypeError(needs('resumeInBackground', 'background'));
  const namespace = namespaceNow(client);
  if (namespace === undefined) return { open: 0 };
  const { clock, connectivity } = client.platform;
  const one = async (record: Listed, stop: AbortSignal): Promise<Resumed | undefined> => {
    const { consent } = record;
    if (!consent) return undefined;
    if (consent.until <= clock.now()) return removeConsent(client, namespace, record, consent);
    return connectivity.online() === false ? undefined : goOn(client, namespace, record, consent, stop);
  };
  try {
    for await (const _ of resumeAll(client, namespace, { ...options, concurrency: RESUME_CONCURRENCY, one }));
  } catch (error) {
    if (!options.signal?.aborted) throw error;
  }
  let open = 0;
  for await (const { record } of scanPending(client, namespace)) if ((record.request?.consent?.until ?? 0) > clock.now()) open++;
  return { open };
}

async function goOn(client: Client, namespace: Namespace, record: Listed, { until }: Consent, stop: AbortSignal): Promise<Resumed | undefined> {
  const { limits } = client.settings;
  const { lock } = addressOf(client, record.label, namespace, record);
  const leftMs = (): number => Math.min(limits.totalMs, until - client.platform.clock.now());
  // Where there is no lock manager, or it refuses, the lease decides. If another context holds the lock for longer than a call may take, this one sends nothing.
  const held = (await tryLockInTime(client, lock)) ?? (await awaitLock(client, lock, leftMs(), stop));
  try {
    const totalMs = leftMs();
    return held && totalMs > 0 ? await resumeRecord(client, namespace, record, stop, { held, agreed: until, limits: { ...limits, totalMs } }) : undefined;
  } finally {
    held?.();
  }
}

/** Removes a consent whose time is over, and the request if it was stored only because of that. */
async function removeConsent(client: Client, namespace: Namespace, record: Listed, over: Consent): Promise<undefined> {
  const { operationKey } = addressOf(client, record.label, namespace, record);
  await updateStored<undefined>({ client, operationKey, id: record.id }, (stored) => {
    const found = readRecord(stored);
    if (found?.state !== 'pending' || found.request?.consent?.until !== over.until) return { value: undefined };
    return { next: inForce(found, over.until), value: undefined };
  });
  // Without its request the operation can't be resumed any more: screens must look again.
  refreshScreens(client.registry, true);
  announceChange(client);
}
