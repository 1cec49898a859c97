/** The stored form of an operation, and its codec. */
import type { IdempotencyKey, Label, NamespaceDigest, RecordId } from './ids.js';
import type { Ending } from './outcome.js';

/** The frozen core, which every version reads and drives, and what later versions may add. Versions only add. */
interface RecordCore {
  readonly v: number;
  readonly id: RecordId;
  readonly ns: NamespaceDigest;
  readonly label: Label;
  readonly forgetAt: number;
  /** As it went on the wire. */
  readonly key: IdempotencyKey;
  /** Where the key goes: `header:Idempotency-Key`. */
  readonly carrier: string;
  readonly dialect: string;
  readonly origin: string;
  /** Minted at random for this record. No other key is ever clean: a record lost with its storage may have used it. */
  readonly random: boolean;
  readonly generation: number;
  /** Raised by every change of driver; a write that finds another one changes nothing. */
  readonly revision: number;
  /** An attempt under this key may have had an effect, as far as whoever finds the record can tell. */
  readonly ambiguous: boolean;
  /** How the fingerprints were taken. One of an unknown scheme counts as changed, never as absent. */
  readonly scheme: string;
  /**
   * Fingerprints of every payload that may have gone out under this key; the last one is the present one. Of a settled record:
   * the payload that took effect, or all that may have.
   */
  readonly payloads: readonly string[];
  /** Digest of the present payload's bytes as sent. */
  readonly raw: string;
  readonly createdAt: number;
  readonly firstSentAt?: number | undefined;
  readonly windowEndsAt?: number | undefined;
  /** Wall clock of the last write. */
  readonly touchedAt: number;
  /** Of everything that decides what is sent or told: all but `lease`, `meta` and `previous`, which has its own. */
  readonly sum: number;

  /**
   * When it could first be forgotten, of a record that a sweep found due once already: `forgetAt` is then the time of the second
   * look.
   */
  readonly dueAt?: number | undefined;
  /** Who drives it, and until when by the store's clock, where no lock manager is shared. */
  readonly lease?: { readonly owner: string; readonly until: number } | undefined;
  /** Where its key has been: method, origin and path; absent for what is no HTTP request. */
  readonly endpoint?: string | undefined;
  /** The application's last refusal under this key: a digest of its status and body, and when it first came. */
  readonly refusal?: Refusal | undefined;
  /** Another payload went out under this key before, and its caller was told of a refusal. */
  readonly refusedBefore?: boolean | undefined;
  /** Every attempt was answered by a refusal: only a copy that the platform sent unseen can have had an effect. */
  readonly refusedOnly?: boolean | undefined;
  /** A derived key without memory of earlier generations: a replayed refusal may be an earlier operation's. */
  readonly madeAgain?: boolean | undefined;
}

/** What a record has only until it ends. */
interface WhilePending {
  /** The server asked to come back no earlier. */
  readonly retryAt?: number | undefined;
  /** When a whole budget of waiting for work in progress was used up in vain. */
  readonly spentAt?: number | undefined;
  /** Where the work that a 202 spoke of can be asked after. */
  readonly link?: string | undefined;
  readonly meta?: unknown;
  readonly request?: StoredRequest | undefined;
  /** Requests of payloads before the present one. */
  readonly earlier?: readonly { readonly fingerprint: string; readonly request: StoredRequest }[] | undefined;
  /** What the name stood for before; it comes back if this one turns out never to have been sent. */
  readonly previous?: EndedRecord | undefined;
}

/** What a record has only from its end on. */
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
 * `settled`: done, kept as a tombstone. `retired`: ended without an effect (rejected, forgotten); what is left tells the next one
 * its generation or its key, and waiters how it ended.
 */
export interface EndedRecord extends RecordCore, AtTheEnd, Without<WhilePending> {
  readonly state: 'settled' | 'retired';
}

export type OnceRecord = PendingRecord | EndedRecord;

