/** The options of a client and of one call. Types only; `options.ts` has their defaults and checks. */
import type { UnknownReason } from './core/codes.js';
import type { Dialect } from './core/dialect.js';
import type { OperationName } from './core/name.js';
import type { Outcome } from './core/outcome.js';
import type { Verdict } from './core/verdict-words.js';
import type { Connectivity, Store } from './ports.js';

/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [k: string]: Json | undefined };

/**
 * Makes an idempotency key. Return a different key for each `generation`, which is 0 for the first operation of a name and rises with each
 * one that needs another key. `operation`: `undefined` for a call without a name. `fingerprint`: a digest of what the call sends. `now`: wall
 * clock, ms since 1970.
 */
export type KeyStrategy = (c: {
  namespace: string;
  operation: OperationName | undefined;
  fingerprint: string;
  generation: number;
  now: number;
}) => string | Promise<string>;

/** What the `headers` hook gets: the request of one attempt as it goes out. */
export interface Leaving {
  /** The number of this attempt in its call, from 1. */
  readonly attempt: number;
  /** The call continues with a key that was stored before it began. */
  readonly resumed: boolean;
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** The same bytes at every attempt, including the key if it goes into the body. */
  readonly body: string | Uint8Array | Blob | undefined;
}

/** What a `verdict` hook gets of an answer. */
export interface Evidence {
  readonly attempt: number;
  /** An earlier attempt under this key may have taken effect. */
  readonly ambiguous: boolean;
  /** This is the answer behind the link of a 202, not the answer to the request. */
  readonly polled: boolean;
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; `undefined` if it is not JSON. */
  readonly json: unknown;
}

/** What `reconcile` gets. */
export interface ReconcileQuestion {
  /** Empty for a call without a name. */
  operation: OperationName;
  key: string;
  /** When the first attempt under this key was sent; wall clock, ms since 1970. */
  firstSentAt: number;
  reason: UnknownReason | 'done-elsewhere';
  /** A copy of the last answer, if there was one. */
  response: Response | undefined;
  /** Aborted when the call does not wait for the hook any longer. */
  signal: AbortSignal;
}

/**
 * Finds out elsewhere what became of an operation. Return `'done'` or the answer if it took effect, `'none'` if it did not *and
 * cannot any more*, `'unknown'` if nobody knows. A Response is a proof only if it is a 2xx whose body has not been read, and is not a
 * 202, an HTML page, an answer without a body, `null`, an empty list or a document that reports a failure. Any other Response counts as `'unknown'`, and the diagnostic
 * `reconcile-unproven` says so. The hook is called, and its answer believed, only while the operation's user is logged in. `run` never
 * resolves with the Response: it rejects with ERR_ONCE_ALREADY_DONE, which has it as `response`.
 */
export type Reconcile = (c: ReconcileQuestion) => Promise<Response | 'done' | 'none' | 'unknown'>;

/** What is stored of an operation in addition to its key, and for how long. */
export interface Keep {
  /**
   * Store the request, so that another page load or process can send it again. Needs the feature `requests()`, and in a page or app a `namespace`.
   * A request whose whole body is a Blob is not stored. @default false
   */
  request?: boolean | undefined;
  /**
   * Where the answer is kept for the next call with this name. `'disk'` needs the feature `answers()`, except in `run`. It is stored on
   * disk only with a namespace or on a server, and without headers that look like credentials.
   * @default 'memory'; 'disk' for `run`, and with `answers()` on a server whose store outlives the process
   */
  response?: 'memory' | 'disk' | false | undefined;
  /**
   * Request headers to store in addition to Content-Type, Content-Encoding, Accept, Accept-Language, If-Match, If-None-Match and
   * If-Unmodified-Since. @default []
   */
  headers?: readonly string[] | undefined;
  /** How long a settled operation is remembered, ms. An unsettled one is remembered for 30 days, or for this time if it is longer. @default 2_592_000_000 (30 days) */
  forMs?: number | undefined;
}

