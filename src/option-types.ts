/** The options of a client and of one call. Types only; `options.ts` has their defaults and checks. */
import type { UnknownReason } from './core/codes.js';
import type { Dialect } from './core/dialect.js';
import type { OperationName } from './core/name.js';
import type { Outcome } from './core/outcome.js';
import type { Verdict } from './core/verdict.js';
import type { Connectivity, Store } from './ports.js';

/** Anything that JSON can say. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [k: string]: Json | undefined };

/** Makes an idempotency key. A new `generation` wants a new key. */
export type KeyStrategy = (c: {
  namespace: string;
  operation: OperationName | undefined;
  fingerprint: string;
  generation: number;
  now: number;
}) => string | Promise<string>;

/** What the `headers` hook gets to sign: an attempt's request as it goes out. */
export interface Leaving {
  readonly attempt: number;
  readonly resumed: boolean;
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** The same bytes at every attempt, the key included where it goes into the body. */
  readonly body: string | Uint8Array | Blob | undefined;
}

/** What a `verdict` hook sees of an answer. */
export interface Evidence {
  readonly attempt: number;
  readonly ambiguous: boolean;
  /** It is not the answer to the request, but what is behind the link of its 202. */
  readonly polled: boolean;
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; `undefined` when it is none. */
  readonly json: unknown;
}

/** What `reconcile` is asked with. */
export interface ReconcileQuestion {
  operation: OperationName;
  key: string;
  /** Wall clock, ms. */
  firstSentAt: number;
  reason: UnknownReason | 'done-elsewhere';
  response: Response | undefined;
  signal: AbortSignal;
}

/**
 * Finds out elsewhere what became of an operation. `'done'` or the answer: it took effect. `'none'`: it did not, *and can
 * not any more*. `'unknown'`: still nobody knows. Of Responses only a 2xx with a body that can be read proves anything, and
 * not a 202, a page in HTML or a document whose status is a failure; the rest counts as `'unknown'`, and the diagnostic
 * `reconcile-unproven` says so. It is only asked, and believed, while the user whose operation it is is logged in.
 * A `run` never resolves with the Response: it rejects with ERR_ONCE_ALREADY_DONE, whose `response` it is.
 */
export type Reconcile = (c: ReconcileQuestion) => Promise<Response | 'done' | 'none' | 'unknown'>;

/** What is stored of an operation beside its key, and for how long. */
export interface Keep {
  /** Store the request, so that another page load or process can send it again. @default false */
  request?: boolean | undefined;
  /**
   * Where the answer is kept for the next call with this name: on disk only where it has a namespace or runs on a server, and
   * without headers that look like credentials. @default 'memory'; 'disk' for `run`, and on a server whose store outlives the process
   */
  response?: 'memory' | 'disk' | false | undefined;
  /** Request headers to store besides Content-Type, Accept, Accept-Language and If-Match. @default [] */
  headers?: readonly string[] | undefined;
  /** How long a settled operation is remembered, ms. @default 2_592_000_000 (30 days) */
  forMs?: number | undefined;
}

/** Every time in ms. */
export interface Limits {
  /** Attempts of one call, the first included; waiting for work in progress does not count. @default 5 */
  attempts?: number | undefined;
  /** One attempt, its body included. @default 30_000 */
  attemptMs?: number | undefined;
  /** The whole call: attempts, waits, hooks and look-ups. Writing down what it came to may take a second more. @default 120_000 */
  totalMs?: number | undefined;
  /** Waiting for work in progress. @default 60_000 */
  inProgressMs?: number | undefined;
  /** How long a call waits for the network when the device says that it is offline: before its first attempt, and after one without an answer, when it ends. @default 3_000 */
  offlineWaitMs?: number | undefined;
  /** How long the server remembers a key. @default the dialect's; 86_400_000 (24 h) for `generic` */
  keyWindowMs?: number | undefined;
  /** The largest answer that is read before it is handed over, and the largest stream that is buffered, bytes. @default 1_048_576 */
  bodyBytes?: number | undefined;
}

