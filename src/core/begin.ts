/** Decides what a call does with the record that it finds. */
import type { Begun, Claimant } from './claimant.js';
import { type EndedRecord, type OnceRecord, type PendingRecord, RECORD_VERSION, readRecord, SCHEME, seal } from './record.js';
import { isKeyTooOld, isOver, leaseHolds, leaseOf, MOVED, pastWindow, unsettledForgetAt } from './retention.js';

type Driven = Extract<Begun, { do: 'drive' }>;

/** How many payloads a record lists, so that it does not grow without limit while a form is edited again and again. */
const PAYLOADS_MAX = 50;
/** How many earlier requests are kept: fewer, because requests are longer than fingerprints. */
const EARLIER_MAX = 3;

/** Identifies one operation under a key. The key alone does not: a key that stays in use serves several operations, one after the other. */
export const lifeOf = ({ key, revision }: OnceRecord): string => `${key} ${revision}`;

/**
 * Which ended operation a record shows to a call before it waits. A pending record's predecessor counts, because it comes back if nothing
 * of the pending one is sent.
 */
export function endedBefore(record: OnceRecord | undefined): string | undefined {
  const ended = record?.state === 'pending' ? record.previous : record;
  return ended && lifeOf(ended);
}

/** What was done before an operation of which nothing took effect. */
export const doneBefore = ({ previous }: Pick<OnceRecord, 'previous'>): EndedRecord | undefined =>
  previous?.state === 'settled' ? previous : previous?.previous;

/**
 * Decides what a call does with the stored record. Must be called within one atomic update. `storeNow`, the store's own time, is used
 * for leases and for the age of a key, because machines have different clocks.
 */
export function begin(stored: unknown, call: Claimant, now: number, storeNow: number): Begun {
  if (stored === undefined) return insert(undefined, call, now, storeNow);
  const record = readRecord(stored);
  if (!record) return { do: 'corrupt' };
  const same = isSame(record, call);
  if (record.state === 'pending') return busy(record, call, storeNow) ?? foundPending(record, same, call, now, storeNow);
  const endedSince = call.lookBefore && call.lookBefore.ended !== lifeOf(record);
  const answers = same || (record.state === 'settled' && record.payloads.includes(call.fingerprint));
  // A key that was used up, perhaps by an operation whose record is lost, ends nothing: the call that used it up goes on with the next key.
  if (endedSince && answers && !(record.sticky && record.ending?.effect === 'unknown')) return { do: 'remembered', record };
  // A record whose time is over answers no call, even if no sweep has removed it yet. Both clocks must say so, in case one is fast.
  const both = Math.min(now, storeNow);
  if (isOver(record, both)) return insert(record, call, now, storeNow);
  // A random key is never used for a second operation.
  if (call.keyKind === 'random' && record.key === call.key) return { do: 'remembered', record };
  const done = unchanged(record, call, both);
  if (done) return { do: 'remembered', record: done };
  if (record.state === 'retired') {
    if (staysInUse(record, call, storeNow)) return reuse(record, call, now, storeNow);
    // If the next key is the same one, the app has no other: the key is used up for good.
    return record.sticky && record.key === call.key ? { do: 'key-burnt', record } : insert(record, call, now, storeNow);
  }
  return call.repeat === 'never' ? { do: 'remembered', record } : insert(record, call, now, storeNow);
}

/** Whether another driver holds the record, and for how long. */
export function busy(record: PendingRecord, { owner, leaseMs, locked }: Claimant, storeNow: number): Begun | undefined {
  const { lease } = record;
  // Nobody drives a record that was moved. A call that holds a lock knows that, and need not wait.
  const driven = leaseHolds(lease, storeNow) && lease.owner !== owner && ((leaseMs && !locked) || lease.owner !== MOVED);
  return driven ? { do: 'busy', record, ms: lease.until - storeNow } : undefined;
}

/** Whether the key may have been sent, and is too old to be sent again. */
export const isExpired = (record: PendingRecord, call: Claimant, now: number, storeNow: number): boolean =>
  (record.ambiguous || record.firstSentAt !== undefined) && isKeyTooOld(record, call, now, storeNow);

