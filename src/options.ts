/** The options of a client and of one call, with their checks. The only file with a default in it. */
import type { Backoff } from './core/backoff.js';
import type { Dialect } from './core/dialect.js';
import { encodeName, type OperationName, typeOf } from './core/name.js';
import type { Outcome, UnknownReason } from './core/outcome.js';
import type { Verdict } from './core/verdict.js';
import { generic, keyless } from './dialects/generic.js';
import type { Connectivity, Store } from './ports.js';

/** Anything that JSON can say. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [k: string]: Json | undefined };

/** Makes an idempotency key. A new `generation` wants a new key. */
export type KeyStrategy = (c: {
  operation: OperationName | undefined;
  fingerprint: string;
  generation: number;
  now: number;
}) => string | Promise<string>;

/** What a `verdict` hook sees of an answer. */
export interface Evidence {
  readonly attempt: number;
  readonly ambiguous: boolean;
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
 * not any more*. `'unknown'`: still nobody knows.
 */
export type Reconcile = (c: ReconcileQuestion) => Promise<Response | 'done' | 'none' | 'unknown'>;

export interface Keep {
  /** Store the request, so that another page load or process can send it again. @default false */
  request?: boolean | undefined;
  /** Where the answer is kept for the next call with this name: on disk only where it has a namespace or runs on a server. @default 'memory'; 'disk' for `run` */
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
  /** The whole call, all waits included. @default 120_000 */
  totalMs?: number | undefined;
  /** Waiting for work in progress. @default 60_000 */
  inProgressMs?: number | undefined;
  /** How long the first attempt waits when the device says that it is offline. @default 3_000 */
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
  /** What must not differ between attempts, instead of the body's bytes. */
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
  /** When another payload comes after an unknown outcome: under the same key, or ERR_ONCE_MISMATCH. @default 'same-key' */
  whenChanged?: 'same-key' | 'refuse' | undefined;
  /** A 202 is the answer, or work that goes on behind its link, which is polled. @default 'settle' */
  accepted?: 'settle' | 'poll' | undefined;
  reconcile?: Reconcile | undefined;
  /** Called before every attempt; what it returns is set over the call's own headers. */
  headers?: ((a: { attempt: number; resumed: boolean }) => HeadersInit | Promise<HeadersInit>) | undefined;
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
  /** Reads how the effect ended. @default a value is fresh, a throw is ambiguous */
  verdict?: ((end: RunEnd<T>) => Verdict | undefined) | undefined;
  signal?: AbortSignal | undefined;
  /** Parses a result that was remembered as JSON. */
  result?: StandardSchema<T> | undefined;
}

/** How an effect ended. */
export type RunEnd<T> = { readonly value: T } | { readonly error: unknown };

/** Options of a client. */
export interface OnceOptions extends Omit<OperationOptions, 'operation' | 'meta' | 'key'> {
  /** Whose operations these are; a function is asked at every call and before every attempt. */
  namespace?: string | (() => string) | undefined;
  /** @default IndexedDB, else localStorage, else memory */
  store?: Store | undefined;
  /** How the server speaks idempotency; `'none'`: it does not, so it gets no key, and what may have had its effect is not sent again. @default generic */
  dialect?: Dialect | ((request: { method: string; url: string }) => Dialect | 'none') | undefined;
  /** @default the global fetch, looked up at each call */
  fetch?: typeof fetch | undefined;
  /** `required`: refuse to send where the record would not outlive the process. @default 'best-effort' */
  durability?: 'best-effort' | 'required' | undefined;
  /** `budget`: retries that an origin may have outstanding before all of them pause; `false` for no bound. @default 500 ms to 15_000 ms, factor 2, budget 10 */
  retry?: { minDelayMs?: number | undefined; maxDelayMs?: number | undefined; factor?: number | undefined; budget?: number | false | undefined } | undefined;
  /** Where the keys of calls without a name may go. @default the page's own origin in a browser, every origin elsewhere */
  origins?: readonly string[] | ((url: string) => boolean) | undefined;
  /** Names the calls of clients that can't carry an option; `false` for a plain fetch, `undefined` for no name. */
  operation?: ((request: { method: string; url: string; json: unknown }) => OperationName | false | undefined) | undefined;
  connectivity?: Connectivity | undefined;
}

/** The `once` of a call: a name, more options, `true` to be named by its content, or `false` for a plain fetch. */
export type OnceInit = OperationName | OperationOptions | boolean;

const defaults = {
  repeat: 'never',
  whenBusy: 'join',
  whenChanged: 'same-key',
  keep: { request: false, response: 'memory', headers: [], forMs: 2_592_000_000 },
  limits: { attempts: 5, attemptMs: 30_000, totalMs: 120_000, inProgressMs: 60_000, offlineWaitMs: 3000, bodyBytes: 1_048_576 },
  retry: { minDelayMs: 500, maxDelayMs: 15_000, factor: 2, budget: 10 },
} as const;

/** How long a store may take before it counts as one that could not be looked at, ms. */
export const STORE_TIMEOUT_MS = 10_000;
/** After a budget of waiting was spent in vain, a call within this time makes one attempt, ms. */
export const SPENT_MS = 60_000;
/** Answers kept in memory for the next call of their name. */
export const ANSWERS_MAX = 32;
/** Operations that `resume` drives at a time. */
export const RESUME_CONCURRENCY = 4;
/** Settled operations between two sweeps, and records removed by one. */
export const SWEEP_EVERY = 50;
/** The longest time that a timer holds. */
const TIMER_MS_MAX = 2_147_483_647;
const META_UNITS_MAX = 1024;

type Required1<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

export interface Settings extends Omit<OperationOptions, 'keep' | 'limits' | 'repeat' | 'whenBusy' | 'whenChanged'> {
  readonly repeat: 'never' | 'if-changed' | 'always';
  readonly whenBusy: 'join' | 'reject';
  readonly whenChanged: 'same-key' | 'refuse';
  readonly keep: Required1<Keep>;
  readonly limits: Required1<Limits>;
  readonly namespace: (() => string) | undefined;
  readonly store: Store | undefined;
  readonly dialect: Dialect;
  readonly dialectOf: ((request: { method: string; url: string }) => Dialect | 'none') | undefined;
  readonly origins: OnceOptions['origins'];
  readonly nameOf: OnceOptions['operation'];
  readonly budget: number | false;
  /** `limits.keyWindowMs` was given, so that of a dialect does not count. */
  readonly ownWindow: boolean;
  readonly fetch: typeof fetch | undefined;
  readonly required: boolean;
  readonly backoff: Backoff;
  readonly connectivity: Connectivity | undefined;
}

/** What an option may be: a `typeof`, one of some words, or a group of options. `ms`: a time; `count`: from 1. */
type Spec = { readonly [name: string]: string | readonly unknown[] | Spec };

const KEEP: Spec = { request: 'boolean', response: ['memory', 'disk', false], headers: 'array', forMs: 'ms' };
const LIMITS: Spec = { attempts: 'count', attemptMs: 'ms', totalMs: 'ms', inProgressMs: 'ms', offlineWaitMs: 'ms', keyWindowMs: 'ms', bodyBytes: 'ms' };
const SHARED: Spec = {
  fingerprint: 'function',
  repeat: ['never', 'if-changed', 'always'],
  verdict: 'function',
  keep: KEEP,
  limits: LIMITS,
  whenBusy: ['join', 'reject'],
  whenChanged: ['same-key', 'refuse'],
  accepted: ['settle', 'poll'],
  reconcile: 'function',
  headers: 'function',
  onOutcome: 'function',
};
const OPERATION: Spec = { ...SHARED, operation: 'array', key: 'string|function', meta: 'any' };
const CLIENT: Spec = {
  ...SHARED,
  namespace: 'string|function',
  store: 'object',
  dialect: 'object|function',
  fetch: 'function',
  durability: ['best-effort', 'required'],
  retry: { minDelayMs: 'ms', maxDelayMs: 'ms', factor: 'count', budget: 'any' },
  origins: 'array|function',
  operation: 'function',
  connectivity: 'object',
};

function checkOne(value: unknown, spec: Spec[string], path: string): void {
  if (Array.isArray(spec)) {
    if (!spec.includes(value)) throw new TypeError(`once: ${path} must be ${spec.map((one) => JSON.stringify(one)).join(' or ')}, got ${typeof value === 'string' ? JSON.stringify(value) : typeOf(value)}`);
  } else if (typeof spec === 'object') check(value, spec as Spec, path);
  else if (spec === 'ms' || spec === 'count') {
    if (typeof value !== 'number' || Number.isNaN(value)) throw new TypeError(`once: ${path} must be a number, got ${typeOf(value)}`);
    const least = spec === 'count' ? 1 : 0;
    if (value < least) throw new RangeError(`once: ${path} must be at least ${least}, got ${value}`);
  } else if (spec !== 'any' && !(spec as string).split('|').includes(Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value))
    throw new TypeError(`once: ${path} must be a ${(spec as string).replace('|', ' or a ')}, got ${typeOf(value)}`);
}

function check(given: unknown, spec: Spec, path: string): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new TypeError(`once: ${path || 'options'} must be an object, got ${typeOf(given)}`);
  for (const [name, value] of Object.entries(given)) {
    const where = path ? `${path}.${name}` : name;
    const one = Object.hasOwn(spec, name) ? spec[name] : undefined;
    if (!one) throw new TypeError(`once: there is no option ${where}`);
    if (value !== undefined) checkOne(value, one, where);
  }
}

