/** How long records and keys live. All times are wall clock, ms. */
import { isUnnamed } from './name.js';
import { type OnceRecord, seal } from './record.js';

const DAY_MS = 86_400_000;

/** An unsettled operation goes after 30 days without a touch, or after `keep.forMs` where that is longer. */
export const UNSETTLED_MS = 30 * DAY_MS;
/** What is left of an operation that ended answers those who were waiting for it, at least this long. */
export const WAITERS_MS = 60_000;
/** A clock that reads earlier than the record's last stamp by more than this can't vouch for the window. */
export const CLOCK_BACK_MS = 300_000;

/** The most that goes by between the two looks that find a record due. */
const SECOND_LOOK_MS = 7 * DAY_MS;

/** No driver takes a lease for nearly so long: one that ends later was taken by a clock that was wrong, and holds nothing. */
const LEASE_MS_MAX = DAY_MS;

/** The owner in the lease of a record that was moved while an attempt was on the wire: nobody drives it, and it is not to be settled by hand. */
export const MOVED = 'moved';

/** Whether a live driver may hold this lease, by the store's clock. A store may make `null` of what is absent. */
export const leaseHolds = (lease: OnceRecord['lease'], now: number): lease is NonNullable<typeof lease> =>
  lease != null && lease.until > now && lease.until < now + LEASE_MS_MAX;

/** The last time of a `Date`. A record has a time in any case: JSON, as localStorage has it, cannot store `Infinity`. */
const LAST_MS = 8.64e15;

/**
 * A derived or literal key must not come round again, and a key that stays in use is for the next call, so what is left of
 * them is kept like an unsettled record, and no less than the server remembers it.
 */
export const retiredForgetAt = (record: OnceRecord, now: number, totalMs: number, keyInUse = false): number =>
  record.random && !keyInUse ? now + Math.max(totalMs, WAITERS_MS) : Math.min(LAST_MS, Math.max(now + UNSETTLED_MS, record.windowEndsAt ?? 0));

export const settledForgetAt = (now: number, keepMs: number, totalMs: number): number => Math.min(LAST_MS, now + Math.max(keepMs, totalMs, WAITERS_MS));

/** What may be done is remembered no less long than what is. */
export const unsettledForgetAt = (now: number, keepMs: number): number => settledForgetAt(now, keepMs, UNSETTLED_MS);

/** Whether its time is over. What a sweep added to wait for its second look does not make it valid again. */
export const isOver = ({ dueAt, forgetAt }: OnceRecord, now: number): boolean => (dueAt ?? forgetAt) <= now;

/**
 * Whether losing it too early could cost a second effect. A random key that was used up without one costs nothing, and an
 * unnamed operation that is done answers only those who wait for it.
 */
const isPrecious = ({ state, label, random, keyInUse }: OnceRecord): boolean =>
  state === 'retired' ? !random || keyInUse === true : state === 'pending' || !isUnnamed(label);

/**
 * What a sweep leaves of a record that is due at `now`: nothing, or the record with the time of a second look. One look at one
 * clock could be a clock that is wrong for a moment.
 */
export function afterSweep(record: OnceRecord, now: number): OnceRecord | null {
  if (record.dueAt != null || !isPrecious(record)) return null;
  const keptMs = record.forgetAt - record.touchedAt;
  // Touched after it was due: by the very clock that is wrong.
  const pause = keptMs > 0 ? Math.min(SECOND_LOOK_MS, keptMs) : SECOND_LOOK_MS;
  return seal({ ...record, dueAt: record.forgetAt, forgetAt: now + pause });
}

/** Whether the server may have forgotten the key by the time an attempt that leaves now is over. The earlier window counts. */
export const pastWindow = (record: OnceRecord, limits: { readonly windowMs: number; readonly marginMs: number }, now: number): boolean => {
  const firstSentAt = record.firstSentAt ?? record.createdAt;
  return now >= Math.min(record.windowEndsAt ?? Infinity, firstSentAt + limits.windowMs) - limits.marginMs;
};

/**
 * What a machine stamps a record with: its own time, but not far beyond the store's. Once a clock that was fast has been set right, every
 * other stamp would look as if the clock had gone back since.
 */
export const stampAt = (now: number, storeNow: number): number => Math.min(now, storeNow + CLOCK_BACK_MS);

/** `now`: the later one of this machine's clock and the store's, because the stamp is that of whoever wrote it last, and machines have different clocks. */
export const clockWentBack = (record: OnceRecord, now: number): boolean => now < record.touchedAt - CLOCK_BACK_MS;
