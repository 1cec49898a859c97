/**
 * Goal: the edges of the table of `begin` that random records seldom reach: equal times, full lists, fields that older versions
 * left out. Method: one record and one caller, with one field changed at a time.
 */
import { describe, expect, test } from 'vitest';
import { lifeOf, marked } from '../../src/core/begin.js';
import type { Begun } from '../../src/core/claimant.js';
import type { OnceRecord, PendingRecord } from '../../src/core/record.js';
import { unsettledForgetAt } from '../../src/core/retention.js';
import { begin, type Call } from '../support/begin.js';
import { made } from '../support/made.js';
import { aRecord, type LooseRecord, NOW, sealed } from '../support/record.js';

const HOUR = 3_600_000;

const stored = (more: LooseRecord): OnceRecord =>
  aRecord({
    id: made('0a'),
    ns: made('0b'),
    label: made('["pay","c1"]'),
    forgetAt: unsettledForgetAt(NOW, 0),
    key: made('key-a'),
    carrier: 'header:Idempotency-Key',
    dialect: 'generic',
    origin: 'https://shop.example',
    generation: 3,
    revision: 7,
    scheme: 'sha256',
    payloads: ['one'],
    raw: 'one',
    createdAt: NOW - HOUR,
    touchedAt: NOW - HOUR,
    ...more,
  });

const caller: Call = {
  id: made('0a'),
  ns: made('0b'),
  label: made('["pay","c1"]'),
  fingerprint: 'one',
  raw: 'one',
  origin: 'https://shop.example',
  endpoint: 'POST https://shop.example/pay',
  scope: 'endpoint',
  carrier: 'header:Idempotency-Key',
  dialect: 'generic',
  key: made('key-b'),
  keyGeneration: 0,
  keyKind: 'random',
  atomic: false,
  repeat: 'never',
  whenChanged: 'same-key',
  keyWindowMs: 24 * HOUR,
  attemptMs: 0,
  totalMs: 120_000,
  keepMs: 0,
  clean: false,
  resumeOnly: false,
};

const look = (record: LooseRecord, c: Partial<Call> = {}) => begin(stored(record), { ...caller, ...c }, NOW, NOW);
const drive = (record: LooseRecord, c: Partial<Call> = {}): Extract<Begun, { do: 'drive' }> => {
  const value = look(record, c);
  if (value.do !== 'drive') throw new Error(`it is ${value.do}`);
  return value;
};

describe('a clean record that reuses the key of a refused operation', () => {
  const times = { firstSentAt: NOW - HOUR, windowEndsAt: NOW + 23 * HOUR };
  const previous = stored({ state: 'retired', keyInUse: true, ...times, ending: { type: 'rejected', effect: 'none', replayed: false } });
  const record = { ambiguous: false, previous, ...times };

  test('sends this key again while the server remembers it', () => {
    expect(drive(record)).toMatchObject({ reused: true, record: { key: 'key-a', firstSentAt: NOW - HOUR, windowEndsAt: NOW + 23 * HOUR } });
    expect(drive(record, { resumeOnly: true }).record).toMatchObject({ key: 'key-a', firstSentAt: NOW - HOUR, windowEndsAt: NOW + 23 * HOUR });
  });

  test.each([
    ['one', 'key-a'],
    ['two', 'key-b'],
  ])('with whenChanged: refuse, sends this key again only for the payload that was refused: fingerprint %s was refused', (payload, key) => {
    expect(drive({ ...record, previous: sealed({ ...previous, payloads: [payload] }) }, { whenChanged: 'refuse' }).record.key).toBe(key);
  });

  test('gets a new key once the key window is over; a resume brings no key, so it sends nothing', () => {
    expect(drive(record, { keyWindowMs: HOUR }).reused).toBeUndefined();
    expect(drive(record, { keyWindowMs: HOUR })).toMatchObject({ record: { key: 'key-b', firstSentAt: NOW } });
    expect(look(record, { keyWindowMs: HOUR, resumeOnly: true }).do).toBe('key-expired');
  });
});

