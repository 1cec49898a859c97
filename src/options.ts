/**
 * Turns options into settings: has all defaults, and checks what may be wrong because of data: names, namespaces, numbers, `meta`. What
 * can only be wrong because of a mistake in the code is checked in `option-spec.ts`.
 */
import { checkNumber, checkOne } from './check.js';
import type { Backoff } from './core/backoff.js';
import type { Dialect } from './core/dialect.js';
import { typeOf } from './core/name.js';
import { GENERIC, keyless } from './dialects/generic.js';
import { checkCallOptions, checkClientOptions, checkRunOptions } from './option-spec.js';
import type { Json, Keep, Limits, OnceOptions, OperationOptions, RunOptions } from './option-types.js';
import type { Connectivity, Store } from './ports.js';
import { wrong } from './texts/full.js';

const defaults = {
  repeat: 'never',
  whenBusy: 'join',
  keep: { request: false, response: undefined, headers: [], forMs: 2_592_000_000 },
  limits: { attempts: 5, attemptMs: 30_000, totalMs: 120_000, inProgressMs: 60_000, offlineWaitMs: 3000, leaseMs: 15_000, bodyBytes: 1_048_576 },
  retry: { minDelayMs: 500, maxDelayMs: 15_000, factor: 2, budget: 100 },
} as const;

/** How many operations `resume` drives at a time. */
export const RESUME_CONCURRENCY = 4;
/** The longest time that can be given to a timer. */
const TIMER_MS_MAX = 2_147_483_647;
const META_BYTES_MAX = 1024;

type AllGiven<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

export interface Settings extends Omit<OperationOptions, 'keep' | 'limits' | 'operation' | 'repeat' | 'whenBusy'> {
  readonly repeat: 'never' | 'if-changed' | 'always';
  readonly whenBusy: 'join' | 'reject';
  /** `response` is set only if the app gave it; its default depends on the call. */
  readonly keep: AllGiven<Omit<Keep, 'response'>> & Pick<Keep, 'response'>;
  readonly limits: AllGiven<Limits>;
  readonly namespace: (() => string | null | undefined) | undefined;
  readonly store: Store | undefined;
  readonly dialect: Dialect;
  readonly dialectOf: ((request: { method: string; url: string }) => Dialect | 'none') | undefined;
  readonly origins: OnceOptions['origins'];
  readonly nameOf: OnceOptions['operation'];
  /** `limits.keyWindowMs` was given, so a dialect's window does not count. */
  readonly ownWindow: boolean;
  readonly fetch: typeof fetch | undefined;
  readonly required: boolean;
  readonly retry: Backoff & { readonly budget: number | false };
  readonly connectivity: Connectivity | undefined;
  readonly randomUUID: (() => string) | undefined;
}

/** Merges `over` into `base`. An explicit `undefined` counts as absent. */
const merge = <T extends object>(base: T, over: object | undefined): T =>
  over ? ({ ...base, ...Object.fromEntries(Object.entries(over).filter(([, value]) => value !== undefined)) } as T) : base;

/** Merges a group of options. Throws a TypeError on one that there is not: what a misspelled option was to protect would be lost silently. */
function mergeGroup<T extends object>(base: T, over: object | undefined, group: string): T {
  for (const name of Object.keys(over ?? {})) if (!Object.hasOwn(base, name)) throw new TypeError(`once: there is no option ${group}.${name}`);
  return merge(base, over);
}

function limitsOf(base: AllGiven<Limits>, over: Limits | undefined): AllGiven<Limits> {
  for (const [name, value] of Object.entries(over ?? {})) if (value !== undefined) checkNumber(value, `limits.${name}`, name === 'attempts' ? 1 : 0);
  const limits = mergeGroup(base, over, 'limits');
  const { totalMs, keyWindowMs, attemptMs } = limits;
  if (totalMs > TIMER_MS_MAX) throw new RangeError(wrong('limits.totalMs', 'total-time', String(totalMs)));
  // The condition is negated, so that it also refuses NaN: a dialect's window may not be a number.
  if (!(keyWindowMs > attemptMs)) throw new RangeError(wrong('limits.keyWindowMs', 'key-window', `${keyWindowMs}, not more than ${attemptMs}`));
  return limits;
}

/** Settings with options over them. Throws a TypeError or RangeError that names a wrong number. */
function settingsWith(base: Settings, { keep, limits, ...own }: Pick<OperationOptions, 'keep' | 'limits' | 'meta'>): Settings {
  if (keep?.forMs !== undefined) checkNumber(keep.forMs, 'keep.forMs');
  return {
    ...merge(base, own),
    keep: mergeGroup(base.keep, keep, 'keep'),
    limits: limitsOf(base.limits, limits),
    ownWindow: base.ownWindow || limits?.keyWindowMs !== undefined,
  };
}

