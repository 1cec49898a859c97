/**
 * Goal: derived keys and canonical JSON are equal where they must be equal, and different everywhere else. Method: properties
 * over generated names and bodies, and known values that must never change.
 */
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.js';
import { childKey, derived } from '../../src/core/derived.js';
import { encodeName } from '../../src/core/name.js';
import { GENERIC } from '../../src/dialects/generic.js';
import { wrong } from '../../src/texts/full.js';
import { namePart, text } from '../support/arbitraries.js';

describe('derived', () => {
  const place = fc.record({ namespace: text(0, 10), operation: fc.array(namePart, { minLength: 1, maxLength: 3 }), generation: fc.nat({ max: 5 }) });

  test('gives the same key on every device, and another key for any other namespace, name or generation', () => {
    fc.assert(
      fc.property(place, place, (a, b) => {
        const same = a.namespace === b.namespace && a.generation === b.generation && encodeName(a.operation) === encodeName(b.operation);
        expect(derived(a) === derived(b)).toBe(same);
        expect(derived(a)).toBe(derived({ ...a, operation: [...a.operation] }));
      }),
      { numRuns: 500 },
    );
  });

  test('gives another key if text moves from one of its parts to the next', () => {
    expect(derived({ namespace: 'a', operation: ['b'], generation: 11 })).not.toBe(derived({ namespace: 'a', operation: ['b', 1], generation: 1 }));
    expect(derived({ namespace: 'a["b"]', operation: ['c'], generation: 0 })).not.toBe(derived({ namespace: 'a', operation: ['b', 'c'], generation: 0 }));
  });

  test('gives a UUID that the generic dialect accepts', () => {
    fc.assert(
      fc.property(place, (given) => {
        expect(derived(given)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(derived(given)).toMatch(GENERIC.keyPattern);
      }),
    );
  });

  test('gives an operation the same key in every release: another key after a deploy could mean a second charge', () => {
    const known = derived({ namespace: 'ann', operation: ['pay', 'c1'], generation: 0 });
    expect(known).toBe('94d19e79-d22b-51d1-96e0-81643b89d854');
    expect(childKey(known, 'charge')).toBe('a369971a-89d7-5140-99bf-97322567cb8f');
  });

  test('needs a name', () => {
    expect(() => derived({ namespace: 'ann', operation: undefined, generation: 0 })).toThrow(new TypeError(wrong('derived', 'no-name')));
  });

  test('says that it is given, not called', () => {
    const called = derived as unknown as () => string;
    expect(() => called()).toThrow(new TypeError(wrong('derived', 'given', 'undefined')));
  });

  test('gives child keys that differ by label and by parent', () => {
    expect(new Set([childKey('k', 'a'), childKey('k', 'b'), childKey('l', 'a'), childKey('ka', '')]).size).toBe(4);
    expect(childKey('k', 'a')).toBe(childKey('k', 'a'));
  });
});

describe('canonicalJson', () => {
  const at = (body: unknown, fields?: Parameters<typeof canonicalJson>[0]) => canonicalJson(fields)({ method: 'POST', url: 'https://x.example/', body });
  const shuffled = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(shuffled)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([name, one]) => [name, shuffled(one)]),
          )
        : value;

  test('gives the same text as a library for RFC 8785', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        if (typeof body !== 'string') expect(at(body)).toBe(canonicalize(body));
      }),
    );
  });

  test('sorts names by their UTF-16 code units, and keeps members that JavaScript would move or drop', () => {
    const body = JSON.parse('{"\\u20ac":1,"\\r":2,"10":3,"9":4,"\\ud83d\\ude00":5,"\\ufb33":6,"__proto__":{"b":-0,"a":1e21}}');
    expect(at(body)).toBe('{"\\r":2,"10":3,"9":4,"__proto__":{"a":1e+21,"b":0},"\u20ac":1,"\u{1f600}":5,"\ufb33":6}');
  });

  test('accepts half of a surrogate pair, and escapes it', () => expect(at({ note: '\ud83d' })).toBe('{"note":"\\ud83d"}'));

  test('ignores the order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        if (typeof body === 'string') return;
        expect(at(shuffled(body))).toBe(at(body));
      }),
    );
  });

  test('gives the same text only for the same JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (a, b) => {
        if (typeof a === 'string' || typeof b === 'string') return;
        const same = JSON.stringify(JSON.parse(at(a) as string)) === JSON.stringify(JSON.parse(at(b) as string));
        expect(at(a) === at(b)).toBe(same);
      }),
    );
  });

  test('contains the picked members, and not the omitted ones', () => {
    const body = { cart: 'c1', amount: 10, at: 1 };
    expect(at(body, { omit: ['at'] })).toBe(at({ ...body, at: 2 }, { omit: ['at'] }));
    expect(at(body, { omit: ['at'] })).not.toBe(at({ ...body, amount: 20 }, { omit: ['at'] }));
    expect(at(body, { pick: ['cart'] })).toBe(at({ cart: 'c1' }, { pick: ['cart'] }));
    expect(at(body, { pick: ['cart', 'at'], omit: ['at'] })).toBe(at({ cart: 'c1' }));
  });

  test('takes a value that is not an object as a whole, even with pick', () => {
    expect([5, true, null, [2, 1]].map((body) => at(body, { pick: ['cart'] }))).toEqual(['5', 'true', 'null', '[2,1]']);
  });

  test.each(['', 'no JSON', undefined, new Uint8Array(2)])('gives undefined for %o, so that the fingerprint is made of its bytes', (body) => {
    expect(at(body)).toBeUndefined();
  });
});
