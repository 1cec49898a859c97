/** What a call does with the record that it finds. */
import type { Began, Begun, Claimant } from './claimant.js';
import { type OnceRecord, type PendingRecord, RECORD_VERSION, readRecord, seal } from './record.js';
import { clockWentBack, isOver, leaseHolds, MOVED, pastWindow, unsettledForgetAt } from './retention.js';

export type { Began, Begun, Claimant };

/** Someone who edits a form without end still gets a bounded record. */
const PAYLOADS_MAX = 50;
/** Requests are longer than fingerprints. */
const EARLIER_MAX = 3;

/** Tells one life of a key from the next one: a key that stays in use ends more than once. */
export const lifeOf = ({ key, revision }: OnceRecord): string => `${key} ${revision}`;

/** Which end a call sees before it waits. That of a pending record's predecessor comes back if nothing of the pending one leaves. */
export function endedBefore(record: OnceRecord | undefined): string | undefined {
  const ended = record?.state === 'pending' ? record.previous : record;
  return ended && lifeOf(ended);
}

/**
 * Decides on the record as stored; to be called within one atomic update, with the store's own time for leases and for the age of a
 * key: machines have different clocks.
 */
export function begin(stored: unknown, c: Claimant, now: number, storeNow: number): Began {
  if (stored === undefined) return c.resumeOnly ? { value: { do: 'nothing' } } : insert(undefined, c, now, storeNow);
  const record = readRecord(stored);
  if (!record) return { value: { do: 'corrupt' } };
  const same = record.scheme === c.scheme && record.payloads.at(-1) === c.fingerprint;
  const { lease } = record;
  // Nobody drives what was moved: under a lock, which tells whether somebody does, there is nothing to wait for.
  const driven = leaseHolds(lease, storeNow) && lease.owner !== c.owner && (c.lease !== undefined || lease.owner !== MOVED);
  if (record.state === 'pending' && driven) return { value: { do: 'busy', record, ms: lease.until - storeNow } };
  if (record.state === 'pending') return foundPending(record, same, c, now, storeNow);
  const endedSince = c.waited && c.waited.ended !== lifeOf(record);
  if (c.resumeOnly) {
    // What was found may never have left, and be gone: what its name stood for before is there again, or what was begun since.
    const tells = c.found ? record.key === c.found.key && record.revision >= c.found.revision : endedSince || record.state === 'settled';
    return { value: { do: tells ? 'remembered' : 'nothing', record } };
  }
  const answers = same || (record.state === 'settled' && record.scheme === c.scheme && record.payloads.includes(c.fingerprint));
  if (endedSince && answers) return { value: { do: 'remembered', record } };
  // What should have been forgotten by now answers nothing, swept or not.
  // One clock that is fast is not enough.
  if (isOver(record, Math.min(now, storeNow))) return insert(record, c, now, storeNow);
  // A random key is never used for a second operation.
  if (c.keyKind === 'random' && record.key === c.key) return { value: { do: 'remembered', record } };
  if (record.state === 'retired') {
    if (staysInUse(record, same, c, storeNow)) return reuse(record, c, now, storeNow);
    const begun = insert(record, c, now, storeNow);
    // Only a key that is the same for the next generation, too, is used up for good.
    return begun.next && record.sticky && record.key === c.key ? { value: { do: 'key-burnt', record } } : begun;
  }
  if (c.repeat === 'always' || (c.repeat === 'if-changed' && !answers)) return insert(record, c, now, storeNow);
  return { value: { do: answers ? 'remembered' : 'already-settled', record } };
}

function foundPending(record: PendingRecord, same: boolean, c: Claimant, now: number, storeNow: number): Began {
  if (c.keyKind === 'literal' && c.key !== record.key) return { value: { do: 'mismatch', record } };
  if (!record.ambiguous && record.random && !c.resumeOnly) {
    // Nothing has left since it was begun, so what the name stood for before still counts, whatever key this press has.
    const previous = readRecord(record.previous);
    if (previous && staysInUse(previous, previous.scheme === c.scheme && previous.payloads.at(-1) === c.fingerprint, c, storeNow))
      return reuse(previous, c, now, storeNow, record.revision);
    if (previous?.key === record.key || !same) return insert(record, c, now, storeNow);
  }
  const wasSent = record.ambiguous || record.firstSentAt !== undefined;
  if (wasSent && (pastWindow(record, c, storeNow) || clockWentBack(record, Math.max(now, storeNow)))) return { value: { do: 'expired', record } };
  if (record.ambiguous && !c.resumeOnly && isElsewhere(record, c)) return { value: { do: 'elsewhere', record } };
  if (!same && !c.resumeOnly && c.whenChanged === 'refuse') return { value: { do: 'mismatch', record } };
  return adopt(record, same, c, now, storeNow);
}

