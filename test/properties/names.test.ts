/**
 * Goal: no two operations ever share a record, a lock, an operation key or a derived key. Method: thousands of names that could be mistaken
 * for one another, with their nearest neighbours, in one table.
 */
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { childKey, derived } from '../../src/core/derived.js';
import { decodeName, encodeName, namePrefix, type OperationName } from '../../src/core/name.js';
import { addressOf, idsOf, isOperationOf, keyedOperationOf } from '../../src/engine/address.js';
import { pending } from '../../src/entries/index.js';
import { made } from '../support/made.js';
import { charged, lost } from '../support/server.js';
import { newWorld, test, URL_, watched } from '../support/world.js';
import { seed } from './sampled.js';

type Part = OperationName[number];

/** Texts that encodings often get wrong. */
const TEXTS = [
  'a',
  'b',
  'ab',
  '/',
  ',',
  '","',
  '"',
  '\\',
  '\\"',
  '[',
  ']',
  '["a"]',
  '{"n":"1"}',
  'n',
  '1',
  '-0',
  '1e3',
  '1000',
  'null',
  '\u0000',
  '\n',
  '\u2028',
  '\ud800',
  '\udc00',
  '\ud83d\ude00',
  'é',
  'e\u0301',
  'ａ',
  ' ',
  'a ',
  '~',
  '~a',
  ':',
  '+',
  'Infinity',
];
const NUMBERS: Part[] = [0, 1, -1, 1000, 1e15, 1e-7, 0.1 + 0.2, 0.3, 2 ** 53 - 1, 1 - 2 ** 53, 0n, 1n, -1n, 1000n, BigInt(2 ** 53), BigInt(2 ** 53) + 1n];
const part: fc.Arbitrary<Part> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  fc.constantFrom(...NUMBERS),
  fc.array(fc.constantFrom(...TEXTS), { minLength: 2, maxLength: 3 }).map((all) => all.join('')),
);
const name = fc.array(part, { minLength: 1, maxLength: 4 });

/** Identifies a name by the type and value of its parts, without the code under test. */
const identity = (of: OperationName): string => of.map((one) => `${typeof one}:${String(one === 0 ? 0 : one).length}:${String(one === 0 ? 0 : one)}`).join('|');

/** Names that a careless encoding would take for this one. */
function* neighbours(of: OperationName): Generator<OperationName> {
  for (const [index, one] of of.entries()) {
    const before = of.slice(0, index);
    const after = of.slice(index + 1);
    if (typeof one === 'string') {
      for (let at = 1; at < one.length; at++) yield [...before, one.slice(0, at), one.slice(at), ...after];
      if (one.trim() !== '' && Math.abs(Number(one)) < 2 ** 53) yield [...before, Number(one), ...after];
      yield [...before, `${one}\u0000`, ...after];
      yield [...before, JSON.stringify(one), ...after];
    } else {
      yield [...before, String(one), ...after];
      const other = typeof one === 'bigint' ? Number(one) : Number.isInteger(one) ? BigInt(one) : one + 1;
      // A number above 2 ** 53 is not allowed in a name.
      if (typeof other === 'bigint' || Math.abs(other) < 2 ** 53) yield [...before, other, ...after];
      yield [...before, JSON.stringify({ n: String(one) }), ...after];
    }
    const next = after[0];
    if (next !== undefined) for (const between of ['', ',', '/', '","']) yield [...before, `${String(one)}${between}${String(next)}`, ...after.slice(1)];
  }
  yield [encodeName(of)];
  yield [...of, 1];
}

/** Fails if two different names have the same `label`. Returns how many labels there are. */
function crowd(count: number, label: (of: OperationName) => string): number {
  const seen = new Map<string, string>();
  for (const one of fc.sample(name, { numRuns: count, seed }))
    for (const other of [one, ...neighbours(one)]) {
      const [own, is] = [label(other), identity(other)];
      const met = seen.get(own) ?? is;
      if (met !== is) expect({ label: own, seed }).toEqual({ both: [met, is] });
      seen.set(own, is);
    }
  return seen.size;
}