export interface Refusal {
  readonly digest: string;
  /** When it first came since an attempt that may have had an effect, by the store's clock: machines have different ones. */
  readonly at: number;
  /** A driver has gone on since, and has not said how its attempts ended. */
  readonly open?: boolean | undefined;
}

/** That an operation goes on when its page is gone. */
export interface Consent {
  /** Wall clock, ms. */
  readonly until: number;
  /** The request is stored for this alone, and goes with it. */
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

/** An answer at rest: what an effect gave, as JSON (absent for `undefined`), or an HTTP answer. `base64`: its body stands for bytes. */
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

/** A member that is `undefined` counts as absent, and members count in an order of their own: a store may drop the one and change the other. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]));
}

/** JSON would write `null` for it, as for an absent member. That is right of a time without an end: of `limits.keyWindowMs`, of `keep.forMs`. */
const hasNoJson = (value: unknown): boolean => (typeof value === 'number' ? !Number.isFinite(value) : typeof value === 'function' || typeof value === 'symbol');
const finite = (time: number | undefined): number | undefined => (time === Infinity ? undefined : time);

/** The members that a sum always has, of which the first builds knew. */
const FIRST_FIELDS = 29;

/**
 * FNV-1a, 32 bit (Fowler, Noll, Vo; IETF draft-eastlake-fnv): a flipped bit in a key would be a second effect. After
 * {@link FIRST_FIELDS} members that are absent, or `null`, at the end do not count: earlier records keep their sum. From 0.1.0 on no member is added: a
 * version that does not know it would take the record for damaged, and could not drive it (docs/versioning.md).
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
    sorted(r.ending),
    r.settledAt,
    r.sticky,
    r.retryAt,
    r.spentAt,
    r.link,
    sorted(r.request),
    sorted(r.earlier),
    sorted(r.answer),
    // What came after the first builds.
    r.endpoint,
    r.keyInUse,
    sorted(r.refusal),
    r.refusedOnly,
    r.madeAgain,
    r.dueAt,
    r.refusedBefore,
  ];
  if (fields.some(hasNoJson)) return Number.NaN;
  while (fields.length > FIRST_FIELDS && fields.at(-1) == null) fields.pop();
  const text = JSON.stringify(fields);
  // V8 would look up the method for each character where a package has a class that extends String, as ioredis 6 has: eight times as slow.
  // It would do so, too, with a constant of the module, which is a variable in a bundle.
  const { charCodeAt } = String.prototype;
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ charCodeAt.call(text, at), 0x01000193);
  return sum >>> 0;
}

type Bare<Kind> = Kind extends unknown ? Omit<Kind, keyof WhilePending | 'dueAt' | 'lease' | 'answer'> : never;

/** Without what a stranger could read, and without what only matters while it is pending. */
export function bare<Kind extends OnceRecord>({
  dueAt: __________,
  previous: _________,
  lease: ________,
  meta: _,
  request: __,
  earlier: ___,
  retryAt: ____,
  spentAt: _____,
  link: ______,
  answer: _______,
  ...core
}: Kind): Bare<Kind> {
  return core as Bare<Kind>;
}

export const RECORD_VERSION = 1;

/** A record ready to be stored. */
export const seal = <Kind extends Unsealed>(record: Kind): Kind & { readonly sum: number } => ({ ...record, sum: checksum(record) });

/** The record as read, or `undefined` if it is absent or damaged. Fields that a newer version added stay. */
export function readRecord(stored: unknown): OnceRecord | undefined {
  const r = stored as OnceRecord | undefined;
  try {
    const sound = r && r.v >= RECORD_VERSION && r.sum === checksum(r) && /^(pending|settled|retired)$/.test(r.state) && typeof r.forgetAt === 'number';
    return sound && typeof r.key === 'string' && Array.isArray(r.payloads) ? r : undefined;
  } catch {
    return undefined;
  }
}
