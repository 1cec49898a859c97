/** What a call does with the record it finds. */
import { type OnceRecord, RECORD_VERSION, readRecord, seal } from './record.js';
import { clockWentBack, pastWindow, unsettledForgetAt } from './retention.js';

/** Someone who edits a form without end still gets a bounded record. */
const PAYLOADS_MAX = 50;
/** Requests are longer than fingerprints. */
const EARLIER_MAX = 3;

/** What a call brings to its first look. */
export interface Claimant {
  readonly id: string;
  readonly ns: string;
  readonly label: string;
  readonly fingerprint: string;
  readonly scheme: string;
  readonly raw: string;
  readonly origin: string;
  readonly carrier: string;
  readonly dialect: string;
  /** A key to be used if a new one is needed, and the generation that it was made for. */
  readonly key: string;
  readonly keyGeneration: number;
  /** `random`: good for any generation. `literal`: the caller's own, which no other may replace. */
  readonly keyKind: 'random' | 'derived' | 'literal';
  readonly repeat: 'never' | 'if-changed' | 'always';
  readonly whenChanged: 'same-key' | 'refuse';
  readonly windowMs: number;
  readonly marginMs: number;
  /** It waits before its first attempt, so whoever finds the record until then can tell that nothing left. */
  readonly clean: boolean;
  /** Set when it waited for another context: the key of the settled record of its first look, if that showed one. */
  readonly waited?: { readonly settledKey: string | undefined } | undefined;
  /** Where no lock manager is shared: who claims it, for how long, ms. */
  readonly lease?: { readonly owner: string; readonly ms: number } | undefined;
  /** Only goes on with what is there; starts nothing. */
  readonly resumeOnly: boolean;
  readonly meta?: unknown;
  readonly request?: OnceRecord['request'];
}

export type Begun =
  | {
      readonly do: 'drive';
      readonly record: OnceRecord;
      readonly inserted: boolean;
      readonly resumed: boolean;
      readonly changed: boolean;
      readonly sentBefore: boolean;
      readonly otherBytes: boolean;
    }
  /** Settled for this payload, or settled while this call waited. */
  | { readonly do: 'remembered'; readonly record: OnceRecord }
  | { readonly do: 'already-settled' | 'mismatch' | 'key-burnt' | 'expired'; readonly record: OnceRecord }
  /** Another driver holds the lease for so long, ms. */
  | { readonly do: 'busy'; readonly record: OnceRecord; readonly ms: number }
  /** The strategy's key is wanted for this generation. */
  | { readonly do: 'rekey'; readonly generation: number }
  | { readonly do: 'corrupt' }
  | { readonly do: 'nothing' };

export interface Began {
  readonly next?: OnceRecord;
  readonly value: Begun;
}

/** Decides on the record as stored; to be called within one atomic update, with the store's own time for leases. */
export function begin(stored: unknown, c: Claimant, now: number, storeNow: number): Began {
  const began = decide(stored, c, now, storeNow);
  if (!began.next || !c.lease) return began;
  const next = { ...began.next, lease: { owner: c.lease.owner, until: storeNow + c.lease.ms } };
  return { next, value: { ...began.value, record: next } as Begun };
}

function decide(stored: unknown, c: Claimant, now: number, storeNow: number): Began {
  if (stored === undefined) return c.resumeOnly ? { value: { do: 'nothing' } } : insert(undefined, c, now);
  const record = readRecord(stored);
  if (!record) return { value: { do: 'corrupt' } };
  const same = record.scheme === c.scheme && record.payloads.at(-1) === c.fingerprint;
  const { lease } = record;
  if (record.state === 'pending' && c.lease && lease && lease.owner !== c.lease.owner && lease.until > storeNow)
    return { value: { do: 'busy', record, ms: lease.until - storeNow } };
  if (record.state === 'pending') return foundPending(record, same, c, now);
  if (c.waited && c.waited.settledKey !== record.key && (same || c.resumeOnly)) return { value: { do: 'remembered', record } };
  // What should have been forgotten by now answers nothing, swept or not.
  if (record.forgetAt <= now && !c.resumeOnly) return insert(record, c, now);
  // A random key is never used for a second operation.
  if (c.keyKind === 'random' && record.key === c.key) return { value: { do: 'remembered', record } };
  if (c.resumeOnly) return { value: { do: record.state === 'settled' ? 'remembered' : 'nothing', record } as Begun };
  if (record.state === 'retired') {
    const begun = insert(record, c, now);
    // Only a key that is the same for the next generation, too, is used up for good.
    return begun.next && record.sticky && record.key === c.key ? { value: { do: 'key-burnt', record } } : begun;
  }
  if (c.repeat === 'always' || (c.repeat === 'if-changed' && !same)) return insert(record, c, now);
  return { value: { do: same ? 'remembered' : 'already-settled', record } };
}