describe('names', () => {
  test('never share their text, even among thousands of look-alikes', () => expect(crowd(1500, encodeName)).toBeGreaterThan(5000));

  test('never share a derived key', () => expect(crowd(150, (operation) => derived({ namespace: 'ann', operation, generation: 0 }))).toBeGreaterThan(500));

  test('are decoded unchanged from their text, lone surrogates and bigints included', () => {
    for (const one of fc.sample(name, { numRuns: 1000, seed })) {
      const text = encodeName(one);
      expect(identity(decodeName(text))).toBe(identity(one));
      // The text must also survive a store that writes it as UTF-8.
      expect(new TextDecoder().decode(new TextEncoder().encode(text))).toBe(text);
    }
  });

  test('match a prefix if they begin with its parts, and look-alikes do not', () => {
    const startsWith = (whole: OperationName, begin: OperationName): boolean => identity(whole.slice(0, begin.length)) === identity(begin);
    for (const prefix of fc.sample(name, { numRuns: 200, seed })) {
      const { begins, start } = namePrefix(prefix) as NonNullable<ReturnType<typeof namePrefix>>;
      for (const other of [prefix, [...prefix, 'x'], ...neighbours(prefix), ...[...neighbours(prefix)].map((one) => [...one, 'x'])]) {
        const label = encodeName(other);
        expect(begins(label), `${label} and ${encodeName(prefix)}, seed ${seed}`).toBe(startsWith(other, prefix));
        if (begins(label)) expect(label.startsWith(start)).toBe(true);
      }
    }
  });
});

describe('addresses', () => {
  const namespace = fc.constantFrom('', 'ann', 'bob', 'ann","', '["ann"]', 'ann:["a"]', ':', 'ann\n', '\ud800');
  const place = fc.record({ namespace, name: fc.oneof(name, fc.constantFrom(['a'], ['["a"]'], [':["a"]'])) });
  const client = { store: { scope: 'memory' }, platform: { digest: (data: string) => data.padEnd(64, '.') } } as unknown as Parameters<typeof addressOf>[0] &
    Parameters<typeof idsOf>[0];

  test('of different namespaces or names share neither operation key nor lock', () => {
    const slots = new Map<string, string>();
    const locks = new Map<string, string>();
    for (const { namespace: own, name: operation } of fc.sample(place, { numRuns: 2000, seed })) {
      const label = encodeName(operation);
      const is = JSON.stringify([own, label]);
      const { operationKey, lock } = addressOf(client, label, made(own));
      for (const [table, text] of [
        [slots, operationKey],
        [locks, lock],
      ] as const) {
        expect(table.get(text) ?? is, `seed ${seed}`).toBe(is);
        table.set(text, is);
      }
      for (const text of [operationKey, keyedOperationOf(operationKey, made('key'))]) {
        expect(isOperationOf(client, made(own), text)).toBe(true);
        expect(isOperationOf(client, made(`${own}x`), text)).toBe(false);
        expect(isOperationOf({ ...client, store: { scope: 'another' } } as typeof client, made(own), text)).toBe(false);
      }
    }
  });

  test('have record ids that depend on namespace and name and reveal neither', async () => {
    const ids = new Map<string, string>();
    const { tab } = newWorld().open();
    for (const { namespace: own, name: operation } of fc.sample(place, { numRuns: 300, seed })) {
      const is = JSON.stringify([own, encodeName(operation)]);
      const { id } = await idsOf(tab as unknown as Parameters<typeof idsOf>[0], { namespace: made(own), label: encodeName(operation), id: undefined });
      expect(id).toMatch(/^[0-9a-f]{32}$/);
      expect(ids.get(id) ?? is).toBe(is);
      ids.set(id, is);
    }
  });
});

describe('unnamed calls under one literal key', () => {
  const send = (once: ReturnType<ReturnType<typeof newWorld>['open']>['once'], body = 'x') =>
    watched(once.fetch(URL_, { method: 'POST', body, headers: { 'idempotency-key': 'order-5' } }));

  test('(P1) of two users on one device are two operations: neither call takes over or settles the record of the other user', async ({ world }) => {
    const { tab, once: ann } = world.open({ namespace: 'ann', limits: { attempts: 1 } });
    const bob = tab.once({ namespace: 'bob', limits: { attempts: 1 } });
    await world.end(tab, send(ann), charged(lost()), charged(lost()));
    const [before] = await world.run(pending(ann));
    await world.end(tab, send(bob));
    expect(await world.run(pending(ann))).toEqual([before]);
    expect(await world.run(pending(bob))).toHaveLength(1);
  });
});

test('child keys differ if their parent keys or labels differ', () => {
  const seen = new Map<string, string>();
  const labels = fc.sample(fc.tuple(fc.constantFrom(...TEXTS), fc.constantFrom(...TEXTS)), { numRuns: 1000, seed });
  for (const [key, label] of labels) {
    const is = JSON.stringify([key, label]);
    const child = childKey(key, label);
    expect(seen.get(child) ?? is).toBe(is);
    seen.set(child, is);
  }
});