/** The limits of one call. All times are in ms. */
export interface Limits {
  /** The most attempts of one call, including the first. Attempts that find work in progress do not count. @default 5 */
  attempts?: number | undefined;
  /** The longest time of one attempt, including reading the answer's body. It does not apply to calls without a key, such as a GET. @default 30_000 */
  attemptMs?: number | undefined;
  /** The longest time of the whole call: attempts, waits, hooks and reads of the store. Storing the end may take another second. @default 120_000 */
  totalMs?: number | undefined;
  /** How long a call waits while the server says that the work is in progress; at most nine tenths of the time that it has left, so that it can still ask `reconcile`; not at all within a minute after a call that gave up. @default 60_000 */
  inProgressMs?: number | undefined;
  /**
   * How long a call waits while the device is offline. If it has made no attempt yet, it then makes one anyway; if an attempt got no answer,
   * it then ends. @default 3_000
   */
  offlineWaitMs?: number | undefined;
  /**
   * The length of a lease, where processes share a store: how long others wait if the process that drives an operation was killed. The
   * driver renews it three times within this time. Safety does not depend on it. From 1_000 to 3_600_000. @default 15_000
   */
  leaseMs?: number | undefined;
  /** How long the server remembers a key. @default the dialect's; 86_400_000 (24 h) for `generic` */
  keyWindowMs?: number | undefined;
  /** In bytes: the largest answer that is read before you get it, and the largest `ReadableStream` that can be a request's body. @default 1_048_576 */
  bodyBytes?: number | undefined;
}

/** Options of one operation. An explicit `undefined` counts as absent. */
export interface OperationOptions {
  /** The stable name of the effect: `['pay', cart.id]`. */
  operation?: OperationName | undefined;
  /** The idempotency key, or a function that makes one; a function needs the feature `hooks()`. @default a random UUID v4 */
  key?: string | KeyStrategy | undefined;
  /** Returns what identifies the payload in place of the body's bytes; `undefined` to use the bytes. Needs the feature `hooks()`. */
  fingerprint?: ((request: { method: string; url: string; body: unknown }) => unknown) | undefined;
  /** Your own data for a banner after a reload, at most 1 kB of JSON: `{ total: '€42.00' }`. In a page or app it is stored only with a `namespace`. */
  meta?: Json | undefined;
  /**
   * What a call means after the operation of its name has settled: the same effect (`never`), another effect if the payload changed, or
   * always another effect. @default 'never'
   */
  repeat?: 'never' | 'if-changed' | 'always' | undefined;
  /**
   * Reads an answer before the built-in rules do. Return `undefined` to leave it to them. Needs the feature `hooks()`. `resume` uses only
   * the client's `verdict`, not that of the original call.
   */
  verdict?: ((e: Evidence) => Verdict | undefined) | undefined;
  /**
   * The customer agrees that this operation continues when the page is gone, until `untilMs` (wall clock, ms since 1970). oncefetch stores
   * the request, and `resumeInBackground` may send it. Needs the feature `background()` and a `namespace`. @default nothing continues by itself
   */
  background?: { untilMs: number } | undefined;
  keep?: Keep | undefined;
  limits?: Limits | undefined;
  /** What to do if the same call is under way: share its answer, or reject with ERR_ONCE_BUSY. @default 'join' */
  whenBusy?: 'join' | 'reject' | undefined;
  /**
   * What to do if the payload has changed since an unknown outcome: send it under the same key, or reject with ERR_ONCE_MISMATCH.
   * @default 'same-key'; 'refuse' if the server is known not to report a mismatch
   */
  whenChanged?: 'same-key' | 'refuse' | undefined;
  /**
   * What a 202 means. `'settle'`: it is the answer, also to a repeated request. `'poll'`: poll its link until the work behind it
   * ends. By default, a 202 after a lost answer is not the end: the request is repeated, because that work can still fail.
   * @default 'settle' for a first attempt
   */
  accepted?: 'settle' | 'poll' | undefined;
  /** Finds out elsewhere what became of an operation; needs the feature `reconciling()`. */
  reconcile?: Reconcile | undefined;
  /**
   * Called before every attempt with the request as it goes out, including the key. Headers that it returns replace the request's headers
   * of the same name. Needs the feature `hooks()`.
   */
  headers?: ((a: Leaving) => NonNullable<RequestInit['headers']> | Promise<NonNullable<RequestInit['headers']>>) | undefined;
  /**
   * Called once with the outcome of the operation, even if the call itself was aborted, or has joined another one and ran out of time. Not
   * called if the call rejects with ERR_ONCE_BUSY and has joined none, because this page or process drives the operation already.
   */
  onOutcome?: ((outcome: Outcome) => void) | undefined;
}

