/** Types of what one client's calls share, what one call brings, and what it sends. They are in one file because they refer to each other. */
import type { BeginRule, Begun, Found, Look } from '../core/claimant.js';
import type { UnknownReason } from '../core/codes.js';
import type { Reading } from '../core/dialect.js';
import type { IdempotencyKey, KeyedOperation, Namespace, NamespaceDigest, OperationKey, RecordId } from '../core/ids.js';
import type { Outcome } from '../core/outcome.js';
import type { Seen } from '../core/ownership.js';
import type { OnceRecord, PendingRecord } from '../core/record.js';
import type { Hooks } from '../http/hooks.js';
import type { Called, ReplayableRequest, RequestInput } from '../http/request.js';
import type { SendOnce } from '../http/transport-result.js';
import type { OnceInit, OnceOptions } from '../option-types.js';
import type { Settings } from '../options.js';
import type { Platform, Store, Transport } from '../ports.js';
import type { Session, Sweeps } from './client-state.js';
import type { Extensions } from './extensions.js';
import type { Listener, Log, LogTables, Named } from './happened.js';
import type { Anew, Ended, Finished, InFlightTables } from './in-flight.js';
import type { Result } from './result.js';
import type { ScreenTables } from './shown-state.js';
import type { StopSignal, StopSource } from './stop-signal.js';
import type { Refusals, Start } from './stopped.js';
import type { Sends, StoredAnswers, StoredRequests } from './stored-parts.js';

export interface Client {
  readonly settings: Settings;
  /** What this client was made with, for clients that are extended from it. */
  readonly made: { readonly platform: Platform; readonly options: OnceOptions };
  readonly platform: Platform;
  readonly store: Store;
  /** The store belongs to the client that this one was extended from. */
  readonly borrowsStore?: true;
  /** Clients that were extended from this one; `undefined` until there is one. */
  extensions?: Extensions<Client>;
  /** Memory for records that `store` did not take. */
  readonly fallback: () => Store;
  readonly transport: Transport;
  readonly registry: Registry;
  readonly listeners: Set<Listener>;
  readonly log: Log<Client>;
  /** What the client's features add. */
  readonly parts: Partial<Parts>;
  /** Aborted by `close()`: then no attempt begins any more, and every wait ends. */
  readonly closing: StopSource;
  readonly sweeps: Sweeps;
  /** The namespace that was last digested, and its digest. */
  ns?: { readonly of: Namespace; readonly digest: NamespaceDigest };
  /** What was seen of the user; shared with clients that are extended from this one and ask the same `namespace`. */
  readonly session: Session;
  /** The client's name in leases, made for its first lease. */
  owner?: string | undefined;
}

/** What all clients and all copies of the package in one realm share. */
export interface Registry extends InFlightTables, LogTables, ScreenTables<Client> {
  /**
   * Answers of settled operations, the oldest first, by operation key, idempotency key and the time when the operation began. Each is in a
   * box that is emptied when it leaves the table: until its next full collection, V8 keeps what a Map held whenever it grew or shrank.
   */
  readonly answers: Map<KeyedOperation, Result[]>;
  /** Payloads of operations that have not settled, by operation key and idempotency key, then by fingerprint. */
  readonly payloads: Map<KeyedOperation, Map<string, Payload>>;
  /** The memory for records whose first write failed, by operation key. */
  readonly degraded: Map<OperationKey, Store>;
  /** What is left of each origin's retry budget. */
  readonly budgets: Map<string, number>;
  /** Endpoints that ignore keys. */
  readonly ignored: Map<string, true>;
  /** The lease that a call leaves in the record while its function goes on. Set by the first `run`. */
  outlives?: ((drive: Driver) => OnceRecord['lease']) | undefined;
  /** What the owners of such leases end with, whichever client of this realm left them. Set by the first such lease. */
  outlived?: string | undefined;
}

