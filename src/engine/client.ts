/** What one client's calls share, what one call brings, and what it sends. Types only, in one file because each of them names the others. */

import type { begin } from '../core/begin.js';
import type { Found } from '../core/claimant.js';
import type { UnknownReason } from '../core/codes.js';
import type { Reading } from '../core/dialect.js';
import type { WaitReason } from '../core/event.js';
import type { IdempotencyKey, KeyedOperation, Label, Namespace, NamespaceDigest, OperationKey, RecordId } from '../core/ids.js';
import type { OperationName } from '../core/name.js';
import type { Facts } from '../core/outcome.js';
import type { OnceRecord, PendingRecord, Refusal, StoredRequest } from '../core/record.js';
import type { ReplayableRequest, RequestInput } from '../http/request.js';
import type { SendOnce } from '../http/sending.js';
import type { OnceOptions } from '../option-types.js';
import type { Settings } from '../options.js';
import type { Platform, Store, Transport } from '../ports.js';
import type { Session, Sweeps } from './client-state.js';
import type { Closing, Stop } from './closing.js';
import type { Extensions } from './extensions.js';
import type { Finished, InFlightTables } from './in-flight.js';
import type { Listener, Log, ObservableState } from './observed.js';
import type { Result } from './result.js';
import type { Start, Stopped } from './stopped.js';

export interface Client {
  readonly settings: Settings;
  /** What it was made with, for clients that are extended from it. */
  readonly made: { readonly platform: Platform; readonly options: OnceOptions };
  readonly platform: Platform;
  readonly store: Store;
  /** The store was given to this client, and not to the one that it was extended from. */
  readonly ownsStore: boolean;
  /** Clients that were extended from this one; made at the first. */
  extensions: Extensions<Client> | undefined;
  /** Memory that belongs to `store`, for records whose first write failed there. */
  readonly fallback: () => Store;
  readonly transport: Transport;
  readonly registry: Registry;
  readonly listeners: Set<Listener>;
  readonly log: Log<Client>;
  /** What its features add. */
  readonly parts: Partial<Parts>;
  /** The settings for a request, where the dialect depends on it. */
  withDialect(settings: Settings, request: { readonly method: string; readonly url: string }): Settings;
  /** Aborted by `close()`: no new attempt, every wait is cut. */
  readonly closing: Closing;
  readonly sweeps: Sweeps;
  /** The digest of the namespace that was asked for last. */
  ns: { readonly of: Namespace; readonly digest: NamespaceDigest } | undefined;
  /** Who was here; shared with the clients that are extended from this one and ask the same `namespace`. */
  readonly session: Session;
  /** Its name in leases; made at the first one. */
  owner: string | undefined;
}

/** What all clients and all copies of the package in one realm share. */
export interface Registry extends InFlightTables {
  /** What screens see, by operation key. */
  readonly lives: Map<OperationKey, ObservableState>;
  /** Screens, which look again when they are told to. `elsewhere`: what is stored may have changed in another tab. */
  readonly screens: Set<(elsewhere: boolean) => void>;
  /** Answers of settled operations, the oldest first, by operation key, idempotency key and when it began. */
  readonly answers: Map<KeyedOperation, Result>;
  /** Payloads of operations that have not settled, by operation key and idempotency key, then by fingerprint. */
  readonly payloads: Map<KeyedOperation, Map<string, Payload>>;
  /** The memory for records whose first write failed, by operation key. */
  readonly degraded: Map<OperationKey, Store>;
  /** What is left of each origin's retry budget. */
  readonly budgets: Map<string, number>;
  /** The latest call without a key that writes, by URL. */
  readonly latest: Map<string, symbol>;
  /** Diagnostics told, and endpoints that ignore keys. */
  readonly noticed: Set<string>;
  readonly ignored: Set<string>;
}

/** Where an operation is: who asks for it, under which name, and its ids. */
export interface OperationAddress {
  readonly name: OperationName;
  readonly label: Label;
  readonly namespace: Namespace;
  /** Its key in the tables of this realm. */
  readonly operationKey: OperationKey;
  /** Its id in the store, if that is no digest of the name. */
  readonly id: RecordId | undefined;
}

/** The request of a call, read. */
export interface PreparedCall {
  /** Absent when it only goes on with what is stored. */
  readonly payload: Payload | undefined;
  readonly fingerprint: string;
  readonly raw: string;
  /** The key that the call already bears. It is never replaced, and no other is put beside it. */
  readonly key?: string | undefined;
  /** It goes on only with what was agreed to go on until then, wall clock, ms. */
  readonly agreed?: number | undefined;
  /** The record that it is to go on with, as it was found. */
  readonly found?: Found | undefined;
}

export interface Call {
  readonly client: Client;
  readonly settings: Settings;
  readonly address: OperationAddress;
  /** Called once. */
  read(): Promise<PreparedCall>;
  readonly signal: AbortSignal | undefined;
  readonly request: Request | undefined;
  /** Wall clock, ms: when the call began, if that was before now. */
  readonly startedAt?: number;
  /** The lock, where it is held already. */
  readonly held?: (() => void) | undefined;
}

/** One call on its way to its outcome. */
export interface OperationRun extends Omit<OperationAddress, 'id'> {
  readonly client: Client;
  readonly settings: Settings;
  readonly id: RecordId;
  readonly ns: NamespaceDigest;
  /** Absent when there is nothing to send: a `resume` without a stored request. */
  readonly payload: Payload | undefined;
  readonly fingerprint: string;
  readonly raw: string;
  /** Aborted when no caller is left. */
  readonly stop: Stop;
  readonly deadline: number;
  readonly resumeOnly: boolean;
  readonly agreed?: number | undefined;
  readonly found?: Found | undefined;
  /** Another context holds the lock and does not release it, so this call goes on without. */
  readonly unlocked?: boolean | undefined;
  /** A key was used up in this call without an effect for it. */
  readonly again?: boolean | undefined;
  /** By how much the store's clock is ahead of this one, ms: 0 until the claim. */
  aheadMs: number;
}