function foundPending(record: PendingRecord, same: boolean, call: Claimant, now: number, storeNow: number): Begun {
  if (call.keyKind === 'literal' && call.key !== record.key) return { do: 'mismatch', record };
  if (!record.ambiguous && record.random) {
    // Nothing of the pending operation was sent, so its predecessor still counts. If the predecessor's key stays in use, go on with that key.
    const previous = readRecord(record.previous);
    const done = unchanged(previous, call, Math.min(now, storeNow));
    if (done) return { do: 'remembered', record: done, back: previous };
    if (previous && staysInUse(previous, call, storeNow)) return reuse(previous, call, now, storeNow, record.revision);
    if (previous?.key === record.key || !same) return insert(record, call, now, storeNow);
  }
  if (isExpired(record, call, now, storeNow)) return { do: 'key-expired', record };
  if (record.ambiguous && isElsewhere(record, call)) return { do: 'elsewhere', record };
  if (!same && call.whenChanged === 'refuse') return { do: 'mismatch', record };
  return adopt(record, same, call, now, storeNow);
}

/**
 * With `if-changed`: the record of what was done last, if this call would do the same again. A refused operation changed nothing, so what was
 * done before it (`previous`) is compared.
 */
function unchanged(ended: OnceRecord | undefined, { repeat, fingerprint }: Claimant, now: number): EndedRecord | false | undefined {
  const done = ended?.state === 'retired' ? ended.ending?.effect === 'none' && readRecord(ended.previous) : ended;
  return repeat === 'if-changed' && done && done.payloads.includes(fingerprint) && !isOver(done, now) && (done as EndedRecord);
}

/** Whether the record's present payload is that of this call. */
const isSame = ({ payloads }: OnceRecord, call: Claimant): boolean => payloads.at(-1) === call.fingerprint;

/**
 * Whether this call goes to another place than the key has been sent to. A server that has never seen the key would execute the request.
 * A dialect says only of its own server that keys count for the whole origin: other servers may be behind the same origin.
 */
export function isElsewhere(record: OnceRecord, call: Pick<Claimant, 'origin' | 'endpoint' | 'scope' | 'dialect'>): boolean {
  const narrow = call.scope !== 'origin' || record.dialect !== call.dialect;
  return record.origin !== call.origin || (narrow && (record.endpoint ?? call.endpoint) !== call.endpoint);
}

/** Whether this call sends the key of a refused operation once more. */
function staysInUse(record: OnceRecord, call: Claimant, storeNow: number): boolean | undefined {
  return (
    record.keyInUse &&
    call.keyKind === 'random' &&
    record.carrier === call.carrier &&
    !isElsewhere(record, call) &&
    (isSame(record, call) || call.whenChanged === 'same-key') &&
    !pastWindow(record, call, storeNow)
  );
}

/**
 * Whether the next operation uses this record's key again, if that is one that can be made again. After a refusal it does if the server holds no
 * effect under the key: should the storage be lost later, the first key of the name is made again, and that must be the one that took
 * effect. It also does once the time of a settled record is over: after a sweep, the same key would be made again anyway.
 */
export const keepsKey = ({ state, sticky, ending, payloads }: OnceRecord, { repeat, fingerprint }: Claimant): boolean =>
  state === 'retired' ? !sticky && ending?.effect === 'none' : repeat === 'never' || (repeat === 'if-changed' && payloads.includes(fingerprint));

/** All payloads of the key, the present one last. */
const withPresent = (sent: readonly string[], { fingerprint }: Claimant): readonly string[] =>
  [...sent.filter((one) => one !== fingerprint), fingerprint].slice(-PAYLOADS_MAX);

/** Where the key of this call goes. */
const placeOf = ({ carrier, dialect, origin, endpoint }: Claimant) => ({ carrier, dialect, origin, endpoint: endpoint || undefined });

/** The generation of the next derived key. A random key does not use a generation up: after a loss of the storage, derivation starts at the first one. */
export const nextGeneration = (before: OnceRecord | undefined, call: Claimant): number =>
  before ? before.generation + (before.random || keepsKey(before, call) ? 0 : 1) : 0;

/** A new record under a new key, or under one that may be used again. `kept`: what a refused operation passes on with its key. */
function insert(before: OnceRecord | undefined, call: Claimant, now: number, storeNow: number, kept?: Partial<PendingRecord>): Driven {
  // An earlier operation took effect under the key that is used again here. The server may repeat its answer to that operation's payload.
  const hadEffect = before?.state === 'settled' && before.key === call.key && (keepsKey(before, call) || !pastWindow(before, call, storeNow));
  const sent = hadEffect ? before.payloads : [];
  const record = seal({
    v: RECORD_VERSION,
    id: call.id,
    ns: call.ns,
    label: call.label,
    state: 'pending',
    forgetAt: unsettledForgetAt(Math.max(now, storeNow), call.keepMs),
    key: call.key,
    ...placeOf(call),
    random: call.keyKind === 'random',
    generation: nextGeneration(before, call),
    revision: (before?.revision ?? 0) + 1,
    // A context that finds this record can't know whether its writer sent the first attempt and then died. So the record is stored as ambiguous.
    ambiguous: !call.clean,
    scheme: SCHEME,
    payloads: withPresent(sent, call),
    raw: call.raw,
    createdAt: now,
    firstSentAt: call.clean ? undefined : storeNow,
    windowEndsAt: call.clean ? undefined : storeNow + call.keyWindowMs,
    touchedAt: storeNow,
    lease: leaseOf(call, storeNow),
    meta: call.meta,
    request: call.request,
    previous: before?.state === 'pending' ? before.previous : before,
    ...kept,
  });
  return { do: 'drive', record, inserted: true, resumed: false, changed: record.payloads.length > 1, sentBefore: sent.includes(call.fingerprint) };
}

