/** How long records and keys live. All times are wall clock, ms. */
import type { Claimant } from './claimant.js';
import type { Lease } from './lease.js';
import { isUnnamed } from './name.js';
import { type OnceRecord, readRecord, seal } from './record.js';

const DAY_MS = 86_400_000;

/** An unsettled operation is forgotten 30 days after its last write, or after `keep.forMs` if that is longer. */
export const UNSETTLED_MS = 30 * DAY_MS;
/** The record of an ended operation is kept at least this long, to answer the calls that were waiting for it. */
export const WAITERS_MS = 60_000;
/** If the clock is behind the record's last write by more than this, it can't tell whether the key window is over. */
export const CLOCK_BACK_MS = 300_000;

/** The longest time between the two looks that must find a record due. */
const SECOND_LOOK_MS = 7 * DAY_MS;

/** No driver takes a lease of this length. A lease that ends later was written with a wrong clock, and does not count. */
const LEASE_MS_MAX = DAY_MS;

/** The lease owner of a record that was moved while an attempt may have been under way: nobody drives it, and it must not be settled by hand yet. */
export const MOVED = 'moved';

/** The last character of a lease's owner while a function of `run` goes on after its call. */
export const OUTLIVED = '+';

/** Whether a live driver may hold this lease, by the store's clock. A store may turn an absent member into `null`. */
export const leaseHolds = (lease: OnceRecord['lease'], now: number): lease is NonNullable<typeof lease> =>
  lease != null && !lease.locked && lease.until > now && lease.until < now + LEASE_MS_MAX;

/**
 * The lease of a call that begins to drive. It replaces `before`, that of an earlier driver or of a move, and tells until when attempts may be on
 * their way that `before` stands for: if both drivers die, the last attempt to end may be the earlier one's. A call without a lease leaves that of
 * a move.
 */
export function leaseOf({ owner = '', leaseMs, attemptMs, totalMs, locked }: Claimant, now: number, before?: OnceRecord['lease']): OnceRecord['lease'] {
  if (!leaseMs) return before?.owner === MOVED ? before : undefined;
  const earlier = before && before.until < now + LEASE_MS_MAX ? Math.max(before.until + (before.ms ?? 0), before.earlier ?? 0) : undefined;
  return { owner, until: now + leaseMs, ms: Math.min(attemptMs, totalMs), earlier, locked };
}

/** How long an attempt takes at most, by this client's limits. */
export interface AttemptLimits {
  readonly attemptMs: number;
  readonly totalMs: number;
}

/**
 * Until when an attempt may be on its way that the lease stands for, if the last one of its driver began before `begun`. The driver's own limits,
 * which its lease tells, may be longer than those of the client that asks.
 */
function arrivesUntil({ ms = 0, earlier = 0 }: Partial<Lease>, { attemptMs, totalMs }: AttemptLimits, begun: number): number {
  const last = begun + Math.min(LEASE_MS_MAX - 1, Math.max(Math.min(attemptMs, totalMs), ms));
  return Math.max(last, earlier < last + LEASE_MS_MAX ? earlier : 0);
}

/**
 * The lease that a moved record gets. The record's drivers send nothing more, so it lasts until their last attempt has ended. If the present driver
 * lives (`driven`, or its lease holds), its last attempt began before now; if not, before its lease ran out. The lease of an earlier move counts
 * every attempt before that move.
 */
export function leaseOfMove(record: OnceRecord, driven: boolean, limits: AttemptLimits, now: number): OnceRecord['lease'] {
  const { lease, state } = record;
  const leaseEnd = lease?.until ?? now;
  const lives = driven || leaseHolds(lease, now);
  if (state !== 'pending' || !(lives || mayArrive(record, limits, now))) return undefined;
  const wasMoved = lease?.owner === MOVED;
  if (wasMoved && !driven) return lease;
  const until = arrivesUntil(wasMoved ? { earlier: leaseEnd } : (lease ?? {}), limits, lives ? now : leaseEnd);
  // After a call that only its function outlives, the user's call need not wait.
  const locked = !driven && lease?.owner.endsWith(OUTLIVED);
  return { owner: MOVED, until: Math.min(until, now + LEASE_MS_MAX - 1), locked: locked || undefined };
}

/**
 * Whether an attempt of the record's driver, or of an earlier one, may still be on its way, although the lease may have run out. The lease of a move
 * counts every attempt already.
 */
