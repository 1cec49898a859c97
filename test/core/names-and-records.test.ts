/**
 * Goal: two different names never have the same text, and a damaged record is never read as a sound one. Method: properties over
 * generated names and records, and characters changed one at a time in a stored record.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeName, encodeName, NAME_UNITS_MAX, namePrefix, type OperationName } from '../../src/core/name.js';
import { type OnceRecord, readRecord, seal } from '../../src/core/record.js';
import { namePart } from '../support/arbitraries.js';
import { made } from '../support/made.js';
import { sealed } from '../support/record.js';
import { LEAN } from '../support/texts.js';

const part = namePart;
const name = fc.array(part, { minLength: 1, maxLength: 5 });
const same = (a: OperationName, b: OperationName): boolean => a.length === b.length && a.every((one, index) => one === b[index]);

describe('names', () => {
  test('two names have the same text only if they are equal, part by part and type by type', () => {
    fc.assert(
      fc.property(name, name, (a, b) => {
        expect(encodeName(a) === encodeName(b)).toBe(same(a, b));
      }),
      { numRuns: 2000 },
    );
  });

  test.each<[OperationName, OperationName]>([
    [['a', 'b'], ['a/b']],
    [['a', 'b'], ['a","b']],
    [[1], ['1']],
    [[1], [1n]],
    [['1'], [1n]],
    [['{"n":"1"}'], [1n]],
    [
      ['pay', 4],
      ['pay', 42],
    ],
    [
      ['pay', 4, 2],
      ['pay', 42],
    ],
    [['a\u0000'], ['a']],
    [['é'], ['e\u0301']],
    [['\ud800'], ['\ud801']],
    [[1e15], ['1000000000000000']],
    [[2 ** 53 - 1], [2n ** 53n - 1n]],
    [[0.1 + 0.2], [0.3]],
  ])('%o and %o have the same text only if they are equal', (a, b) => expect(encodeName(a) === encodeName(b)).toBe(same(a, b)));

  test('an integer outside the safe range is refused: its last digits are lost, so two ids of a webhook would be one operation', () => {
    const [one, two] = (['1234567890123456788', '1234567890123456789'] as const).map((id) => JSON.parse(`{"id":${id}}`) as { id: number });
    expect(one).toEqual(two);
    for (const id of [one?.id, 2 ** 53, -(2 ** 53), 1e21]) expect(() => encodeName(['hook', id])).toThrow(TypeError);
  });

  test('a name is decoded to what it was, even after a round trip through JSON', () => {
    fc.assert(
      fc.property(name, (given) => {
        const back = decodeName(made(JSON.parse(JSON.stringify(encodeName(given))) as string));
        expect(back).toHaveLength(given.length);
        // `===`, because 0 and -0 are one name.
        for (const [index, one] of back.entries()) expect(one === given[index]).toBe(true);
      }),
    );
  });

  test('the label of an unnamed operation decodes to no parts', () => expect(decodeName(made('~0123'))).toEqual([]));

  test.each([
    [undefined, /undefined/],
    [null, /null/],
    ['pay', /string/],
    [{ length: 1, 0: 'pay' }, /object/],
    ['', /an empty string/],
    [[], /an empty one/],
    [[''], /operation\[0\].*an empty string/],
    [['a', null], /operation\[1\].*null/],
    [['a', Number.NaN], /operation\[1\].*NaN/],
    [['a', Number.POSITIVE_INFINITY], /operation\[1\]/],
    [['a', 'b', true], /operation\[2\].*boolean/],
    [['a', Symbol('x')], /operation\[1\].*symbol/],
    [['a', new Date()], /operation\[1\].*object/],
    [['a', []], /operation\[1\].*array/],
  ])('%j is refused, and the message says what is wrong', (given, says) => {
    expect(() => encodeName(given)).toThrow(TypeError);
    expect(() => encodeName(given)).toThrow(says);
  });

  const NAMED = LEAN ? /name-length/ : /longer than 2048/;

  test('a name that is too long is refused at once, without being copied', () => {
    expect(() => encodeName(['x'.repeat(NAME_UNITS_MAX - 4)])).not.toThrow();
    expect(() => encodeName(['x'.repeat(NAME_UNITS_MAX - 3)])).toThrow(RangeError);
    expect(() => encodeName(Array(NAME_UNITS_MAX).fill(1))).toThrow(RangeError);
    // A copy of this name as JSON would not fit into a string.
    const huge = 'x'.repeat(400_000_000);
    expect(() => encodeName(['pay', huge, huge])).toThrow(RangeError);
    expect(() => encodeName(['x'.repeat(NAME_UNITS_MAX), {}])).toThrow(NAMED);
  });

  test('a prefix matches the names that begin with its parts, and no others', () => {
    fc.assert(
      fc.property(name, name, fc.array(part, { maxLength: 2 }), (prefix, other, more) => {
        const { begins, start } = namePrefix(prefix) as NonNullable<ReturnType<typeof namePrefix>>;
        for (const candidate of [other, [...prefix, ...more]]) {
          const label = encodeName(candidate);
          const should = candidate.length >= prefix.length && same(candidate.slice(0, prefix.length), prefix);
          expect(begins(label)).toBe(should);
          if (should) expect(label.startsWith(start)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

const RECORD: OnceRecord = seal({
  v: 1,
  id: made('0a'.repeat(16)),
  ns: made('0b'.repeat(16)),
  label: made('["pay","c1"]'),
  state: 'pending',
  forgetAt: 1_702_592_000_000,
  key: made('8e03978e-40d5-43dd-bc93-6894a57f9324'),
  carrier: 'header:Idempotency-Key',
  dialect: 'generic',
  origin: 'https://shop.example',
  random: true,
  generation: 0,
  revision: 1,
  ambiguous: true,
  scheme: 'sha256',
  payloads: ['11'.repeat(32), '22'.repeat(32)],
  raw: '33'.repeat(32),
  createdAt: 1_700_000_000_000,
  firstSentAt: 1_700_000_000_000,
  windowEndsAt: 1_700_086_400_000,
  touchedAt: 1_700_000_000_000,
});

/** The fields that every version must be able to trust. */
const CORE = [
  'id',
  'ns',
  'label',
  'state',
  'key',
  'carrier',
  'dialect',
  'origin',
  'random',
  'generation',
  'revision',
  'ambiguous',
  'scheme',
  'payloads',
  'raw',
  'createdAt',
  'firstSentAt',
  'windowEndsAt',
  'touchedAt',
] as const;

