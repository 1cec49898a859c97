/** What a call brings to its first look at a record, and what the look decides. Types only. */
import type { Dialect } from './dialect.js';
import type { IdempotencyKey, Label, NamespaceDigest, RecordId } from './ids.js';
import type { EndedRecord, OnceRecord, PendingRecord } from './record.js';

/** Which operation a listing has shown. The revision tells it from earlier and later operations under the same key. */
export type Found = Pick<OnceRecord, 'key' | 'revision'>;

/** What a look at a record showed. `ended`: the ended operation, if any ({@link endedBefore}). */
export interface Look {
  readonly ended?: string | undefined;
}

/** What a call brings to its first look. */
export interface Claimant {
  readonly id: RecordId;
  readonly ns: NamespaceDigest;
  readonly label: Label;
  readonly fingerprint: string;
  readonly raw: string;
  readonly origin: string;
  /** Method, origin and path; empty for what is not an HTTP request. */
  readonly endpoint: string;
  /** Where the server looks a key up. */
  readonly scope: Dialect['scope'];
  readonly carrier: string;
  readonly dialect: string;
  /** The key to use if a new one is needed. */
  readonly key: IdempotencyKey;
  /** The generation that a derived key was made for; absent while no key has been made yet. */
  readonly keyGeneration?: number | undefined;
  /** `random`: good for any generation. `derived`: made for one generation. `literal`: chosen by the app, so it can't be replaced. */
  readonly keyKind: 'random' | 'derived' | 'literal';
  /** The store is atomic, so that no other context can race for a derived key unseen: a replayed refusal is then an earlier operation's. */
  readonly atomic: boolean;
  readonly repeat: 'never' | 'if-changed' | 'always';
  readonly whenChanged: 'same-key' | 'refuse';
  /** Unlimited for a resumed call that does not know its request yet, and so not its dialect: then only the stored window counts. */
  readonly keyWindowMs: number;
  readonly attemptMs: number;
  /** How long the call takes at most, ms. */
  readonly totalMs: number;
  /** How long a settled operation is remembered, ms. */
  readonly keepMs: number;
  /**
   * This claim makes no record ambiguous: a new one is stored clean, and a clean one stays so. Set if the device is offline, so that the call waits
   * before its first attempt, and for a resume. Whoever finds the record knows that nothing was sent; the driver marks it before its first attempt.
   */
  readonly clean: boolean;
  /** Set if the call waited for another context: what its look before that showed. */
  readonly lookBefore?: Look | undefined;
  /** The client's name in leases, if it has one. */
  readonly owner?: string | undefined;
  /** How long a lease to take, ms, if others share the store. */
  readonly leaseMs?: number | undefined;
  /** The call holds a lock that others respect. */
  readonly locked?: boolean | undefined;
  /** The record that the call is to go on with, as a listing showed it. */
  readonly found?: Found | undefined;
  readonly meta?: unknown;
  readonly request?: PendingRecord['request'];
}

/** Decides what a call does with what is stored. Called within one atomic update. */
export type BeginRule = (stored: unknown, call: Claimant, now: number, storeNow: number) => Begun;

export type Begun = {
  /** The ended record to put back, because nothing of the one that replaced it was sent. */
  readonly back?: OnceRecord | undefined;
  /** Set by the claim, not by a rule: the record that it has stored. */
  readonly wrote?: OnceRecord | undefined;
} & (
  | {
      readonly do: 'drive';
      /** To be stored. */
      readonly record: PendingRecord;
      readonly inserted?: boolean;
      readonly resumed: boolean;
      readonly changed: boolean;
      readonly sentBefore?: boolean;
      readonly otherBytes?: boolean | undefined;
      /** A new operation under the key of a refused one: every attempt under it was refused, and every caller was told so. */
      readonly reused?: boolean;
      /** The `refusedOnly` of the record when it was found: {@link PendingRecord.refusedOnly}. */
      readonly refusedOnly?: boolean | undefined;
      /**
       * The adopted record without the present payload. It is stored if it turns out that nothing of that was sent. Its lease is that of an
       * earlier driver that has died or sleeps, whose last attempt may still be on its way.
       */
      readonly found?: PendingRecord | undefined;
    }
  /** The operation has ended, perhaps with another payload. */
  | { readonly do: 'remembered'; readonly record: EndedRecord }
  | { readonly do: 'key-burnt'; readonly record: EndedRecord }
  | { readonly do: 'mismatch'; readonly record: PendingRecord }
  | { readonly do: 'key-expired'; readonly record: PendingRecord }
  | { readonly do: 'elsewhere'; readonly record: PendingRecord }
  /** Another driver holds the lease for another `ms`. */
  | { readonly do: 'busy'; readonly record: PendingRecord; readonly ms: number }
  /** The key must be made for this generation; then the caller begins again. */
  | { readonly do: 'rekey'; readonly generation: number; readonly record?: undefined }
  | { readonly do: 'corrupt'; readonly record?: undefined }
  /** This call begins nothing. `record`: an ended one, which is not the end of this call's operation. */
  | { readonly do: 'nothing'; readonly record?: EndedRecord }
);
