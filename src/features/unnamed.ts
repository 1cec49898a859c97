/** Calls without a name. Each is an operation of its own, identified by its key. On a person's device, a call may adopt an equal one that was left unsettled. */

import { refuseArguments } from '../arguments.js';
import { check } from '../check.js';
import { begin } from '../core/begin.js';
import { isInHeader } from '../core/carrier.js';
import type { Label } from '../core/ids.js';
import { encodeName, labelOfContent } from '../core/name.js';
import { unknown, unsent } from '../core/outcome.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import { pastWindow } from '../core/retention.js';
import { addressOf, digestOfNamespace, idOfUnnamed } from '../engine/address.js';
import { type Hold, letGo, takeLost } from '../engine/being-resumed.js';
import { FREE, keyOf } from '../engine/claim.js';
import type { Call, Client, OperationAddress, OperationRun, Parts, PreparedCall } from '../engine/client.js';
import { busyError, failure, storeError } from '../engine/failure.js';
import { askStrategy } from '../engine/key-strategy.js';
import { knownDone } from '../engine/last-known.js';
import { isDriven } from '../engine/lease.js';
import { guarded } from '../engine/observe.js';
import { operate } from '../engine/operate.js';
import { updateStored } from '../engine/record-access.js';
import { logOutsOf } from '../engine/registry.js';
import { recordsIn, storesOf } from '../engine/scan.js';
import { bodyError, notedReason } from '../engine/unbegun.js';
import { CallerLeft, inTime } from '../engine/wait.js';
import { isOnceError } from '../errors.js';
import { readRequest } from '../http/read-request.js';
import { canCarryKey, type RequestInput, UnreplayableBody } from '../http/request.js';
import type { Feature, OnceInit } from '../option-types.js';
import type { Settings } from '../options.js';
import { checkOrigins } from '../origins.js';
import { mayGo, wantsKey } from './unnamed-requests.js';

/** How many unsettled operations with the same content are considered. Those that are too old to be adopted stay for weeks. */
const ORPHANS_MAX = 1000;

/**
 * Accepts a POST or PATCH without a name and gives it a key of its own. A call with `once: true` is named by its content. On a
 * person's device, a call without a name goes on with an equal one that was left unsettled. Some requests get no key and are left to
 * fetch: GraphQL queries, bodies that can't be sent twice and, in a page, requests to other origins that `origins` does not list.
 *
 * @example
 * const once = createOnce({ use: [unnamed()] });
 */
export const unnamed: () => Feature = (...given: unknown[]) => {
  refuseArguments('unnamed', given);
  return { parts: { unnamed: operateWithoutName, origins: checkOrigins } satisfies Partial<Parts> };
};

/** Makes the call an operation; `undefined` if the request is to be left to fetch. */
function operateWithoutName(client: Client, settings: Settings, request: RequestInput, once: OnceInit | undefined): Promise<unknown> | undefined {
  if (once === true) return operateByContent(client, settings, request);
  const takesKey = once !== undefined || (wantsKey(request) && canCarryKey(request) && mayGo(client, request));
  return takesKey && settings.dialect.carrier !== '' ? operateUnnamed(client, settings, request) : undefined;
}

/** A call whose address is not known yet, because it depends on the content. */
type Placeless = OperationAddress & Omit<Call, 'address' | 'read'> & Pick<OperationRun, 'deadline'> & { readonly stop: AbortSignal };

function placeless(client: Client, settings: Settings, { signal, request }: RequestInput): Placeless {
  check({ signal }, { signal: 'signal' }, '');
  const startedAt = client.platform.clock.now();
  const address = addressOf(client, labelOfContent());
  const stop = signal ?? new AbortController().signal;
  // On a server, many users may share a namespace.
  const logOuts = client.platform.server ? undefined : logOutsOf(client, address.namespace);
  return { ...address, client, settings, signal, request, stop, startedAt, logOuts, deadline: startedAt + settings.limits.totalMs };
}

/**
 * The result of `work`. If the call ends first, nothing was sent, because there was no address yet, unless it may be an earlier call's
 * operation (`isNew` is false): if both have the same key of the app's own, or the same content.
 */
async function whilePlaceless<T>(call: Placeless, work: Promise<T>, isNew = false): Promise<T> {
  const { client, settings, stop } = call;
  try {
    const done = await inTime(call, settings.limits.totalMs, work, () => failure(call, isNew ? unsent('unreachable') : unknown('store')));
    // After a log-out, this call would store the user's data anew, and send it.
    const logOuts = logOutsOf(client, call.namespace);
    if ((call.logOuts ?? logOuts) !== logOuts) throw failure(call, unknown('identity'));
    return done;
  } catch (error) {
    const left = error instanceof CallerLeft;
    const ending = isNew ? unsent('aborted') : unknown('aborted');
    const end = left ? failure(call, ending) : error instanceof UnreplayableBody ? await bodyError(call, error) : error;
    if (!isOnceError(end)) throw end;
    // The operation has not begun, so nothing else tells the app this call's outcome.
    guarded(client, () => settings.onOutcome?.(end.outcome));
    throw left && stop.aborted ? notedReason(client, stop, end.outcome) : end;
  }
}

/** Whether no earlier call can be the same operation, whatever the payload. A page goes on with a lost call of equal content, and a key may be in the body. */
const isNewAnyway = ({ client, settings: { key, dialect } }: Placeless): boolean => client.platform.server && key === undefined && isInHeader(dialect.carrier);

const readUnnamed = (call: Placeless, request: RequestInput, isNew: boolean): Promise<PreparedCall> =>
  whilePlaceless(call, readRequest(call.client, call.settings, request), isNew);