export const mayArrive = ({ ambiguous, lease }: OnceRecord, limits: AttemptLimits, now: number): boolean =>
  ambiguous && lease != null && lease.until < now + LEASE_MS_MAX && (lease.owner === MOVED ? lease.until : arrivesUntil(lease, limits, lease.until)) > now;

/**
 * When a call that waits has seen this record, ms since 1970. If it is missing a minute later, somebody removed it, and the call begins no new
 * operation. If it is done, or something may have been sent for it, that holds at once (`-Infinity`): `move` or a log-out may have taken it.
 */
export const seenAt = (record: OnceRecord | undefined, now: number): number =>
  record?.state === 'settled' || (record?.state === 'pending' && record.ambiguous) ? -Infinity : now;

/** The last time that a `Date` can have; in place of `Infinity`, which JSON can't store. */
export const LAST_MS = 8.64e15;

/**
 * A retired record is kept as long as calls may wait for it. But a key that is not random must not be made again, and a key that stays in
 * use is for the next call: such a record is kept like an unsettled one, and at least as long as the server remembers the key. It is also
 * kept as long as its predecessor would have been: if no record told the generation, the predecessor's key could be made again.
 */
export const retiredForgetAt = ({ random, windowEndsAt, previous }: OnceRecord, now: number, totalMs: number, keyInUse = false): number => {
  const ownEnd = random && !keyInUse ? now + Math.max(totalMs, WAITERS_MS) : Math.max(now + UNSETTLED_MS, windowEndsAt ?? 0);
  return Math.min(LAST_MS, Math.max(ownEnd, readRecord(previous)?.forgetAt ?? 0));
};

/** When a settled record may be forgotten: not before the calls that wait for it have found it. */
export const settledForgetAt = (now: number, keepMs: number, totalMs: number): number => Math.min(LAST_MS, now + Math.max(keepMs, totalMs, WAITERS_MS));

/** When an unsettled record may be forgotten: an operation that may have taken effect is kept at least as long as one that has. */
export const unsettledForgetAt = (now: number, keepMs: number): number => settledForgetAt(now, keepMs, UNSETTLED_MS);

/** Whether the record's time is over. The time that a sweep adds for its second look does not count. */
export const isOver = ({ dueAt, forgetAt }: OnceRecord, now: number): boolean => (dueAt ?? forgetAt) <= now;

/**
 * Whether losing the record too early could lead to a second effect. It could not if a random key was retired and nothing was done before
 * it, or if an unnamed operation is done, which only answers calls that already wait for it.
 */
const isPrecious = ({ state, label, random, keyInUse, previous }: OnceRecord): unknown =>
  state === 'retired' ? !random || keyInUse || previous : state === 'pending' || !isUnnamed(label);

/**
 * What a sweep makes of a record that is due at `now`: `null`, or the record with the time of a second look, because at the first
 * look the clock may be wrong for a moment.
 */
export function afterSweep(record: OnceRecord, now: number): OnceRecord | null {
  if (record.dueAt != null || !isPrecious(record)) return null;
  const keptMs = record.forgetAt - record.touchedAt;
  // If the record was written after it was due, one of the two clocks was wrong: take the longest time.
  const pause = keptMs > 0 ? Math.min(SECOND_LOOK_MS, keptMs) : SECOND_LOOK_MS;
  return seal({ ...record, dueAt: record.forgetAt, forgetAt: now + pause });
}

/**
 * Whether the server may have forgotten the key before an attempt that leaves now has ended. Of the stored window and the present one,
 * the earlier end counts.
 */
export const pastWindow = (record: OnceRecord, limits: { readonly keyWindowMs: number; readonly attemptMs: number }, now: number): boolean => {
  const firstSentAt = record.firstSentAt ?? record.createdAt;
  return now >= Math.min(record.windowEndsAt ?? Infinity, firstSentAt + limits.keyWindowMs) - limits.attemptMs;
};

/**
 * Whether the key of a request that may have been sent is too old to be sent again. It also is if the clock is so far behind the record's last write that
 * it can't tell whether the key window is over: only if this machine's (`now`) and the store's (`storeNow`) both are. Work behind a link is polled
 * without the key, however long it takes.
 */
export const isKeyTooOld = (record: OnceRecord, limits: Parameters<typeof pastWindow>[1], now: number, storeNow: number): boolean =>
  !record.link && (pastWindow(record, limits, storeNow) || Math.max(now, storeNow) < record.touchedAt - CLOCK_BACK_MS);