/** Where an operation is found: its user, its name, and its ids. */
export interface OperationAddress extends Named {
  readonly namespace: Namespace;
  /** Its key in the tables of this realm. */
  readonly operationKey: OperationKey;
  /** Its id in the store, unless that is a digest of the name. */
  readonly id: RecordId | undefined;
  /** The name of its lock. */
  readonly lock: string;
}

/** The request of a call, once it has been read. */
export interface PreparedCall {
  /** Absent when the call only goes on with what is stored, and later if nothing is stored that can be sent. */
  readonly payload: Payload | undefined;
  readonly fingerprint: string;
  readonly raw: string;
  /** The key that the caller's request already has. It is never replaced, and no other is added. */
  readonly key?: string | undefined;
  /** A background call: it sends only a request that the customer agreed may go on until this time (wall clock, ms). */
  readonly agreed?: number | undefined;
  /** The record that the call is to go on with, as a listing showed it. */
  readonly found?: Found | undefined;
  /** If the call goes on with what is stored: what decides on the record in place of `begin`, and, for a call without a payload, what is sent. */
  readonly resumes?: { readonly begin: BeginRule; sends?(job: OperationRun, record: OnceRecord, earlier?: Payload): Sends<Payload, Settings> } | undefined;
}

export interface Call {
  readonly client: Client;
  readonly settings: Settings;
  readonly address: OperationAddress;
  /** Reads the request. Called once. */
  read(): Promise<PreparedCall>;
  readonly signal: AbortSignal | undefined;
  readonly request?: Request | undefined;
  /** Wall clock, ms: when the call began, if that was before now. */
  readonly startedAt?: number;
  /** {@link OperationRun.logOuts}, if the call began before now. */
  readonly logOuts?: number | undefined;
  /** The release of the operation's lock, if the caller holds it already. */
  readonly held?: (() => void) | undefined;
  /** What the record showed when the caller decided to wait for the operation under way. */
  readonly lookBefore?: Look | undefined;
}

/** One call on its way to its outcome. */
export interface OperationRun extends Omit<OperationAddress, 'id'>, Omit<PreparedCall, 'key'> {
  readonly client: Client;
  readonly settings: Settings;
  readonly id: RecordId;
  readonly ns: NamespaceDigest;
  /** Aborted when no caller is left. */
  readonly stop: StopSignal;
  readonly deadline: number;
  readonly resumeOnly: boolean;
  /** The call holds a lock that other contexts respect. */
  readonly locked?: boolean | undefined;
  /** Set if the call had to wait for another context: what its look before that showed. */
  readonly lookBefore?: Look | undefined;
  /** An earlier key of this call was used up without an effect for this call. */
  readonly again?: Anew | undefined;
  readonly seen: Seen;
  /** How often its user had logged out when the call began. Once that is more, the call begins nothing. */
  readonly logOuts: number;
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
  readonly reached?: boolean;
  readonly retryAfterMs?: number | undefined;
  /** The platform may have sent the request twice unseen, so the answer may be about one copy only. */
  readonly mayResend?: boolean | undefined;
  /** Of a refusal: a digest of its status and body. */
  readonly refusal?: string | undefined;
}

export interface Payload {
  readonly origin: string;
  /** Method, origin and path, which is where a key counts unless the dialect says otherwise; empty if this is not an HTTP request. */
  readonly endpoint: string;
  /** This payload with the bytes of an earlier call, because the server may compare new bytes with those. */
  withBytesOf?(earlier: Payload): Payload;
  readonly prepared?: ReplayableRequest | undefined;
  /** Whether the server knows keys, so that sending again is safe. Absent: it does. */
  keyed?(job: OperationRun, carrier: string): boolean;
  /** Never rejects. */
  send(attempt: AttemptRequest): Promise<AttemptResult>;
  /** How its results are stored, if not by the client's feature. */
  readonly answers?: StoredAnswers<OperationRun> | undefined;
}