/** Options of one operation. Explicit `undefined` means absent. */
export interface OperationOptions {
  /** The stable name of what is intended: `['pay', cart.id]`. */
  operation?: OperationName | undefined;
  /** The idempotency key, or how to make one. @default a random UUID v4 */
  key?: string | KeyStrategy | undefined;
  /** What must not differ between attempts, instead of the body's bytes. `undefined`: the bytes, after all. */
  fingerprint?: ((request: { method: string; url: string; body: unknown }) => unknown) | undefined;
  /** Something for a banner after a reload, at most 1 kB of JSON: `{ total: '€42.00' }`. */
  meta?: Json | undefined;
  /** What the same name means after it settled: the same effect, another if the payload changed, always another. @default 'never' */
  repeat?: 'never' | 'if-changed' | 'always' | undefined;
  /** Reads an answer before anything else does; `undefined` leaves it to the rules. */
  verdict?: ((e: Evidence) => Verdict | undefined) | undefined;
  keep?: Keep | undefined;
  limits?: Limits | undefined;
  /** When the same is under way: share its answer, or reject with ERR_ONCE_BUSY. @default 'join' */
  whenBusy?: 'join' | 'reject' | undefined;
  /** When another payload comes after an unknown outcome: under the same key, or ERR_ONCE_MISMATCH. @default 'same-key'; 'refuse' where the server is known to answer no mismatch */
  whenChanged?: 'same-key' | 'refuse' | undefined;
  /**
   * What a 202 means. `'settle'`: it is the answer, to a repeated request too. `'poll'`: work that goes on behind its link, which
   * is asked until the work ends. Without either, a 202 after a lost answer is asked again: its work may have yet to fail.
   *
   * @default 'settle' for a first attempt
   */
  accepted?: 'settle' | 'poll' | undefined;
  /** Finds out elsewhere what became of an operation; needs the feature `reconciling()`. */
  reconcile?: Reconcile | undefined;
  /** Called before every attempt with the request as it goes out, key included: what it returns is set over the call's own headers. */
  headers?: ((a: Leaving) => NonNullable<RequestInit['headers']> | Promise<NonNullable<RequestInit['headers']>>) | undefined;
  /** Called once with how the operation ended, though the call itself was aborted. */
  onOutcome?: ((outcome: Outcome) => void) | undefined;
}

/** A schema that parses a remembered result (standardschema.dev, version 1). */
export interface StandardSchema<T> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
  };
}

/** Options of `run`. */
export interface RunOptions<T> extends Omit<OperationOptions, 'verdict' | 'reconcile' | 'headers' | 'operation' | 'accepted'> {
  /** Reads how the effect ended. @default a value is fresh, a throw is ambiguous, a Response is read as `fetch` reads its answers */
  verdict?: ((end: RunEnd<T>) => Verdict | undefined) | undefined;
  signal?: AbortSignal | undefined;
  /** Parses a result that was remembered as JSON. */
  result?: StandardSchema<T> | undefined;
}

/** How an effect ended. */
export type RunEnd<T> = { readonly value: T } | { readonly error: unknown };

/** Something that a client can do beyond the named call: made by a function of this package, such as `polling()`. */
export interface Feature {
  readonly name: string;
  /** @internal */
  readonly parts: object;
}

/** Options of a client. */
export interface OnceOptions extends Omit<OperationOptions, 'operation' | 'meta' | 'key'> {
  /** Whose operations these are; a function is asked at every call and before every attempt. */
  namespace?: string | (() => string) | undefined;
  /** What it can do beyond the named call: `[retrying(), polling()]`. @default none; in `oncefetch/node` and React Native all of them */
  use?: readonly Feature[] | undefined;
  /** @default IndexedDB, else localStorage, else memory */
  store?: Store | undefined;
  /** How the server speaks idempotency; `'none'`: it does not, so it gets no key, and what may have had its effect is not sent again. @default generic */
  dialect?: Dialect | 'none' | ((request: { method: string; url: string }) => Dialect | 'none') | undefined;
  /** @default the global fetch, looked up at each call */
  fetch?: typeof fetch | undefined;
  /** `required`: refuse to send where the record would not outlive the process. @default 'best-effort' */
  durability?: 'best-effort' | 'required' | undefined;
  /** `budget`: retries that an origin may have outstanding before all of them pause; `false` for no bound. @default 500 ms to 15_000 ms, factor 2, budget 100 */
  retry?: { minDelayMs?: number | undefined; maxDelayMs?: number | undefined; factor?: number | undefined; budget?: number | false | undefined } | undefined;
  /** Where the keys of calls without a name may go: origins such as `https://api.shop.example`. @default the page's own origin in a browser, every origin elsewhere */
  origins?: readonly string[] | ((url: string) => boolean) | undefined;
  /** Names the calls of clients that can't carry an option; `false` for a plain fetch, `undefined` for no name. */
  operation?: ((request: { method: string; url: string; json: unknown }) => OperationName | false | undefined) | undefined;
  connectivity?: Connectivity | undefined;
  /** Makes the UUIDs that keys are; it must be cryptographic. @default crypto.randomUUID */
  randomUUID?: (() => string) | undefined;
}

/** The `once` of a call: a name, more options, `true` to be named by its content, or `false` for a plain fetch. */
export type OnceInit = OperationName | OperationOptions | boolean;