/** `over` on `base`, where an explicit `undefined` counts as absent. */
const merge = <T extends object>(base: T, over: object | undefined): T =>
  over ? ({ ...base, ...Object.fromEntries(Object.entries(over).filter(([, value]) => value !== undefined)) } as T) : base;

function limitsOf(base: Required1<Limits>, over: Limits | undefined): Required1<Limits> {
  const limits = merge(base, over);
  if (limits.totalMs > TIMER_MS_MAX) throw new RangeError(`once: limits.totalMs must be at most ${TIMER_MS_MAX}, got ${limits.totalMs}`);
  if (limits.keyWindowMs <= limits.attemptMs) throw new RangeError(`once: limits.keyWindowMs (${limits.keyWindowMs}) must be longer than limits.attemptMs (${limits.attemptMs})`);
  return limits;
}

/** The settings of a client. Throws a TypeError or RangeError that names the wrong option. */
export function clientSettings(options: OnceOptions): Settings {
  check(options, CLIENT, '');
  const { namespace, retry, durability, keep, limits, dialect: speaks, operation, ...rest } = options;
  const dialect = typeof speaks === 'object' ? speaks : generic;
  if (namespace === '' || ('namespace' in options && namespace === undefined)) throw new TypeError(`once: namespace must not be empty, got ${typeOf(namespace)}`);
  const { budget, ...backoff } = merge<Backoff & { budget: number | false }>(defaults.retry, retry);
  if (budget !== false) checkOne(budget, 'count', 'retry.budget');
  const own = merge({ repeat: defaults.repeat, whenBusy: defaults.whenBusy, whenChanged: defaults.whenChanged }, rest) as Settings;
  return {
    ...own,
    dialect,
    required: durability === 'required',
    namespace: typeof namespace === 'string' ? () => namespace : namespace,
    backoff,
    budget,
    nameOf: operation,
    dialectOf: typeof speaks === 'function' ? speaks : undefined,
    ownWindow: limits?.keyWindowMs !== undefined,
    keep: merge<Required1<Keep>>(defaults.keep, keep),
    limits: limitsOf({ ...defaults.limits, keyWindowMs: dialect.windowMs }, limits),
  };
}