/** Whether the key has been where this call goes: a server that never saw it would execute the request. */
export function isElsewhere(record: OnceRecord, c: Pick<Claimant, 'origin' | 'endpoint' | 'scope'>): boolean {
  if (record.origin === '' && c.origin === '') return false;
  return record.origin !== c.origin || (c.scope === 'endpoint' && record.endpoint !== undefined && record.endpoint !== c.endpoint);
}

/** Whether the next call sends the key of an operation that was refused once more. */
function staysInUse(record: OnceRecord, same: boolean, c: Claimant, storeNow: number): boolean {
  return (
    record.keyInUse === true &&
    c.keyKind === 'random' &&
    record.carrier === c.carrier &&
    record.dialect === c.dialect &&
    !isElsewhere(record, c) &&
    (same || c.whenChanged === 'same-key') &&
    !pastWindow(record, c, storeNow)
  );
}

/**
 * A key that is not random, and that no server holds: it stays, so that losing the storage later falls back on the very
 * key that took effect. So does that of an end whose time is over: once it is swept, the key is made again, too.
 */
const keepsKey = ({ state, random, sticky, ending, payloads }: OnceRecord, { repeat, fingerprint }: Claimant): boolean =>
  !random &&
  (state === 'retired'
    ? !sticky && ending?.effect === 'none'
    : state === 'settled' && (repeat === 'never' || (repeat === 'if-changed' && payloads.includes(fingerprint))));

/** Fingerprints of another scheme equal none of the claimant's. */
const payloadsFor = ({ scheme, payloads }: OnceRecord, c: Claimant): readonly string[] =>
  scheme === c.scheme ? payloads : payloads.map((one) => `${scheme}:${one}`);

function insert(before: OnceRecord | undefined, c: Claimant, now: number, storeNow: number): Began {
  const kept = before && keepsKey(before, c);
  const generation = before ? before.generation + (kept ? 0 : 1) : 0;
  // Under a key that comes again something is done: what the server repeats may be the answer to that payload.
  const again = before?.state === 'settled' && before.key === c.key && (kept || !pastWindow(before, c, storeNow)) ? before : undefined;
  const sent = again ? payloadsFor(again, c) : [];
  const others = sent.filter((one) => one !== c.fingerprint);
  if (c.keyKind === 'derived' && c.keyGeneration !== generation) return { value: { do: 'rekey', generation } };
  // The strategy gives the same key for another effect, and the server would answer by the first one.
  if (again && !kept && c.keyKind === 'derived') return { value: { do: 'key-burnt', record: again } };
  const record = seal({
    v: RECORD_VERSION,
    id: c.id,
    ns: c.ns,
    label: c.label,
    state: 'pending',
    forgetAt: unsettledForgetAt(Math.max(now, storeNow), c.keepMs),
    key: c.key,
    carrier: c.carrier,
    dialect: c.dialect,
    origin: c.origin,
    endpoint: c.endpoint || undefined,
    madeAgain: (c.seesRaces && (!before || before.madeAgain)) || undefined,
    random: c.keyKind === 'random',
    generation,
    revision: (before?.revision ?? 0) + 1,
    // To whoever finds it the first attempt may have left: its writer may have died right after.
    ambiguous: !c.clean,
    scheme: c.scheme,
    payloads: [...others, c.fingerprint].slice(-PAYLOADS_MAX),
    raw: c.raw,
    createdAt: now,
    firstSentAt: c.clean ? undefined : storeNow,
    windowEndsAt: c.clean ? undefined : storeNow + c.windowMs,
    touchedAt: now,
    lease: leaseOf(c, storeNow),
    meta: c.meta,
    request: c.request,
    previous: before && before.state !== 'pending' ? { ...before, previous: undefined } : before?.previous,
  });
  const changes = { changed: others.length > 0, sentBefore: sent.includes(c.fingerprint) };
  return drive(record, changes);
}

