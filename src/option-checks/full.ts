/**
 * Checks of options by name and type, while developing and on servers. Pages in production get `lean.ts` in its place, by the
 * build: what types and this file find is found before a page is published (docs/decisions/0030-texts-and-builds.md).
 */
import { check, checkOne, type Spec } from '../check.js';
import { typeOf } from '../core/name.js';
import type { OnceOptions } from '../option-types.js';
import { wrong } from '../texts/full.js';

const KEEP: Spec = { request: 'boolean', response: ['memory', 'disk', false], headers: 'array', forMs: 'ms' };
const LIMITS: Spec = {
  attempts: 'count',
  attemptMs: 'ms',
  totalMs: 'ms',
  inProgressMs: 'ms',
  offlineWaitMs: 'ms',
  leaseMs: 'ms',
  keyWindowMs: 'ms',
  bodyBytes: 'ms',
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

/** Throws a TypeError or RangeError that names the wrong option of a client. */
export function checkClient(options: OnceOptions): void {
  check(options, CLIENT, '');
  const { retry, use = [] } = options;
  if (retry?.budget !== undefined && retry.budget !== false) checkOne(retry.budget, 'count', 'retry.budget');
  for (const [index, feature] of use.entries())
    if (typeOf((feature as Partial<typeof feature> | undefined)?.parts) !== 'object') throw new TypeError(wrong(`use[${index}]`, 'feature', typeOf(feature)));
}

/** The same for the `once` of a call. */
export const checkCall = (init: unknown): void => check(init, OPERATION, 'once');