describe('records', () => {
  test('have the same sum in every release: with another sum, every stored record would be read as damaged', () => {
    const request = { method: 'POST', url: 'https://shop.example/', headers: [['a', 'b']] as const, body: undefined };
    const answer = { status: 204, statusText: '', headers: [], body: null };
    expect([RECORD.sum, sealed({ ...RECORD, request, answer, earlier: [{ fingerprint: '11', request }] }).sum]).toEqual([2_907_094_437, 2_056_652_073]);
  });

  test('come back unchanged from a structured clone and from JSON', () => {
    expect(readRecord(RECORD)).toBe(RECORD);
    expect(readRecord(structuredClone(RECORD))).toEqual(RECORD);
    expect(readRecord(JSON.parse(JSON.stringify(RECORD)))).toEqual(RECORD);
  });

  test('come back from JSON if optional fields are absent', () => {
    const clean = seal({ ...RECORD, ambiguous: false, firstSentAt: undefined, windowEndsAt: undefined });
    expect(readRecord(JSON.parse(JSON.stringify(clean)))).toMatchObject({ key: RECORD.key, ambiguous: false });
  });

  test('come back from JSON with any forgetAt that the limits allow', () => {
    for (const forgetAt of [1_702_592_000_000, Number.MAX_SAFE_INTEGER])
      expect(readRecord(JSON.parse(JSON.stringify(seal({ ...RECORD, forgetAt }))))).toBeDefined();
  });

  test('of a newer version keep the fields that this version does not know', () => {
    const newer = { ...RECORD, v: 9, invention: [1] };
    expect(readRecord(newer)).toEqual(newer);
  });

  test.each(CORE)('with another %s are damaged', (field) => {
    const value = RECORD[field];
    const others =
      typeof value === 'string'
        ? [value.slice(1), `${value}0`, '', undefined, null, 0]
        : typeof value === 'number'
          ? [value + 1, -value, undefined, null, String(value)]
          : typeof value === 'boolean'
            ? [!value, undefined, 1]
            : [[], ['x'], undefined, 'x'];
    for (const other of others) {
      if (other === 0) continue;
      expect(readRecord({ ...RECORD, [field]: other }), `${field}: ${JSON.stringify(other)}`).toBeUndefined();
    }
  });

  test('without any one of these fields are damaged', () => {
    for (const field of CORE) {
      const { [field]: _, ...rest } = RECORD;
      expect(readRecord(rest), field).toBeUndefined();
    }
  });

  test('with one changed character in any text field are damaged', () => {
    const texts = CORE.filter((field) => typeof RECORD[field] === 'string');
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.nat(), fc.integer({ min: 0, max: 15 }), (field, at, bit) => {
        const text = RECORD[field] as string;
        const index = at % text.length;
        const flipped = text.slice(0, index) + String.fromCharCode(text.charCodeAt(index) ^ (1 << bit)) + text.slice(index + 1);
        expect(readRecord({ ...RECORD, [field]: flipped })).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  test('with two fields exchanged are damaged', () => {
    for (const a of CORE)
      for (const b of CORE)
        if (JSON.stringify(RECORD[a]) !== JSON.stringify(RECORD[b])) expect(readRecord({ ...RECORD, [a]: RECORD[b], [b]: RECORD[a] })).toBeUndefined();
  });

  test('of any shape at all do not make readRecord throw', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true, withTypedArray: true }),
        (value) => void expect(readRecord(value)).toBeUndefined(),
      ),
    );
    for (const value of [
      undefined,
      null,
      0,
      '',
      'x',
      [],
      () => {},
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('x');
          },
        },
      ),
    ])
      expect(readRecord(value)).toBeUndefined();
  });

  test('of version 0 or without a version are damaged', () => {
    for (const v of [0, -1, undefined, null, 'x', Number.NaN]) expect(readRecord({ ...RECORD, v })).toBeUndefined();
  });

  test('that were sealed here are frozen, because readRecord trusts them without checking their sum', () => {
    const made = seal({ ...RECORD });
    expect(() => Object.assign(made, { key: 'another' })).toThrow(TypeError);
    expect(readRecord({ ...made, key: 'another' })).toBeUndefined();
  });

  test('with an unknown state are damaged, even if their sum is right', () => {
    for (const state of ['done', '', 'pendingx', undefined]) expect(readRecord(seal({ ...RECORD, state: state as 'pending' }))).toBeUndefined();
  });
});
