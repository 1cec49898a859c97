/**
 * Goal: the key's header has exactly the key in it, or nothing is sent. Method: keys made of characters that end, fold or split a header
 * field, given in each possible way.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GENERIC } from '../../src/dialects/generic.js';
import { text } from '../support/arbitraries.js';
import { answers } from '../support/server.js';
import { newWorld, pay } from '../support/world.js';

const HOSTILE = [
  '\r\nX-Injected: 1',
  '\n',
  '\r',
  '\0',
  '\t',
  ' ',
  ',',
  ';',
  ':',
  '"',
  '\\',
  '\u2028',
  '\u0085',
  '\u00a0',
  '\u010d\u010a',
  '\ud800',
  'é',
  '\x7f',
  '%0d%0a',
  'a',
  'key-1',
  '{',
  '~',
];
const hostile = fc.array(fc.constantFrom(...HOSTILE), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
const anyKey = fc.oneof(hostile, text(0, 300), fc.string({ minLength: 1, maxLength: 255 }));

/** 1 to 255 characters of visible ASCII, checked without the code under test. */
const sound = (key: string): boolean => key.length > 0 && key.length <= 255 && [...key].every((one) => one.charCodeAt(0) > 0x20 && one.charCodeAt(0) < 0x7f);

describe('a key', () => {
  test('is accepted by the generic dialect only if it is visible ASCII, so that nothing in it can end or fold a header field', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        expect(GENERIC.keyPattern.test(key)).toBe(sound(key));
      }),
      { numRuns: 2000 },
    );
  });

  test('is refused with a line break, NUL or space after it', () => {
    for (const end of ['\n', '\r', '\r\n', '\0', ' ']) expect(GENERIC.keyPattern.test(`key${end}`)).toBe(false);
  });

  test('is sent exactly as given and adds no other header, or is refused with a TypeError before anything is sent or stored', async () => {
    const ways = fc.constantFrom('option', 'strategy', 'promise', 'header');
    await fc.assert(
      fc.asyncProperty(anyKey, ways, async (key, way) => {
        const { world, tab, once } = newWorld().open();
        let init: RequestInit = {};
        try {
          if (way === 'header') init = { headers: new Headers({ 'content-type': 'application/json', 'idempotency-key': key }) };
        } catch {
          // The platform's own Headers refuse this key. A key that they accept, perhaps trimmed, reaches oncefetch.
          return;
        }
        const given = way === 'header' ? (init.headers as Headers).get('idempotency-key')! : key;
        world.server.otherwise = answers(201);
        const options = way === 'option' ? { key } : way === 'strategy' ? { key: () => key } : way === 'promise' ? { key: async () => key } : { init };
        const end = await world.end(tab, pay(once, options));
        if (!sound(given)) {
          expect(end.error).toBeInstanceOf(TypeError);
          expect([world.server.arrivals, world.records]).toEqual([[], []]);
          return;
        }
        expect(world.server.arrivals).toHaveLength(1);
        const sent = world.server.arrivals[0]!.headers;
        expect(sent.get('idempotency-key')).toBe(given);
        expect([...sent.keys()].sort()).toEqual(['content-type', 'idempotency-key']);
        expect(world.record()).toMatchObject({ key: given });
      }),
      { numRuns: 120 },
    );
  });

  test('that does not match the pattern of its dialect is never sent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[a-z0-9-]{1,40}$/), async (key) => {
        const { world, tab, once } = newWorld().open({ dialect: { ...GENERIC, name: 'short', keyPattern: /^[a-f0-9]{1,8}$/ } });
        world.server.otherwise = answers(201);
        const { error } = await world.end(tab, pay(once, { key }));
        expect(error instanceof TypeError).toBe(!/^[a-f0-9]{1,8}$/.test(key));
        expect(world.server.arrivals).toHaveLength(error ? 0 : 1);
      }),
      { numRuns: 30 },
    );
  });
});
