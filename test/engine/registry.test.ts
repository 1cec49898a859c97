/** Goal: what copies of the package share stays shared and bounded, and a newer copy works with what an older copy made. */
import { afterEach, describe, expect, test } from 'vitest';
import { keepRecent, registry } from '../../src/engine/registry.js';

const KEY = Symbol.for('oncefetch');
const realm = globalThis as { [KEY]?: object };
const before = realm[KEY];
afterEach(() => {
  if (before) realm[KEY] = before;
  else delete realm[KEY];
});

test('a table drops the entry that was used longest ago', () => {
  const table = new Map<string, number>();
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4],
  ] as const)
    keepRecent(table, key, value, 2);
  expect([...table]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
  keepRecent(table, 'd', 5, 1);
  expect([...table]).toEqual([['d', 5]]);
});

describe('the registry', () => {
  test('is made once, and shared', () => {
    delete realm[KEY];
    const one = registry();
    expect(registry()).toBe(one);
    expect(realm[KEY]).toBe(one);
  });

  test('that an older copy made keeps its tables, and gets those that it lacks', () => {
    const flights = new Map();
    realm[KEY] = { flights };
    const one = registry();
    expect(one.flights).toBe(flights);
    expect(realm[KEY]).toBe(one);
    expect(Object.keys(one).sort()).toEqual([
      'answers',
      'budgets',
      'degraded',
      'flights',
      'ignored',
      'latest',
      'lives',
      'noticed',
      'outcomes',
      'payloads',
      'screens',
    ]);
  });
});
