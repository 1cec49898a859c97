/** Arbitrary records, as any version of oncefetch may have left them, and callers that find them. */
import fc from 'fast-check';
import type { IdempotencyKey, Label, NamespaceDigest, RecordId } from '../../src/core/ids.js';
import { labelOfContent } from '../../src/core/name.js';
import type { OnceRecord, StoredRequest } from '../../src/core/record.js';
import type { Call } from '../support/begin.js';
import { made } from '../support/made.js';
import { type LooseRecord, sealed } from '../support/record.js';

export const NOW = 1_700_000_000_000;
const MINUTE = 60_000;
const DAY = 86_400_000;

/** Few different values, so that equal ones occur together. */
const FINGERPRINTS = ['11', '22', '33', '44'].map((two) => two.repeat(32));
const KEYS = ['key-a', 'key-b', 'key-c'].map((one) => made<IdempotencyKey>(one));
const SCHEMES = ['sha256', 'sha256', 'sha256', 'json/2'];

export const fingerprint = fc.constantFrom(...FINGERPRINTS);
const key = fc.constantFrom(...KEYS);
const scheme = fc.constantFrom(...SCHEMES);
/** Times around now: up to 40 days or 10 minutes away, past or future. */
const time = fc.oneof(fc.integer({ min: NOW - 40 * DAY, max: NOW + 40 * DAY }), fc.integer({ min: NOW - 10 * MINUTE, max: NOW + 10 * MINUTE }));
const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(one, { nil: undefined });

const request: fc.Arbitrary<StoredRequest> = fc.record({
  method: fc.constantFrom('POST', 'PATCH'),
  url: fc.constant('https://shop.example/api'),
  headers: fc.constant([['content-type', 'application/json'] as const]),
  body: fc.constantFrom(undefined, '', '{"cart":"c1"}', '\ud800'),
});

const ending = fc.constantFrom<NonNullable<OnceRecord['ending']>>(
  { type: 'fresh', effect: 'done', certain: true, changed: false },
  { type: 'replayed', effect: 'done', from: 'server' },
  { type: 'rejected', effect: 'none', replayed: false },
  { type: 'unknown', effect: 'unknown', reason: 'record', retryAt: undefined },
);

/** From one payload to as many as a record lists, and more. */
const payloads = fc
  .tuple(fc.shuffledSubarray(FINGERPRINTS, { minLength: 1 }), fc.constantFrom(0, 0, 0, 44, 46))
  .map(([present, earlier]) => [...Array.from({ length: earlier }, (_, index) => `earlier-${index}`), ...present]);
const meta = fc.constantFrom(undefined, null, 'x', { total: '€42.00', deep: [1, { a: null }] });

const plain = fc.record({
  v: fc.constantFrom(1, 1, 1, 2, 9),
  id: fc.constant(made<RecordId>('0a'.repeat(16))),
  ns: fc.constant(made<NamespaceDigest>('0b'.repeat(16))),
  label: fc.constantFrom(made<Label>('["pay","c1"]'), labelOfContent(FINGERPRINTS[0])),
  forgetAt: time,
  key,
  carrier: fc.constant('header:Idempotency-Key'),
  dialect: fc.constant('generic'),
  origin: fc.constant('https://shop.example'),
  random: fc.boolean(),
  generation: fc.nat(5),
  revision: fc.integer({ min: 1, max: 1e6 }),
  ambiguous: fc.boolean(),
  scheme,
  payloads,
  raw: fingerprint,
  createdAt: time,
  firstSentAt: maybe(time),
  windowEndsAt: maybe(time),
  touchedAt: time,
  retryAt: maybe(time),
  meta,
  request: maybe(request),
  earlier: maybe(fc.array(fc.record({ fingerprint, request }), { maxLength: 3 })),
  link: maybe(fc.constant('https://shop.example/jobs/1')),
  lease: maybe(
    fc.record({
      owner: fc.constantFrom('me', 'other'),
      until: time,
      ms: maybe(fc.nat(600_000)),
      earlier: maybe(time),
      locked: maybe(fc.constant(true)),
      resumes: maybe(fc.constant(true)),
    }),
  ),
});

const withState = (state: OnceRecord['state'], more: fc.Arbitrary<LooseRecord>): fc.Arbitrary<OnceRecord> =>
  fc.tuple(plain, more).map(([core, rest]) => sealed({ ...core, ...rest, state }));

export const pendingRecord: fc.Arbitrary<OnceRecord> = withState('pending', fc.constant({}));
const ended = (state: 'settled' | 'retired') => withState(state, fc.record({ ending, settledAt: time, sticky: fc.boolean() }));

/** Any valid record. */
export const anyRecord: fc.Arbitrary<OnceRecord> = fc
  .tuple(fc.oneof(pendingRecord, ended('settled'), ended('retired')), maybe(ended('settled')))
  .map(([record, previous]) => sealed({ ...record, previous }));

export const claimant: fc.Arbitrary<Call> = fc
  .record({
    id: fc.constant(made<RecordId>('0a'.repeat(16))),
    ns: fc.constant(made<NamespaceDigest>('0b'.repeat(16))),
    label: fc.constant('["pay","c1"]'),
    fingerprint,
    raw: fingerprint,
    origin: fc.constant('https://shop.example'),
    endpoint: fc.constantFrom('POST https://shop.example/pay', 'POST https://shop.example/paypal'),
    scope: fc.constantFrom('endpoint', 'origin'),
    carrier: fc.constant('header:Idempotency-Key'),
    dialect: fc.constant('generic'),
    key,
    keyGeneration: fc.integer({ min: -1, max: 7 }),
    keyKind: fc.constantFrom('random', 'derived', 'literal'),
    repeat: fc.constantFrom('never', 'if-changed', 'always'),
    whenChanged: fc.constantFrom('same-key', 'refuse'),
    keyWindowMs: fc.constantFrom(MINUTE, DAY, 30 * DAY),
    attemptMs: fc.constantFrom(0, 30_000),
    totalMs: fc.constantFrom(20_000, 120_000),
    keepMs: fc.constantFrom(0, 2_592_000_000, 31_536_000_000),
    clean: fc.boolean(),
    lookBefore: maybe(fc.record({ ended: maybe(key) })),
    owner: fc.constant('me'),
    leaseMs: maybe(fc.constant(15_000)),
    locked: maybe(fc.constant(true)),
    resumeOnly: fc.boolean(),
    meta,
    request: maybe(request),
  })
  .map((one) => (one.keyKind === 'random' ? { ...one, key: `minted-${one.key}` } : one) as unknown as Call);

/** Any value that a damaged medium, another program or a mistake may have put in the place of a record. */
export const notARecord: fc.Arbitrary<unknown> = fc.oneof(
  fc.anything().filter((value) => value !== undefined),
  anyRecord.map(({ sum: _, ...rest }) => rest),
  fc.tuple(anyRecord, fc.integer({ min: 1, max: 0xffff_ffff })).map(([record, by]) => ({ ...record, sum: (record.sum + by) % 2 ** 32 })),
  fc
    .tuple(anyRecord, fc.constantFrom('id', 'key', 'payloads', 'state', 'revision', 'ambiguous', 'touchedAt'), fc.anything())
    .map(([record, field, value]) => ({ ...record, [field]: [value] })),
  anyRecord.map((record) => ({ ...record, v: 0 })),
);