function foundPending(record: OnceRecord, same: boolean, c: Claimant, now: number): Began {
  if (c.keyKind === 'literal' && c.key !== record.key) return { value: { do: 'mismatch', record } };
  if (!record.ambiguous && record.random && !same && !c.resumeOnly) return insert(record, c, now);
  if (record.ambiguous && (pastWindow(record, c, now) || clockWentBack(record, now))) return { value: { do: 'expired', record } };
  if (!same && !c.resumeOnly && c.whenChanged === 'refuse') return { value: { do: 'mismatch', record } };
  return adopt(record, same, c, now);
}

/**
 * A key that is not random, and that no server holds: it stays, so that losing the storage later falls back on the very
 * key that took effect.
 */
const keepsKey = ({ state, random, sticky, ending }: OnceRecord): boolean => state === 'retired' && !random && !sticky && ending?.effect === 'none';

function insert(before: OnceRecord | undefined, c: Claimant, now: number): Began {
  const generation = before ? before.generation + (keepsKey(before) ? 0 : 1) : 0;
  if (c.keyKind === 'derived' && c.keyGeneration !== generation) return { value: { do: 'rekey', generation } };
  const record = seal({
    v: RECORD_VERSION,
    id: c.id,
    ns: c.ns,
    label: c.label,
    state: 'pending',
    forgetAt: unsettledForgetAt(now),
    key: c.key,
    carrier: c.carrier,
    dialect: c.dialect,
    origin: c.origin,
    random: c.keyKind === 'random',
    generation,
    revision: (before?.revision ?? 0) + 1,
    // To whoever finds it the first attempt may have left: its writer may have died right after.
    ambiguous: !c.clean,
    scheme: c.scheme,
    payloads: [c.fingerprint],
    raw: c.raw,
    createdAt: now,
    firstSentAt: c.clean ? undefined : now,
    windowEndsAt: c.clean ? undefined : now + c.windowMs,
    touchedAt: now,
    meta: c.meta,
    request: c.request,
    previous: before && before.state !== 'pending' ? { ...before, previous: undefined } : before?.previous,
  });
  return { next: record, value: { do: 'drive', record, inserted: true, resumed: false, changed: false, sentBefore: false, otherBytes: false } };
}

/** Goes on with a pending record under its own key. */
function adopt(before: OnceRecord, same: boolean, c: Claimant, now: number): Began {
  const keeps = same || c.resumeOnly;
  // Fingerprints of another scheme are kept, but equal none of ours.
  const sent = before.scheme === c.scheme ? before.payloads : before.payloads.map((one) => `${before.scheme}:${one}`);
  const firstSentAt = before.ambiguous ? (before.firstSentAt ?? before.createdAt) : c.clean ? undefined : now;
  const windowEndsAt = firstSentAt === undefined ? undefined : Math.min(before.windowEndsAt ?? Number.POSITIVE_INFINITY, firstSentAt + c.windowMs);
  const record = seal({
    ...before,
    revision: before.revision + 1,
    ambiguous: before.ambiguous || !c.clean,
    scheme: keeps ? before.scheme : c.scheme,
    payloads: keeps ? before.payloads : [...sent.filter((one) => one !== c.fingerprint), c.fingerprint].slice(-PAYLOADS_MAX),
    raw: keeps ? before.raw : c.raw,
    firstSentAt,
    windowEndsAt,
    touchedAt: now,
    forgetAt: unsettledForgetAt(now),
    retryAt: before.retryAt,
    meta: c.meta ?? before.meta,
    request: keeps ? (before.request ?? c.request) : c.request,
    earlier:
      keeps || !before.request ? before.earlier : [...(before.earlier ?? []), { fingerprint: sent.at(-1) ?? '', request: before.request }].slice(-EARLIER_MAX),
  });
  const changed = record.payloads.length > 1;
  const sentBefore = before.ambiguous && (keeps || sent.includes(c.fingerprint));
  return {
    next: record,
    value: { do: 'drive', record, inserted: false, resumed: before.ambiguous, changed, sentBefore, otherBytes: same && !c.resumeOnly && before.raw !== c.raw },
  };
}

/** The commit that must come before the first attempt of a record that was stored clean. */
export const marked = (record: OnceRecord, windowMs: number, now: number): OnceRecord =>
  seal({ ...record, ambiguous: true, firstSentAt: now, windowEndsAt: now + windowMs, touchedAt: now });
