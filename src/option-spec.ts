/**
 * Checks of options that can only be wrong because of a mistake in the code: misspelled names, wrong words, a value that should be a function.
 * Such a mistake shows itself the first time that the code runs, so production pages get `option-spec-lean.ts` instead, which checks only
 * names (docs/decisions/0030-texts-and-builds.md).
 */
import { check, checkOne, type Spec } from './check.js';
import { isPlace } from './core/carrier.js';
import { typeOf } from './core/name.js';
import type { Feature, Keep, Limits, OnceOptions, OperationOptions } from './option-types.js';
import { wrong } from './texts/full.js';

const KEEP: Spec = { request: 'boolean', response: ['memory', 'disk', false], headers: 'array', forMs: 'any' };
/** Any value passes here, because `options.ts` checks these numbers. */
const LIMITS: Spec = {
  attempts: 'any',
  attemptMs: 'any',
  totalMs: 'any',
  inProgressMs: 'any',
  offlineWaitMs: 'any',
  leaseMs: 'any',
  keyWindowMs: 'any',
  bodyBytes: 'any',
};
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
const OPERATION: Spec = { ...SHARED, operation: 'array', key: 'string|function', meta: 'any', background: { untilMs: 'ms' } };
const CLIENT: Spec = {
  ...SHARED,
  use: 'array',
  namespace: 'string|function',
  store: 'object',
  dialect: 'object|function|string',
  fetch: 'function',
  durability: ['best-effort', 'required'],
  retry: { minDelayMs: 'ms', maxDelayMs: 'ms', factor: 'count', budget: 'any' },
  origins: 'array|function',
  operation: 'function',
  connectivity: 'object',
  randomUUID: 'function',
};

/** A shorter lease may run out before a busy event loop renews it; a longer one may not be believed (`src/core/retention.ts`). */
const LEASE_MS_MIN = 1000;
const LEASE_MS_MAX = 3_600_000;

/** Checks `limits.leaseMs`. Safety does not depend on it. */
function checkLease({ leaseMs = LEASE_MS_MIN }: Limits = {}): void {
  // A value below 0, or one that is not a number, gets its own error from `options.ts`.
  if ((leaseMs >= 0 && leaseMs < LEASE_MS_MIN) || leaseMs > LEASE_MS_MAX) throw new RangeError(wrong('limits.leaseMs', 'lease-time', String(leaseMs)));
}

/** What an object that the app gives must have, each member with its type. */
const MEMBERS = {
  store: {
    update: 'function',
    read: 'function',
    scan: 'function',
    close: 'function',
    kind: 'string',
    scope: 'string',
    survives: 'string',
    shared: 'string',
    atomic: 'boolean',
  },
  connectivity: { online: 'function', subscribe: 'function' },
  dialect: { name: 'string', carrier: 'string', keyPattern: 'object', windowMs: 'number', replayed: 'function' },
} as const;

/** Throws a TypeError if the object that was given as this option lacks a member. Without this check, the first call would fail, or a later one. */
function checkMembers(option: keyof typeof MEMBERS, given: unknown): void {
  for (const [name, type] of Object.entries(MEMBERS[option])) {
    const member = (given as { readonly [name: string]: unknown } | null | undefined)?.[name];
    if (typeof member !== type) throw new TypeError(wrong(option, option, `${typeOf(given)} whose ${name} is ${typeOf(member)}`));
  }
}

/** Checks `keep.headers`, whose names are looked up in every request. */
function checkHeaders({ headers = [] }: Keep = {}): void {
  for (const [index, name] of headers.entries()) checkOne(name, 'string', `keep.headers[${index}]`);
}

/**
 * Throws a TypeError if JSON does not write lists as they are. Prototype.js 1.6 gives arrays a `toJSON` that returns text: a name is then written,
 * but not read back, and the call counts as one without a name.
 */
function checkJson(): void {
  if (JSON.stringify([1]) !== '[1]') throw new TypeError('once: Array.prototype.toJSON changes what JSON.stringify writes: delete it');
}

/** Throws a TypeError if an option stands where it is not known, but belongs to another place, which the error names. */
function checkPlace(given: object, own: Spec, other: Spec, path: string, place: string): void {
  for (const name of Object.keys(Object(given)))
    if (!Object.hasOwn(own, name) && Object.hasOwn(other, name)) throw new TypeError(`once: there is no option ${path}${name}: give it to ${place}`);
}

/** Throws a TypeError or RangeError that names the wrong option of a client. */
export function checkClientOptions(options: object): void {
  checkJson();
  checkPlace(options, CLIENT, OPERATION, '', 'a call, in once');
  check(options, CLIENT, '');
  const { dialect, retry, durability, store, use = [], limits, keep, connectivity } = options as OnceOptions;
  checkLease(limits);
  checkHeaders(keep);
  if (store) checkMembers('store', store);
  if (connectivity) checkMembers('connectivity', connectivity);
  if (typeof dialect === 'object') {
    checkMembers('dialect', dialect);
    if (!isPlace(dialect.carrier)) throw new TypeError(wrong(`dialect ${dialect.name}: ${JSON.stringify(dialect.carrier)}`, 'dialect-place'));
  }
  if (typeof dialect === 'string' && dialect !== 'none') throw new TypeError(wrong('dialect', 'dialect', JSON.stringify(dialect)));
  const budget = retry?.budget;
  if (budget !== undefined && budget !== false) checkOne(budget, 'count', 'retry.budget');
  for (const [index, feature] of use.entries())
    if (typeOf((feature as Feature | undefined)?.parts) !== 'object') throw new TypeError(wrong(`use[${index}]`, 'feature', typeOf(feature)));
  // Without this check, the first call would be refused.
  if (durability === 'required' && store?.survives === 'context' && !store.ready) throw new TypeError(wrong("durability 'required'", 'durability', store.kind));
}

/** The same for one call. */
export function checkCallOptions(init: object): void {
  // What everybody tries first: it is `name` wherever an operation is read.
  if (Object.hasOwn(init, 'name')) throw new TypeError('once: there is no option once.name, but once.operation');
  checkPlace(init, OPERATION, CLIENT, 'once.', 'createOnce');
  check(init, OPERATION, 'once');
  const { limits, keep } = init as OperationOptions;
  checkLease(limits);
  checkHeaders(keep);
}

/** The same for one `run`: its function makes the request, so nobody would send what a hook gives. */
export const checkRunOptions = (options: object): void => {
  if ('headers' in options) throw new TypeError('once: there is no option run.headers');
};
