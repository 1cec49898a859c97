/** Goal: what copies of the package share stays shared and bounded, and a newer copy works with what an older copy made. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Namespace } from '../../src/core/ids.js';
import { keepRecent, logOutsOf, noteLogOut, registry } from '../../src/engine/registry.js';
import { createOnce } from '../../src/entries/index.js';
import { clientOf } from '../../src/once.js';
import { memoryStore } from '../../src/stores/memory.js';

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
  const dropped: number[] = [];
  keepRecent(table, 'd', 5, 1, (value) => dropped.push(value));
  expect([...table]).toEqual([['d', 5]]);
  expect(dropped).toEqual([3, 4]);
});

test('the log-out of one user says nothing of another, and is remembered beside it', () => {
  const client = clientOf(createOnce({ store: memoryStore() }), 'test');
  const [ann, bob] = ['ann', 'bob'] as Namespace[] as [Namespace, Namespace];
  noteLogOut(client, ann);
  noteLogOut(client, bob);
  noteLogOut(client, bob);
  expect([logOutsOf(client, ann), logOutsOf(client, bob), logOutsOf(client, 'eve' as Namespace)]).toEqual([1, 2, 0]);
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
      'hearing',
      'ignored',
      'lastKnown',
      'latest',
      'logOuts',
      'noticed',
      'outcomes',
      'payloads',
      'screens',
      'states',
    ]);
  });
});

/** The names of all members, also of those that the class has. */
const membersOf = (value: object | undefined): string[] => {
  const names = new Set<string>();
  for (let at = value; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  return [...names].filter((name) => name !== 'constructor').sort();
};

/** What other versions of the package, on the same page, find in the tables and call. */
const SHARED = {
  flight: ['client', 'deadline', 'ended', 'fingerprint', 'fingerprinted', 'join', 'land', 'landed', 'looks', 'seen', 'stop'],
  stop: ['aborted', 'abort', 'readers', 'addEventListener', 'removeEventListener'],
  state: ['listeners', 'state'],
  payload: ['endpoint', 'keyed', 'origin', 'prepared', 'send', 'withBytesOf'],
  answer: ['copy', 'lasting', 'ok', 'response', 'value'],
};

test('what the tables hold keeps the members that copies of other versions use: where one goes or gets another type, the registry needs another name', async () => {
  delete realm[KEY];
  const seen: Record<string, string[]> = {};
  const fetch = async (): Promise<Response> => {
    const { flights, states, payloads } = registry();
    const [flight] = flights.values();
    seen['flight'] = membersOf(flight);
    seen['stop'] = membersOf(flight?.stop);
    seen['state'] = membersOf([...states.values()][0]);
    seen['payload'] = membersOf([...([...payloads.values()][0] ?? new Map()).values()][0]);
    return new Response('{}', { status: 201 });
  };
  await createOnce({ fetch, store: memoryStore() }).fetch('https://shop.example/api', { method: 'POST', body: '{}', once: ['pay', 1] });
  const { answers, outcomes } = registry();
  seen['answer'] = membersOf([...answers.values()][0]?.[0]);
  expect(outcomes).toBeInstanceOf(WeakMap);
  for (const [what, members] of Object.entries(SHARED)) expect(seen[what], what).toEqual(expect.arrayContaining(members));
});