describe('an ended record', () => {
  test.each([
    [NOW - 1, 'drive'],
    [NOW, 'drive'],
    [NOW + 1, 'remembered'],
  ])('with forgetAt %i answers calls only before that time', (forgetAt, what) => expect(look({ state: 'settled', forgetAt }).do).toBe(what));

  test('that is settled under the random key made for this call answers this call, even with repeat: always', () => {
    expect(look({ state: 'settled', key: made('key-b') }, { repeat: 'always' })).toMatchObject({ do: 'remembered', record: { key: 'key-b' } });
  });

  test('does not answer a call that began to wait after the end, but answers one that was waiting when it ended', () => {
    const c = { repeat: 'always', lookBefore: { ended: lifeOf(stored({ state: 'settled' })) } } as const;
    expect(look({ state: 'settled' }, c).do).toBe('drive');
    expect(look({ state: 'settled', key: made('key-of-the-other') }, c).do).toBe('remembered');
    // The same key, but a later operation under it: the revision differs.
    expect(look({ state: 'settled', revision: 99 }, c).do).toBe('remembered');
  });

  test.each([
    ['settled', 'remembered'],
    ['retired', 'drive'],
  ] as const)('that was waited for, and lists an earlier payload: %s, the call of that payload is told %s', (state, what) => {
    expect(look({ state, payloads: ['one', 'two'] }, { repeat: 'always', lookBefore: { ended: undefined } }).do).toBe(what);
  });

  test('that was waited for, and is a refusal that the server repeats, answers the call', () => {
    const none = { type: 'rejected', effect: 'none', replayed: true } as const;
    expect(look({ state: 'retired', sticky: true, ending: none }, { lookBefore: { ended: undefined } }).do).toBe('remembered');
  });

  test.each([
    [NOW, NOW - 2],
    [NOW - 2, NOW],
  ])('answers calls until both clocks say that its time is over: local %i, of the store %i', (now, storeNow) => {
    expect(begin(stored({ state: 'settled', forgetAt: NOW - 1 }), caller, now, storeNow).do).toBe('remembered');
  });

  test.each([
    ['within the key window, its payloads count', NOW - HOUR, ['one', 'two']],
    ['after the key window, the server has forgotten them', NOW - 25 * HOUR, ['two']],
  ])('whose literal key is used again with repeat: always: %s', (_, createdAt, payloads) => {
    const again: Partial<Call> = { key: made('key-a'), keyKind: 'literal', fingerprint: 'two', repeat: 'always' };
    expect(drive({ state: 'settled', random: false, createdAt }, again).record.payloads).toEqual(payloads);
  });

  test("that is retired answers for the operation before it only if nothing took effect since, and only with repeat: 'if-changed'", () => {
    const done = (forgetAt: number) => stored({ state: 'settled', key: made('key-0'), payloads: ['zero'], forgetAt });
    const none = { type: 'rejected', effect: 'none', replayed: false } as const;
    const change = { state: 'retired', ending: none, previous: done(NOW + HOUR) } as const;
    const again = { fingerprint: 'zero', repeat: 'if-changed' } as const;
    expect(look(change, again)).toEqual({ do: 'remembered', record: change.previous });
    expect(look({ ...change, ending: { type: 'unknown', effect: 'unknown', reason: 'record', retryAt: undefined } }, again)).toMatchObject({ do: 'drive' });
    expect(look(change, { ...again, repeat: 'always' })).toMatchObject({ do: 'drive' });
    expect(look(change, { ...again, fingerprint: 'two' })).toMatchObject({ do: 'drive' });
    expect(look({ ...change, previous: done(NOW) }, again)).toMatchObject({ do: 'drive' });
  });

  test('that is retired without a stored ending raises the generation, even of a literal key; with a stored refusal it does not', () => {
    expect(drive({ state: 'retired', random: false }, { keyKind: 'literal' }).record.generation).toBe(4);
    expect(
      drive({ state: 'retired', random: false, ending: { type: 'rejected', effect: 'none', replayed: false } }, { keyKind: 'literal' }).record.generation,
    ).toBe(3);
  });
});