/** The call that makes attempts for an operation, and what it knows. `attempt-loop.ts` has its functions. */
export interface Driver {
  readonly job: OperationRun;
  readonly start: Start;
  record: PendingRecord;
  /** An attempt under this key may have had its effect, as far as this driver knows. Never set back. */
  ambiguous: boolean;
  /** An attempt with the present payload, by any driver, may have had its effect. */
  sameAmbiguous: boolean | undefined;
  readonly refusals: Refusals;
  attempts: number;
  /** When this call first saw the device offline; `undefined` while it is online. */
  offlineSince?: number | undefined;
  /** The server has answered an attempt of this call, if only with a status line. */
  reached?: boolean | undefined;
  mayResend?: boolean | undefined;
  /** This call has waited, so another context may have changed the record. */
  waited?: boolean;
  /** The answer to the last attempt that left; `undefined` if that attempt got none. */
  last?: Result | undefined;
  /** Noted at the start: a log-in that moves the record meanwhile does not change where its key was kept. */
  readonly storedIn: Outcome['storedIn'];
}

/** What features add to a client. Each part is present if its feature was given to `use`. */
export interface Parts {
  /** Sends an idempotent request without a name, and repeats it if it fails. */
  readonly retry: (client: Client, settings: Settings, called: Called, send: () => Promise<Response>) => Promise<Response>;
  /** Checks the option `origins`. */
  readonly origins: (given: OnceOptions['origins'], platform: Platform) => OnceOptions['origins'];
  /** Makes an operation of a call without a name; `undefined` leaves the call to fetch. `once`: the option as given. */
  readonly unnamed: (client: Client, settings: Settings, request: RequestInput, once: OnceInit | undefined) => Promise<unknown> | undefined;
  /** Asks the app what became of an operation, and acts on what it says; `undefined` if it does not know either. */
  readonly ask: (driver: Driver, reason: UnknownReason | 'done-elsewhere', result: Result | undefined, cause?: unknown) => Promise<Finished | undefined>;
  /** Asks the app which payload had the effect that a 2xx reports. If it was the present payload, gives the answer to it. */
  readonly whose: (driver: Driver, result: Result | undefined) => Promise<Result | undefined>;
  readonly hooks: Hooks<AttemptRequest, OperationRun>;
  /** Stores requests, and makes payloads of those that are stored. */
  readonly requests: StoredRequests<Payload, OperationRun, Driver>;
  /** Gives answers to calls whose operation is done: stored ones, or the server's replay (`readAgain`; `undefined` if there is none, or asking is not safe). */
  readonly answers: StoredAnswers<OperationRun> & { readAgain(job: OperationRun, record: OnceRecord): Promise<Ended | undefined> };
  /** A payload for polling the link of a record that has no request; `undefined` if it has no link. */
  readonly linked: (record: OnceRecord) => Payload | undefined;
  /** Polls the link of a 202 until the work behind it ends; `undefined` if nothing was learned. */
  readonly poll: (driver: Driver, accepted: Result | undefined, earlier?: readonly [fingerprint: string, payload: Payload]) => Promise<Finished | undefined>;
  /** Begins with a derived key, so that every context arrives at the same one. */
  readonly derive: (job: OperationRun) => Promise<Begun>;
  /** Adds to the platform what it lacks. */
  readonly platform: (platform: Platform) => Platform;
  /** Sends an attempt, in place of the transport alone. */
  readonly around: SendOnce<Client, AttemptRequest>;
  /** Gives what decides on the stored record in place of `rule`. Throws a TypeError if the call cannot begin. */
  readonly begins: (job: OperationRun, rule: BeginRule) => BeginRule;
  /** Calls the function given to `run`. */
  readonly effect: (a: AttemptRequest, act: () => unknown) => unknown;
  /** Gets each call that becomes an operation; `operate` does the work. */
  readonly call: (call: Call, operate: (call: Call) => Promise<unknown>) => Promise<unknown>;
  /** Called when the client has been made. */
  readonly made: (client: Client) => void;
}
