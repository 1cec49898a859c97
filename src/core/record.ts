/** The stored form of an operation, and its codec. */
import type { IdempotencyKey, Label, NamespaceDigest, RecordId } from './ids.js';
import type { Lease } from './lease.js';
import { isObject } from './name.js';
import type { Ending } from './outcome.js';

/** The members that every version reads and relies on, then (after `sum`) optional ones. Later versions may only add members. */
interface RecordCore {
  readonly v: number;
  readonly id: RecordId;
  readonly ns: NamespaceDigest;
  readonly label: Label;
  readonly forgetAt: number;
  /** The key as it is sent. */
  readonly key: IdempotencyKey;
  /** Where the key goes: `header:Idempotency-Key`. */
  readonly carrier: string;
  readonly dialect: string;
  readonly origin: string;
  /** The key was made at random for this record. Any other key never counts as clean: an operation whose record is lost may have used it. */
  readonly random: boolean;
  readonly generation: number;
  /** Raised whenever the driver changes. A driver that finds another revision writes nothing. */
  readonly revision: number;
  /** An attempt under this key may have had an effect, as far as a context that finds the record can tell. */
  readonly ambiguous: boolean;
  /** How the present payload's fingerprint was made. Fingerprints of two schemes never equal each other, so a payload of another scheme counts as another one. */
  readonly scheme: string;
  /**
   * Fingerprints of every payload that may have gone out under this key; the last one is the present one. The payload of a call that only
   * polls a link is not among them. Of a settled record: the payload that took effect, or all that may have.
   */
  readonly payloads: readonly string[];
  /** Digest of the present payload's bytes as sent. */
  readonly raw: string;
  readonly createdAt: number;
  readonly firstSentAt?: number | undefined;
  readonly windowEndsAt?: number | undefined;
  /** When it was last written, by the store's clock, because machines have different ones. */
  readonly touchedAt: number;
  /** Checksum of everything that decides what is sent or told: all but `lease`, `meta` and `previous` (which has its own). */
  readonly sum: number;

  /** When the record was due. The first sweep that finds it due sets this, and moves `forgetAt` to the time of its second look. */
  readonly dueAt?: number | undefined;
  /** Where contexts share the store: who drives the operation, and until when an attempt may be on its way. */
  readonly lease?: Lease | undefined;
  /** Method, origin and path that the key is sent to; absent if the payload is not an HTTP request. */
  readonly endpoint?: string | undefined;
  /** The application's last refusal under this key. */
  readonly refusal?: Refusal | undefined;
  /** Another payload went out under this key before, and its caller was told of a refusal. */
  readonly refusedBefore?: boolean | undefined;
  /** Every attempt was answered by a refusal: only a copy that the platform sent unseen can have had an effect. */
  readonly refusedOnly?: boolean | undefined;
  /** The key is derived, and no record of earlier generations is left: a replayed refusal may be an earlier operation's. */
  readonly madeAgain?: boolean | undefined;
  /** Of a pending record: the ended record that it replaced, which is put back if nothing is sent. Of a retired record: what was done before it. */
  readonly previous?: EndedRecord | undefined;
}

/** Members that a record has only until it ends. */
interface WhilePending {
  /** The server asked not to be called again before this time. */
  readonly retryAt?: number | undefined;
  /** When a call gave up, because the work was still in progress after `limits.inProgressMs`. */
  readonly spentAt?: number | undefined;
  /** The link of a 202, where the state of its work can be polled. */
  readonly link?: string | undefined;
  readonly meta?: unknown;
  readonly request?: StoredRequest | undefined;
  /** Requests of payloads before the present one. */
  readonly earlier?: readonly { readonly fingerprint: string; readonly request: StoredRequest }[] | undefined;
}

/** Members that a record has only once it has ended. */
interface AtTheEnd {
  readonly ending?: Ending | undefined;
  readonly settledAt?: number | undefined;
  /** The server repeats its refusal for this key. */
  readonly sticky?: boolean | undefined;
  /** Of a retired record: nothing proves that the application used the key up, so the next call sends the same one. */
  readonly keyInUse?: boolean | undefined;
  readonly answer?: StoredAnswer | undefined;
}

type Without<Members> = { readonly [Name in keyof Members]?: undefined };

/** Not settled. */
export interface PendingRecord extends RecordCore, WhilePending, Without<AtTheEnd> {
  readonly state: 'pending';
}

/**
 * `settled`: done, kept as a tombstone. `retired`: ended without an effect (rejected), or forgotten. What is left tells the next
 * operation its generation or its key, and tells waiting calls how this one ended.
 */
export interface EndedRecord extends RecordCore, AtTheEnd, Without<WhilePending> {
  readonly state: 'settled' | 'retired';
}

export type OnceRecord = PendingRecord | EndedRecord;

/** A refusal by the application. */
export interface Refusal {
  readonly digest: string;
  /** When it first came after the last attempt that may have had an effect, by the store's clock, because machines have different ones. */
  readonly at: number;
  /** A driver has gone on since then and has not stored how its attempts ended. */
  readonly open?: boolean | undefined;
}

