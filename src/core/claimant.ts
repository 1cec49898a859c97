/** What a call brings to its first look at a record, and what comes of it. Types only. */
import type { IdempotencyKey, Label, NamespaceDigest, RecordId } from './ids.js';
import type { EndedRecord, OnceRecord, PendingRecord } from './record.js';

/** Which life of which key a listing has shown: what ended before it, or begins after it, is another operation. */
export type Found = Pick<OnceRecord, 'key' | 'revision'>;

/** What a call brings to its first look. */
export interface Claimant {
  readonly id: RecordId;
  readonly ns: NamespaceDigest;
  readonly label: Label;
  readonly fingerprint: string;
  readonly scheme: string;
  readonly raw: string;
  readonly origin: string;
  /** Method, origin and path; empty for what is no HTTP request. */
  readonly endpoint: string;
  /** Where a key counts. */
  readonly scope: 'endpoint' | 'origin';
  readonly carrier: string;
  readonly dialect: string;
  /** A key to be used if a new one is needed, and the generation that it was made for. */
  readonly key: IdempotencyKey;
  readonly keyGeneration: number;
  /** `random`: good for any generation. `literal`: the caller's own, which no other may replace. */
  readonly keyKind: 'random' | 'derived' | 'literal';
  /** A strategy makes the key, and whoever races for the record sees it: a refusal that is replayed is an earlier operation's, not another context's. */
  readonly seesRaces: boolean;
  readonly repeat: 'never' | 'if-changed' | 'always';
  readonly whenChanged: 'same-key' | 'refuse';
  readonly windowMs: number;
  readonly marginMs: number;
  /** How long what is done is remembered, ms. */
  readonly keepMs: number;
  /** It waits before its first attempt, so whoever finds the record until then can tell that nothing left. */
  readonly clean: boolean;
  /** Set when it waited for another context: which end its first look showed, if it showed one ({@link lifeOf}). */
  readonly waited?: { readonly ended: string | undefined } | undefined;
  /** Its name in leases, if it ever took one. */
  readonly owner?: string | undefined;
  /** Where it holds no lock that others would see: who claims it, for how long, ms. */
  readonly lease?: { readonly owner: string; readonly ms: number } | undefined;
  /** Only goes on with what is there; starts nothing. */
  readonly resumeOnly: boolean;
  /** The record that it is to go on with, as it was found. */
  readonly found?: Found | undefined;
  readonly meta?: unknown;
  readonly request?: PendingRecord['request'];
}

export type Begun =
  | {
      readonly do: 'drive';
      readonly record: PendingRecord;
      readonly inserted: boolean;
      readonly resumed: boolean;
      readonly changed: boolean;
      readonly sentBefore: boolean;
      readonly otherBytes: boolean;
      /** It goes on under a key whose every attempt was refused, and every caller was told so. */
      readonly reused: boolean;
      /** The record said so when it was found: {@link PendingRecord.refusedOnly}. */
      readonly refusedOnly: boolean;
    }
  /** Settled for this payload, or settled while this call waited. */
  | { readonly do: 'remembered'; readonly record: EndedRecord }
  | { readonly do: 'already-settled' | 'key-burnt'; readonly record: EndedRecord }
  | { readonly do: 'mismatch' | 'expired' | 'elsewhere'; readonly record: PendingRecord }
  /** Another driver holds the lease for so long, ms. */
  | { readonly do: 'busy'; readonly record: PendingRecord; readonly ms: number }
  /** The strategy's key is wanted for this generation. */
  | { readonly do: 'rekey'; readonly generation: number }
  | { readonly do: 'corrupt' }
  | { readonly do: 'nothing' };

export interface Began {
  readonly next?: PendingRecord;
  readonly value: Begun;
}