function metaUnits(meta: unknown): number {
  try {
    return JSON.stringify(meta).length;
  } catch (cause) {
    throw new TypeError(`once: once.meta must be JSON, got ${typeOf(meta)}`, { cause });
  }
}

/** The settings of one `run`. */
export function runSettings<T>(client: Settings, name: OperationName, options: RunOptions<T>): { settings: Settings; verdict: RunOptions<T>['verdict'] } {
  const { signal: _, result: __, verdict, keep, ...rest } = options;
  if (verdict !== undefined && typeof verdict !== 'function') throw new TypeError(`once: once.verdict must be a function, got ${typeOf(verdict)}`);
  const settings = callSettings(client, { ...rest, operation: name, keep: { response: 'disk', ...keep } });
  return { settings, verdict };
}

/** Where a dialect depends on the request, the one for this request. */
export function withDialect(settings: Settings, request: { method: string; url: string }): Settings {
  const said = settings.dialectOf?.({ method: request.method, url: request.url });
  if (said === undefined) return settings;
  if (said !== 'none' && (typeof said !== 'object' || said === null)) throw new TypeError(`once: dialect must give a dialect or 'none', got ${typeOf(said)}`);
  const dialect = said === 'none' ? keyless : said;
  return { ...settings, dialect, limits: settings.ownWindow ? settings.limits : limitsOf(settings.limits, { keyWindowMs: dialect.windowMs }) };
}

/** The settings of one call: `init` over the client's. */
export function callSettings(client: Settings, init: unknown): Settings {
  if (init === undefined || typeof init === 'boolean') return client;
  if (Array.isArray(init)) return { ...client, operation: init as OperationName };
  check(init, OPERATION, 'once');
  const { keep, limits, ...rest } = init as OperationOptions;
  if (rest.operation !== undefined) encodeName(rest.operation);
  if (rest.meta !== undefined && metaUnits(rest.meta) > META_UNITS_MAX) throw new RangeError(`once: once.meta is longer than ${META_UNITS_MAX} characters as JSON`);
  return { ...merge(client, rest), keep: merge(client.keep, keep), limits: limitsOf(client.limits, limits), ownWindow: client.ownWindow || limits?.keyWindowMs !== undefined };
}