const INSERTED = { inserted: true, resumed: false, changed: false, sentBefore: false, otherBytes: false, reused: false, refusedOnly: false };

const drive = (record: PendingRecord, how: Partial<typeof INSERTED>): Began => ({
  next: record,
  value: { do: 'drive', record, ...INSERTED, ...how },
});

const leaseOf = ({ lease }: Claimant, storeNow: number): OnceRecord['lease'] => lease && { owner: lease.owner, until: storeNow + lease.ms };

/**
 * Begins anew under the key of an operation that was refused: nothing proves that the application used it up. `revision`: that of the
 * record in its place. The predecessor keeps its own, by which a call that waits knows it again.
 */
function reuse(before: OnceRecord, c: Claimant, now: number, storeNow: number, revision = before.revision): Began {
  const { next } = insert(before, { ...c, key: before.key }, now, storeNow);
  const { firstSentAt, windowEndsAt, generation } = before;
  const kept = { revision: revision + 1, generation, firstSentAt, windowEndsAt };
  const record = seal({ ...(next as PendingRecord), ...kept, refusal: reopened(before), refusedBefore: true });
  return drive(record, { reused: true });
}

/** From here on an attempt may be under way; a driver that dies says nothing of it, so the refusal before it counts no more. */
const reopened = ({ refusal }: OnceRecord): OnceRecord['refusal'] => (refusal && !refusal.open ? { ...refusal, open: true } : undefined);

/** Goes on with a pending record under its own key. */
function adopt(before: PendingRecord, same: boolean, c: Claimant, now: number, storeNow: number): Began {
  const keeps = same || c.resumeOnly;
  const sent = payloadsFor(before, c);
  const firstSentAt = before.firstSentAt ?? (before.ambiguous ? before.createdAt : c.clean ? undefined : storeNow);
  const windowEndsAt = firstSentAt === undefined ? undefined : Math.min(before.windowEndsAt ?? Infinity, firstSentAt + c.windowMs);
  const record = seal({
    ...before,
    revision: before.revision + 1,
    ambiguous: before.ambiguous || !c.clean,
    scheme: keeps ? before.scheme : c.scheme,
    payloads: keeps ? before.payloads : [...sent.filter((one) => one !== c.fingerprint), c.fingerprint].slice(-PAYLOADS_MAX),
    // Until this drive has an answer, its attempts may have had an effect.
    refusedOnly: undefined,
    refusal: reopened(before),
    // A record that was stored clean has been nowhere.
    ...(before.ambiguous || c.resumeOnly ? {} : { origin: c.origin, endpoint: c.endpoint || undefined }),
    raw: keeps ? before.raw : c.raw,
    firstSentAt,
    windowEndsAt,
    touchedAt: now,
    dueAt: undefined,
    forgetAt: unsettledForgetAt(Math.max(now, storeNow), c.keepMs),
    // A driver's lease that ran out is not this one's.
    lease: leaseOf(c, storeNow) ?? (before.lease?.owner === MOVED ? before.lease : undefined),
    meta: c.meta ?? before.meta,
    request: keeps ? (before.request ?? c.request) : c.request,
    earlier:
      keeps || !before.request ? before.earlier : [...(before.earlier ?? []), { fingerprint: sent.at(-1) ?? '', request: before.request }].slice(-EARLIER_MAX),
  });
  const how = {
    inserted: false,
    resumed: before.ambiguous,
    changed: record.payloads.length > 1,
    sentBefore: before.ambiguous && (keeps || sent.includes(c.fingerprint)),
    otherBytes: same && !c.resumeOnly && before.raw !== c.raw,
    refusedOnly: before.refusedOnly === true,
  };
  return drive(record, how);
}

/** The commit that must come before the first attempt of a record that was stored clean. */
export const marked = (record: PendingRecord, windowMs: number, now: number, storeNow = now): PendingRecord =>
  seal({
    ...record,
    ambiguous: true,
    firstSentAt: record.firstSentAt ?? storeNow,
    windowEndsAt: Math.min(record.windowEndsAt ?? Infinity, storeNow + windowMs),
    touchedAt: now,
  });