/**
 * Begins a new operation under the key of a refused one, because nothing proves that the application used the key up. `revision`: that
 * of the record that is replaced. The predecessor keeps its own revision, by which waiting calls recognise it.
 */
function reuse(before: OnceRecord, call: Claimant, now: number, storeNow: number, revision = before.revision): Begun {
  const { firstSentAt, windowEndsAt } = before;
  const kept = { revision: revision + 1, firstSentAt, windowEndsAt, refusal: reopened(before), refusedBefore: true };
  return { ...insert(before, { ...call, key: before.key }, now, storeNow, kept), reused: true };
}

/**
 * The earlier refusal, marked as open. From here on an attempt may be under way, and if its driver dies, nobody learns how it ended. So an
 * open refusal proves nothing by itself.
 */
const reopened = ({ refusal }: OnceRecord): OnceRecord['refusal'] => (refusal && !refusal.open ? { ...refusal, open: true } : undefined);

/** Goes on with a pending record under its own key. */
export function adopt(before: PendingRecord, same: boolean, call: Claimant, now: number, storeNow: number): Driven {
  const otherBytes = same && before.raw !== call.raw;
  // If every attempt so far was refused, this call sends its own bytes.
  const keepsRequest = same && !(otherBytes && before.refusedOnly);
  // If the record has a link, this call polls the work behind it, and does not send its payload.
  const keepsPayloads = keepsRequest || before.link;
  const { lease, payloads: sent } = before;
  const firstSentAt = before.firstSentAt ?? (before.ambiguous ? before.createdAt : call.clean ? undefined : storeNow);
  const windowEndsAt = firstSentAt === undefined ? undefined : Math.min(before.windowEndsAt ?? Infinity, firstSentAt + call.keyWindowMs);
  const adopted: PendingRecord = {
    ...before,
    revision: before.revision + 1,
    ambiguous: before.ambiguous || !call.clean,
    // Until this drive has an answer, its attempts may have had an effect.
    refusedOnly: undefined,
    refusal: reopened(before),
    // The key of a clean record was never sent, so it goes where this call's server looks for it.
    ...(!before.ambiguous && placeOf(call)),
    firstSentAt,
    windowEndsAt,
    touchedAt: storeNow,
    dueAt: undefined,
    forgetAt: unsettledForgetAt(Math.max(now, storeNow), call.keepMs),
    // Keep another driver's lease, because its last attempt may still be on its way, and one that counts an earlier driver's. This client's own attempts
    // have ended; a clean record had none.
    lease: before.ambiguous && (lease?.owner !== call.owner || lease?.earlier) ? lease : undefined,
  };
  const record = seal({
    ...adopted,
    ...(!keepsPayloads && { scheme: SCHEME, payloads: withPresent(sent, call), raw: call.raw }),
    lease: leaseOf(call, storeNow, adopted.lease),
    meta: call.meta ?? before.meta,
    // A later call takes a stored request for the bytes that went out first. So do not store this call's request if its bytes are others.
    request: keepsRequest ? (before.request ?? (otherBytes ? undefined : call.request)) : call.request,
    earlier:
      keepsRequest || !before.request
        ? before.earlier
        : [...(before.earlier ?? []), { fingerprint: sent.at(-1) as string, request: before.request }].slice(-EARLIER_MAX),
  });
  return {
    do: 'drive',
    record,
    resumed: before.ambiguous,
    changed: !same || record.payloads.length > 1,
    sentBefore: before.ambiguous && (keepsRequest || sent.includes(call.fingerprint)),
    otherBytes,
    refusedOnly: before.refusedOnly,
    found: adopted,
  };
}

/** The record to commit before the first attempt, if it was stored clean. */
export const marked = (record: PendingRecord, windowMs: number, storeNow: number): PendingRecord =>
  seal({
    ...record,
    ambiguous: true,
    firstSentAt: record.firstSentAt ?? storeNow,
    windowEndsAt: Math.min(record.windowEndsAt ?? Infinity, storeNow + windowMs),
    touchedAt: storeNow,
  });