/** The options of a client that is extended from another one. Groups such as `limits` are merged, not replaced. */
export function extendOptions(base: OnceOptions, over: Partial<OnceOptions>): OnceOptions {
  if (typeOf(over) !== 'object') throw new TypeError(`once: options must be an object, got ${typeOf(over)}`);
  if (over.use !== undefined) checkOne(over.use, 'array', 'use');
  const groups = (['keep', 'limits', 'retry'] as const).map((name) => [name, base[name] && over[name] ? merge(base[name], over[name]) : undefined]);
  const use = [...(base.use ?? []), ...(over.use ?? [])];
  const extended = merge(merge(base, over), { ...Object.fromEntries(groups), use });
  // An explicit `namespace: undefined` stays, so that `clientSettings` refuses it. Otherwise an unknown customer would get the base client's operations.
  return 'namespace' in over ? { ...extended, namespace: over.namespace } : extended;
}

/** The settings of a client. Throws a TypeError or RangeError that names the wrong option. */
export function clientSettings(options: OnceOptions): Settings {
  checkClientOptions(options);
  const { namespace, retry, durability, dialect: speaks, operation, use, ...rest } = options;
  const dialect = speaks === 'none' ? keyless : typeof speaks === 'object' ? speaks : GENERIC;
  if ('namespace' in options && !(namespace && /^(string|function)$/.test(typeof namespace)))
    throw new TypeError(wrong('namespace', 'namespace', typeOf(namespace)));
  const base = {
    ...defaults,
    dialect,
    required: durability === 'required',
    namespace: typeof namespace === 'string' ? () => namespace : namespace,
    retry: mergeGroup<Settings['retry']>(defaults.retry, retry, 'retry'),
    nameOf: operation,
    dialectOf: typeof speaks === 'function' ? speaks : undefined,
    limits: { ...defaults.limits, keyWindowMs: dialect.windowMs },
  };
  return settingsWith(base as Partial<Settings> as Settings, rest);
}

/**
 * `meta` as plain JSON, which any store can keep. It is frozen, because a store in memory gives the same object to every caller who lists the
 * operation. Throws a TypeError if it is not JSON, a RangeError if it is too long.
 */
function metaOf(meta: unknown): Json {
  let text: string | undefined;
  try {
    text = JSON.stringify(meta);
  } catch {
    // It contains a circle or a bigint.
  }
  if (text === undefined) throw new TypeError(wrong('once.meta', 'no-json-value', typeOf(meta)));
  if (text.replace(/[^\0-\x7f]/g, 'xxx').length > META_BYTES_MAX) throw new RangeError(wrong('once.meta', 'meta-length'));
  return JSON.parse(text, (_, part) => Object.freeze(part)) as Json;
}

/** The settings of one `run`. */
export function runSettings<T>(client: Settings, options: RunOptions<T>): { settings: Settings; verdict: RunOptions<T>['verdict'] } {
  if (typeOf(options) !== 'object') throw new TypeError(`once: options of run must be an object, got ${typeOf(options)}`);
  const { signal, result, verdict, ...rest } = options;
  checkRunOptions(rest);
  // The types refuse it. Otherwise all orders would be one operation, under the name that `run` got, and all but the first would be told done.
  if ((rest as OperationOptions).operation) throw new TypeError(wrong('run', 'name-given'));
  if (verdict !== undefined) checkOne(verdict, 'function', 'once.verdict');
  // Check the schema now: it parses the result after the effect, when it is too late to throw.
  if (result !== undefined && typeof result?.['~standard']?.validate !== 'function') throw new TypeError(wrong('once.result', 'schema', typeOf(result)));
  // A client's `fingerprint` is for request bodies, and a function has none.
  const settings = callSettings({ ...client, fingerprint: undefined }, rest);
  return { settings, verdict };
}

/** The settings with the dialect for this request, if the dialect depends on the request. */
export function withDialect(settings: Settings, request: { method: string; url: string }): Settings {
  const chosen = settings.dialectOf?.({ method: request.method, url: request.url });
  if (chosen === undefined) return settings;
  if (chosen !== 'none' && !chosen?.keyPattern) throw new TypeError(wrong('dialect', 'dialect-given', typeOf(chosen)));
  const dialect = chosen === 'none' ? keyless : chosen;
  return { ...settings, dialect, limits: settings.ownWindow ? settings.limits : limitsOf(settings.limits, { keyWindowMs: dialect.windowMs }) };
}

/** The settings of one call: `init`, if it is more than a name, over the client's. */
export function callSettings(client: Settings, init: unknown): Settings {
  if (init === undefined || typeof init === 'boolean' || Array.isArray(init)) return client;
  if (typeOf(init) !== 'object') throw new TypeError(wrong('once', 'no-name', typeOf(init)));
  checkCallOptions(init as object);
  const { operation, meta, ...own } = init as OperationOptions;
  return settingsWith(client, meta === undefined ? own : { ...own, meta: metaOf(meta) });
}