/** How one attempt is to be made. */
export interface AttemptRequest {
  readonly job: OperationRun;
  readonly key: IdempotencyKey;
  /** Where the key goes, as stored. */
  readonly carrier: string;
  readonly firstSentAt: number;
  readonly number: number;
  readonly ambiguous: boolean;
  readonly resumed: boolean;
  /** Another payload may have gone out under this key. */
  readonly otherPayloads: boolean;
  readonly ms: number;
  /** Called after a slow hook: whether this driver still owns the record. */
  stillMine?(): Promise<boolean>;
  /** Called right before the transport or the effect; `false`: do not call it. */
  leaves(): boolean;
}

/** How an attempt ended, as read by the rules. */
export interface AttemptResult {
  readonly reading: Reading;
  readonly result?: Result | undefined;
  readonly cause?: unknown;
  /** The server answered, if only with a status line. */
  readonly reached: boolean;
  readonly retryAfterMs?: number | undefined;
  /** The platform may have sent the request twice unseen, so the answer may speak of one copy only. */
  readonly mayResend?: boolean | undefined;
  /** Of a refusal: a digest of its status and body. */
  readonly refusal?: string | undefined;
}

export interface Payload {
  readonly origin: string;
  /** Method, origin and path, where a key may count; empty for what is no HTTP request. */
  readonly endpoint: string;
  /** This payload with the bytes of an earlier call: the server may have compared those. */
  withBytesOf?(earlier: Payload): Payload;
  readonly prepared?: ReplayableRequest | undefined;
  /** Whether it is safe to send again: the server knows keys. Absent: it is. */
  keyed?(job: OperationRun, carrier: string): boolean;
  /** Never rejects. */
  send(a: AttemptRequest): Promise<AttemptResult>;
  /** What another context needs to send it; `undefined` when only this one can. */
  storable(headers: readonly string[]): StoredRequest | undefined;
}

/** The call that makes attempts for an operation, as features and leases see it: `AttemptLoop`. */
export interface Driver {
  readonly job: OperationRun;
  readonly start: Start;
  readonly payload: Payload;
  record: PendingRecord;
  /** What every outcome of this call says. */
  readonly facts: Facts;
  readonly refusals: {
    readonly last: Refusal | undefined;
    note(sent: AttemptResult): number | undefined;
    toStore(reason: UnknownReason): Pick<OnceRecord, 'refusedOnly' | 'refusal' | 'madeAgain'> | undefined;
  };
  /** Sends another payload of this key once; `undefined` when nothing may be sent now. */
  probe(payload: Payload): Promise<AttemptResult | undefined>;
  /** Whether a log-out, a `forget` or another driver has taken the record. */
  stillMine(): Promise<Stopped | undefined>;
  /** Waits, and tells screens and logs. */
  pause(ms: number, why: WaitReason): Promise<void>;
  /** After an attempt without an answer: waits while the device is offline; a long outage ends the call. */
  cutOff(): Promise<Stopped | undefined>;
  /** Checks, before each attempt, all that may have changed since the last one. */
  halt(): Promise<Stopped | undefined>;
  /** The checks of `halt` that need no I/O. */
  mustStop(): Stopped | undefined;
}

/** What fetch was called with. */
export interface Called {
  readonly input: string | URL | Request;
  readonly init: RequestInit;
}

/** Each is present if its feature was given to `use`. */
export interface Parts {
  /** Sends an idempotent request that has no name, and sends it again. */
  readonly retry: (client: Client, settings: Settings, called: Called, send: () => Promise<Response>) => Promise<Response>;
  /** Checks the option `origins`. */
  readonly origins: (given: OnceOptions['origins'], platform: Platform) => OnceOptions['origins'];
  /** Makes an operation of a call without a name; `undefined` where it is to be left to fetch. `by`: what named it, if anything. */
  readonly unnamed: (client: Client, settings: Settings, request: RequestInput, by: 'content' | 'call' | undefined) => Promise<unknown> | undefined;
  /** Asks the app what became of an operation, and acts on what it says; `undefined` if it does not know either. */
  readonly ask: (driver: Driver, reason: UnknownReason | 'done-elsewhere', result: Result | undefined, cause: unknown) => Promise<Finished | undefined>;
  /** Asks the app which payload a 2xx is about: the answer to the present one, if that is it. */
  readonly whose: (driver: Driver, result: Result | undefined) => Promise<Result | undefined>;
  /** Asks after the work behind the link of a 202 until it ends; `undefined` when nothing was learned. */
  readonly poll: (driver: Driver, accepted: Result | undefined) => Promise<Finished | undefined>;
  /** Derives the key, so that every context arrives at the same one. */
  readonly derive: (c: { namespace: string; operation: OperationName | undefined; generation: number }) => string;
  /** Adds to a platform what it lacks. */
  readonly platform: (platform: Platform) => Platform;
  /** Sends an attempt, in place of the transport alone. */
  readonly around: SendOnce<Client, AttemptRequest>;
  /** Decides in place of `begin` on the record as stored. Throws a TypeError where the call cannot be begun. */
  readonly begins: (job: OperationRun) => typeof begin;
  /** Calls the function that `run` was given. */
  readonly effect: (a: AttemptRequest, act: () => unknown) => unknown;
  /** Is handed each named call, and each that got a key; `operate` does the work. */
  readonly call: (call: Call, operate: (call: Call) => Promise<unknown>) => Promise<unknown>;
  /** Is told of the client when it is made. */
  readonly made: (client: Client) => void;
}