/** A call without a name. */
async function operateUnnamed(client: Client, settings: Settings, request: RequestInput): Promise<unknown> {
  const { platform } = client;
  const call = placeless(client, settings, request);
  const read = await readUnnamed(call, request, isNewAnyway(call));
  const label = labelOfContent(read.fingerprint);
  const ownKey = read.key ?? settings.key;
  const literal = typeof ownKey === 'function' ? await whilePlaceless(call, askStrategy({ ...call, fingerprint: read.fingerprint }, 0)) : ownKey;
  const hold: Hold = { taken: [] };
  try {
    // On a server, equal calls are different operations, so none that was left unsettled is adopted.
    const orphan = platform.server || literal !== undefined ? undefined : await whilePlaceless(call, orphanOf(call, label, hold));
    return await operate({
      ...call,
      // Without a lock, another context may adopt the same operation a moment earlier. This call must not wait for that end and take it for its own.
      settings: { ...settings, key: literal, repeat: 'always', whenBusy: orphan?.held === FREE ? 'reject' : settings.whenBusy },
      ...(orphan ?? { address: await newAddress(call, label, literal) }),
      read: async () => ({ ...read, resumes: orphan && goOnWith(orphan) }),
    });
  } finally {
    hold.over = true;
    letGo(hold);
  }
}

/** The address of an operation that has no record yet. `literal`: the app's own key for it; otherwise the key is random. */
async function newAddress({ client, namespace, settings: { dialect } }: Placeless, label: Label, literal: string | undefined): Promise<OperationAddress> {
  const key = literal ?? keyOf(dialect, client.platform.randomness.uuid(), dialect.shape);
  const id = await idOfUnnamed(client, namespace, { key, random: literal === undefined });
  return addressOf(client, label, namespace, { key, id });
}

/** A call that is named by its content. */
async function operateByContent(client: Client, settings: Settings, request: RequestInput): Promise<unknown> {
  const call = placeless(client, settings, request);
  const read = await readUnnamed(call, request, false);
  // Another user may have logged in while the body was read.
  const address = addressOf(client, encodeName([`sha256:${read.fingerprint}`]), call.namespace);
  return operate({ ...call, address, read: async () => read });
}

/** How a call begins that adopts a lost one, which may have ended or gone since the search. */
const goOnWith = ({ held, lookBefore }: Orphan): PreparedCall['resumes'] => ({
  begin(stored, ...more) {
    // A new record under its key would look as if nothing had been sent.
    if (stored === undefined) return { do: 'nothing' };
    const begun = begin(stored, ...more);
    // Without a lock, another context may have adopted it a moment earlier.
    const isOthers = begun.do === 'remembered' && begun.record.state === 'settled' && held === FREE && !lookBefore;
    return isOthers ? { do: 'nothing', record: begun.record } : begun;
  },
});

/** A lost operation to adopt. If its lock is not `held`, because a `resume` drives it, the call waits for that, as one with a name does. */
type Orphan = Pick<Call, 'address' | 'held' | 'lookBefore'>;

/** Looks for an orphan. Rejects if the store can't be read, because a new key may be a second effect. */
const orphanOf = (call: Placeless, label: Label, hold: Hold): Promise<Orphan | undefined> =>
  findOrphan(call, label, hold).catch((cause: unknown) => Promise.reject(isOnceError(cause) ? cause : storeError(call, cause)));

/** The oldest unsettled operation with this content that no press drives now, with its lock unless a `resume` holds that. */
async function findOrphan(call: Placeless, label: Label, hold: Hold): Promise<Orphan | undefined> {
  const { client, settings, namespace, deadline } = call;
  const ns = await digestOfNamespace(client, namespace);
  const lists = storesOf(client).map(async (store) => {
    const found: OnceRecord[] = [];
    for await (const one of recordsIn(client, store, { ns, state: 'pending', prefix: label }, deadline))
      if (found.push(one as OnceRecord) >= ORPHANS_MAX) break;
    return found;
  });
  const placeOf = (record: OnceRecord) => ({ ...call, ...addressOf(client, label, namespace, record), id: record.id });
  // What this page knows to be done is not lost, even if the store did not take that.
  const isLost = (record: OnceRecord) => !knownDone(placeOf(record), record);
  const equal = (await Promise.all(lists)).flat().filter((record) => record.label === label && isLost(record));
  const [first] = equal;
  if (!first) return undefined;
  // The age of a key is measured by the store's clock, which only an update tells.
  const storeNow = await updateStored(placeOf(first), (_, now) => ({ value: now }));
  // Ignore the stored end of the window: a move to another account sets it to the past, although what was sent before may have had its effect.
  const inWindow = equal.filter((record) => !pastWindow({ ...record, windowEndsAt: undefined }, settings.limits, storeNow));
  // A damaged operation can't be adopted, but it may have taken effect. So send nothing until the server has forgotten its key.
  if (inWindow.some((record) => !readRecord(record))) throw failure(call, unknown('record'), {}, 'ERR_ONCE_RECORD');
  const driven = (record: OnceRecord): number => Number(isDriven(client, record, storeNow));
  for (const record of inWindow.sort((a, b) => driven(a) - driven(b) || a.createdAt - b.createdAt)) {
    // The lost call may have taken effect, so this one must not end as if it were new. If it has ended already, nobody hears of this.
    if (hold.over || client.platform.clock.now() >= deadline) throw busyError(call);
    const place = placeOf(record);
    const lost = await takeLost(place, record, driven(record) > 0, hold);
    if (lost) return { address: place, ...lost };
    letGo(hold);
  }
  return undefined;
}