/** The customer's consent that an operation goes on when its page is gone. */
export interface Consent {
  /** Wall clock, ms. */
  readonly until: number;
  /** The request is stored only because of this consent, and is removed with it. */
  readonly alone: boolean;
}

/** With `keep.request` or `background`: what another context needs to send the request again. */
export interface StoredRequest extends Partial<Readonly<Record<'mode' | 'credentials' | 'redirect', string | undefined>>> {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | undefined;
  /** The body stands for bytes, in base64. */
  readonly base64?: boolean | undefined;
  /** Another context may send it by itself. */
  readonly consent?: Consent | undefined;
}

/** A stored answer: an HTTP answer (`base64`: its body stands for bytes), or the value of a function given to `run`, as JSON (absent for `undefined`). */
export type StoredAnswer =
  | { readonly json?: string | undefined }
  | {
      readonly status: number;
      readonly statusText: string;
      readonly headers: readonly (readonly [string, string])[];
      readonly body: string | null;
      readonly base64?: boolean | undefined;
    };

type Unsealed = Omit<PendingRecord, 'sum'> | Omit<EndedRecord, 'sum'>;

/** A copy with its members sorted, for the sum: a store may change the order of members, and may drop those that are `undefined`. */
function sorted(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted((value as Record<string, unknown>)[name])]),
  );
}

/** Whether JSON would write `null` for the value, as for an absent member. A record with such a value gets no valid sum; endless times, see {@link finite}. */
const hasNoJson = (value: unknown): boolean => (typeof value === 'number' ? !Number.isFinite(value) : typeof value === 'function' || typeof value === 'symbol');
/** `limits.keyWindowMs` and `keep.forMs` may be endless; an endless time is stored as absent or `null`. */
const finite = (time: number | undefined): number | undefined => (time === Infinity ? undefined : time);

/** The number of members that every sum covers: those that the first builds had. */
const FIRST_FIELDS = 29;

/**
 * FNV-1a, 32 bit (Fowler, Noll, Vo; IETF draft-eastlake-fnv). A flipped bit in a key would mean a second effect. Beyond the first
 * {@link FIRST_FIELDS} members, absent ones at the end do not count, so that earlier records keep their sum. From 0.1.0 on no member
 * may be added: a version that does not know it would take the record for damaged (docs/versioning.md).
 */
function checksum(r: Unsealed): number {
  const fields = [
    r.id,
    r.ns,
    r.label,
    r.state,
    r.key,
    r.carrier,
    r.dialect,
    r.origin,
    r.random,
    r.generation,
    r.revision,
    r.ambiguous,
    r.scheme,
    r.payloads,
    r.raw,
    r.createdAt,
    r.firstSentAt,
    finite(r.windowEndsAt),
    r.touchedAt,
    finite(r.forgetAt),
    r.ending,
    r.settledAt,
    r.sticky,
    r.retryAt,
    r.spentAt,
    r.link,
    r.request,
    r.earlier,
    r.answer,
    // Added after the first builds.
    r.endpoint,
    r.keyInUse,
    r.refusal,
    r.refusedOnly,
    r.madeAgain,
    r.dueAt,
    r.refusedBefore,
  ];
  if (fields.some(hasNoJson)) return Number.NaN;
  while (fields.length > FIRST_FIELDS && fields.at(-1) == null) fields.pop();
  const text = JSON.stringify(sorted(fields));
  // A local constant: where a package has a class that extends String, as ioredis 6 has, V8 would look the method up for each character,
  // which is eight times as slow. A constant of the module would not help, because in a bundle it is a variable.
  const { charCodeAt } = String.prototype;
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ charCodeAt.call(text, at), 0x01000193);
  return sum >>> 0;
}

export const RECORD_VERSION = 1;
/** The `scheme` of the fingerprints that this version makes. Another way to compute them needs another name. */
export const SCHEME = 'sha256';

/** Records that were made here. They are frozen, and what they contain is only read, so if a store in memory gives one back, its sum is right. */
const sealed = new WeakSet<object>();

/** A record ready to be stored. */
export function seal<Kind extends Unsealed>(record: Kind): Kind & { readonly sum: number } {
  const made = Object.freeze({ ...record, sum: checksum(record) });
  // The sum of a record that JSON cannot hold is NaN, which equals none.
  if (made.sum >= 0) sealed.add(made);
  return made;
}

/** The record as read, of whatever version from 1 on; `undefined` if it is absent or damaged. Members that a newer version added are kept. */
export function readRecord(stored: unknown): OnceRecord | undefined {
  const r = stored as OnceRecord | undefined;
  try {
    const sound = r && r.v > 0 && (sealed.has(r) || r.sum === checksum(r)) && /^(pending|settled|retired)$/.test(r.state) && typeof r.forgetAt === 'number';
    return sound && typeof r.key === 'string' && Array.isArray(r.payloads) ? r : undefined;
  } catch {
    return undefined;
  }
}