describe('a pending record', () => {
  test('that is clean has no key window until its first attempt', () => {
    const { record } = drive({ ambiguous: false, random: false }, { clean: true });
    expect(record).toMatchObject({ ambiguous: false, firstSentAt: undefined, windowEndsAt: undefined });
  });

  test('lists at most fifty payloads, and drops the oldest one', () => {
    const payloads = Array.from({ length: 50 }, (_, index) => `payload-${index}`);
    expect(drive({ payloads }, { fingerprint: 'new' }).record.payloads).toEqual([...payloads.slice(1), 'new']);
  });

  test('keeps the request of the previous payload, under its fingerprint', () => {
    const request = { method: 'POST', url: 'https://shop.example/', headers: [], body: '{}' };
    const { record } = drive({ payloads: ['one', 'two', 'three'], request }, { fingerprint: 'four' });
    expect(record.earlier).toEqual([{ fingerprint: 'three', request }]);
  });

  test.each([
    ['new', 'old', 'new'],
    [undefined, 'old', 'old'],
    ['new', undefined, 'new'],
  ])('takes the meta of the call, or keeps its own: %s over %s', (brought, had, has) => expect(drive({ meta: had }, { meta: brought }).record.meta).toBe(has));

  test('gets a lease only if the call asks for one', () => {
    expect(drive({}, { owner: 'me', leaseMs: 1000, attemptMs: 30_000 }).record.lease).toEqual({ owner: 'me', until: NOW + 1000, ms: 30_000 });
    expect(drive({}).record.lease).toBeUndefined();
  });

  test('whose lease this process still has from an earlier drive is driven again', () => {
    const lease = { owner: 'me', until: NOW + HOUR };
    expect(look({ lease }, { owner: 'me', leaseMs: 1000 }).do).toBe('drive');
    expect(look({ lease }, { owner: 'another', leaseMs: 1000 }).do).toBe('busy');
  });

  test('that was first sent at the time 0, where fake timers may begin, has its whole key window', () => {
    const times = { createdAt: 0, firstSentAt: 0, touchedAt: 0, forgetAt: unsettledForgetAt(0, 0) };
    expect(begin(stored(times), caller, 0, 0)).toMatchObject({ do: 'drive', record: { firstSentAt: 0, windowEndsAt: 24 * HOUR } });
  });

  test('loses the lease of an earlier driver that has run out', () => {
    expect(drive({ lease: { owner: 'another', until: NOW - 1 } }).record.lease).toBeUndefined();
  });

  test('that is marked as sent keeps the end of a key window that has begun', () => {
    const record = stored({ ambiguous: false, firstSentAt: NOW - HOUR, windowEndsAt: NOW + HOUR });
    expect(marked(record as PendingRecord, 24 * HOUR, NOW)).toMatchObject({ ambiguous: true, firstSentAt: NOW - HOUR, windowEndsAt: NOW + HOUR });
  });

  test.each([
    ['the same bytes', { raw: 'one' }, false],
    ['other bytes with the same fingerprint', { raw: 'other' }, true],
    ['no bytes, because it is a resume', { raw: '', resumeOnly: true }, false],
    ['another payload', { raw: 'other', fingerprint: 'other' }, false],
  ])('that meets a call with %s tells whether bytes differ under one fingerprint', (_, c, otherBytes) => expect(drive({}, c).otherBytes).toBe(otherBytes));
});

test('a new operation is inserted; it is neither resumed nor changed, and was not sent before', () => {
  expect(begin(undefined, caller, NOW, NOW)).toEqual({
    do: 'drive',
    record: expect.anything(),
    inserted: true,
    resumed: false,
    changed: false,
    sentBefore: false,
  });
});

describe('a record that another call takes over', () => {
  test.each<[string, LooseRecord]>([
    ['pending and sent', {}],
    ['pending and never sent', { ambiguous: false }],
    ['retired', { state: 'retired' }],
  ])('gets the next revision: %s', (_, record) => expect(drive(record).record.revision).toBe(8));

  test('does not come back if its payload was never sent and another payload replaces it', () => {
    expect(drive({ ambiguous: false, payloads: ['two'] }).record).toMatchObject({ key: 'key-b', previous: undefined });
  });

  test('keeps the requests of the last three payloads before the present one', () => {
    const request = { method: 'POST', url: 'https://shop.example/', headers: [], body: '{}' };
    const earlier = ['a', 'b', 'c'].map((fingerprint) => ({ fingerprint, request }));
    expect(drive({ payloads: ['a', 'b', 'c', 'd'], request, earlier }, { fingerprint: 'e' }).record.earlier?.map((one) => one.fingerprint)).toEqual([
      'b',
      'c',
      'd',
    ]);
  });
});

test.each([
  ['a record that another call takes over', stored({})],
  ['a new record', undefined],
])('%s is kept for 30 days by the later one of the two clocks', (_, found) => {
  for (const behind of [HOUR, -HOUR])
    expect(begin(found, caller, NOW - behind, NOW)).toMatchObject({ do: 'drive', record: { forgetAt: unsettledForgetAt(Math.max(NOW, NOW - behind), 0) } });
});