/** A schema that parses the result of a `run` (standardschema.dev, version 1). */
export interface StandardSchema<T> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
  };
}

/** Options of `run`. */
export interface RunOptions<T> extends Omit<OperationOptions, 'background' | 'verdict' | 'reconcile' | 'headers' | 'operation' | 'accepted'> {
  /** Reads what the function returned or threw. @default a value is fresh, a throw is ambiguous, a Response is read as `fetch` reads its answers */
  verdict?: ((end: RunEnd<T>) => Verdict | undefined) | undefined;
  /** Ends the call for this caller, as in `fetch`. */
  signal?: AbortSignal | undefined;
  /** Parses the result, which may have been stored as JSON. */
  result?: StandardSchema<T> | undefined;
}

/** How the function given to `run` ended. */
export type RunEnd<T> = ({ readonly value: T } | { readonly error: unknown }) & {
  /**
   * How many keys the function has used in this call of `run`, in all attempts: `key`, and one for each label of `child`. With several, a
   * refusal of the last call proves nothing of the others.
   */
  readonly keys?: number;
};

/** A feature for the option `use`, made by a function of this package such as `polling()`. */
export interface Feature {
  /** @internal */
  readonly parts: object;
}

/** Options of a client. */
export interface OnceOptions extends Omit<OperationOptions, 'operation' | 'meta' | 'key' | 'background'> {
  /**
   * The user to whom the operations belong; give each visitor an id too. A function is called at every call and
   * before every attempt. If it returns nothing or throws, nobody is logged in, and calls reject with a TypeError, or with what it threw.
   */
  namespace?: string | (() => string | null | undefined);
  /** The features of this client: `[retrying(), polling()]`. @default none; in `oncefetch/node` and React Native all of them, plus yours */
  use?: readonly Feature[] | undefined;
  /** Where records are kept. @default IndexedDB, else memory */
  store?: Store | undefined;
  /**
   * Where the server expects the key, and what its answers mean. `'none'`: the server knows no keys, so none is sent, and a request that
   * may have taken effect is not sent again. A function needs the feature `hooks()`. @default generic
   */
  dialect?: Dialect | 'none' | ((request: { method: string; url: string }) => Dialect | 'none') | undefined;
  /** The `fetch` to use. It must send at once; if it would wait for something first, such as a token, do that in `headers`. @default the global fetch, looked up at each call */
  fetch?: typeof fetch | undefined;
  /** `required`: refuse to send if the record would not outlive the page or process. @default 'best-effort' */
  durability?: 'best-effort' | 'required' | undefined;
  /**
   * The wait between attempts, and the retry `budget` of each server: a failed attempt costs 1, a success returns 0.1. At half of the
   * budget automatic retries stop, except the first one of a named call and those of resumed calls; `false` means no budget. @default 500 ms to 15_000 ms, factor 2, budget 100
   */
  retry?: { minDelayMs?: number | undefined; maxDelayMs?: number | undefined; factor?: number | undefined; budget?: number | false | undefined } | undefined;
  /**
   * The servers to which keys may be sent with calls without a name: origins such as `https://api.shop.example`. @default the page's own origin in a browser, every origin elsewhere
   */
  origins?: readonly string[] | ((url: string) => boolean) | undefined;
  /** Names calls that can't have the option `once`, and POSTs and PATCHes whose `once` has no name. Return `false` for a plain fetch, `undefined` for no name. */
  operation?: ((request: { method: string; url: string; json: unknown }) => OperationName | false | undefined) | undefined;
  /** Tells whether the device is online, in place of what the platform tells. */
  connectivity?: Connectivity | undefined;
  /** Makes the keys. It must be cryptographically random. @default crypto.randomUUID */
  randomUUID?: (() => string) | undefined;
}

/** The option `once` of a call: a name, an object of options, `true` for a name made from its content, or `false` for a plain fetch. */
export type OnceInit = OperationName | OperationOptions | boolean;
