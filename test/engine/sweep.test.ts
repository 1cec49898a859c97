/**
 * Goal: a sweep removes what is no longer needed, a few records at a time, and nothing else, however many records are damaged. Method: the sweep by itself,
 * over records around their time, some of which change while it looks.
 */
import { describe, expect } from 'vitest';
import { encodeName } from '../../src/core/name.js';
import type { OnceRecord } from '../../src/core/record.js';
import type { Client } from '../../src/engine/client.js';
import { sweepNowAndThen } from '../../src/engine/sweep.js';
import { extend } from '../../src/entries/index.js';
import type { Store } from '../../src/ports.js';
import { memoryMedium, memoryStore } from '../../src/stores/memory.js';
import { made } from '../support/made.js';
import { aRecord, type LooseRecord, NOW, sealed } from '../support/record.js';
import { answers } from '../support/server.js';
import { HOUR, pay, rest, test } from '../support/world.js';

const EVERY = 100;
const REST_MS = 60_000;

function scene(own: (memory: Store) => Partial<Store> = () => ({}), random = 0, medium = memoryMedium(), rests = false) {
  const memory = memoryStore({ medium, now: () => NOW });
  const told: unknown[] = [];
  const client = {
    platform: { clock: { now: () => NOW, monotonic: () => NOW, timer: () => () => {} }, randomness: { random: () => random } },
    store: { ...memory, ...own(memory) },
    log: { tell: ({ name }: { name: unknown }, key: string, { code }: { code?: string }) => void told.push([code, name, key]) },
    sweeps: { left: 0, place: 0, damaged: 0, restedAt: 0 },
  } as unknown as Client;
  const settle = async (times = 1): Promise<void> => {
    for (let n = 0; n < times; n++) {
      if (!rests) client.sweeps.restedAt = 0;
      sweepNowAndThen(client);
    }
    await rest();
  };
  const record = (id: string, more: LooseRecord = {}): OnceRecord =>
    aRecord({ id: made(id), label: encodeName([id]), state: 'retired', forgetAt: NOW - 1, key: made(`key of ${id}`), ...more });
  const put = (id: string, more: LooseRecord = {}, damage: object = {}): void => medium.set(id, { ...record(id, more), ...damage });
  const there = (...ids: readonly string[]): readonly string[] => ids.filter((id) => medium.get(id) !== undefined);
  return { medium, client, told, settle, record, put, there };
}
const many = (what: string, count: number): readonly string[] => Array.from({ length: count }, (_, n) => `${what}-${n}`);

describe('a sweep of records that are over', () => {
  test.each([
    ['with the first settle, and then after every hundredth', undefined, [1, EVERY, EVERY]],
    ['after one of a hundred by chance, so that processes that begin together do not find the same records', 0.999, [1, 2 * EVERY - 1, EVERY]],
  ])('comes %s', async (_, random, rounds) => {
    const { settle, put, there } = scene(undefined, random);
    for (const settles of rounds) {
      put('a');
      await settle(settles - 1);
      expect(there('a')).toEqual(['a']);
      await settle();
      expect(there('a')).toEqual([]);
    }
  });

  test('looks again a week later, not at once, at a pending record that a clock far ahead touched after its time', async () => {
    const { medium, settle, put, there } = scene();
    put('a', { state: 'pending', touchedAt: NOW + HOUR, forgetAt: NOW - 1 });
    await settle(EVERY + 1);
    expect(medium.get('a')).toMatchObject({ dueAt: NOW - 1, forgetAt: NOW + 7 * 24 * HOUR });
    await settle(3 * EVERY);
    expect(there('a')).toEqual(['a']);
  });

  test('removes three times as many records as may have come since, and leaves those that are not over', async () => {
    const { settle, put, there } = scene();
    const over = many('over', 4 * EVERY);
    for (const id of over) put(id);
    put('now', { forgetAt: NOW });
    put('later', { state: 'retired', forgetAt: NOW + 1 });
    await settle();
    expect(there(...over)).toHaveLength(EVERY);
    await settle(EVERY);
    expect(there(...over, 'now', 'later')).toEqual(['now', 'later']);
  });

  test('skips damaged records, and reaches past them the next time', async () => {
    const { client, settle, put, there } = scene();
    const damaged = many('damaged', 3 * EVERY);
    for (const id of damaged) put(id, { forgetAt: NOW - 9 }, { key: 'x' });
    const over = many('over', 3 * EVERY);
    for (const id of over) put(id);
    await settle();
    expect([there(...over).length, client.sweeps.damaged]).toEqual([3 * EVERY, 3 * EVERY]);
    await settle(EVERY);
    expect([there(...over).length, there(...damaged).length]).toEqual([0, 3 * EVERY]);
  });

  test('reaches past a bounded number of damaged records', async () => {
    const { client, settle } = scene(() => ({ scan: async () => ({ records: Array(10_001).fill({}) }) }));
    await settle();
    expect(client.sweeps.damaged).toBe(10_000);
  });

  test('leaves a record that has changed, is to stay longer, or is gone since the scan', async () => {
    const changes: ((record: OnceRecord) => unknown)[] = [
      (one) => sealed({ ...one, revision: 2 }),
      (one) => sealed({ ...one, forgetAt: NOW }),
      (one) => ({ ...one, key: 'x' }),
      () => null,
    ];
    const { medium, settle, put, record } = scene((memory) => ({
      scan: async (query) => {
        const page = await memory.scan(query);
        for (const [index, change] of changes.entries()) medium.set(`a-${index}`, change(record(`a-${index}`)));
        return page;
      },
    }));
    for (const index of changes.keys()) put(`a-${index}`);
    await settle();
    expect(changes.map((_, index) => medium.get(`a-${index}`) !== undefined)).toEqual([true, true, true, false]);
  });

  test('reports the operations that it removes and that never settled, and nothing else', async () => {
    const { told, settle, put } = scene();
    put('settled', { state: 'settled', dueAt: NOW - 9 });
    put('retired');
    put('pending', { state: 'pending', dueAt: NOW - 9 });
    // This record stays until a second sweep finds it due.
    put('looked at', { state: 'pending' });
    await settle();
    expect(told).toEqual([['unsettled-forgotten', ['pending'], 'key of pending']]);
  });

  test('that fails does no harm: the next one tries again', async () => {
    let scans = 0;
    const { settle, put, there } = scene((memory) => ({ scan: (query) => (scans++ === 0 ? Promise.reject(new Error('gone')) : memory.scan(query)) }));
    put('a');
    await settle();
    expect(there('a')).toEqual(['a']);
    await settle(EVERY);
    expect(there('a')).toEqual([]);
  });
});

describe('a sweep that found', () => {
  test.for<[string, over: number, storeMs: number, rests: boolean]>([
    ['nothing: the next one comes when its rest is over', 0, NOW, true],
    ['one less than it reads: the next one comes when its rest is over', 3 * EVERY - 1, NOW, true],
    ['as many as it reads: the next one does not rest', 3 * EVERY, NOW, false],
    ['as many as it reads, which are not due by the clock of the store: the next one comes when its rest is over', 3 * EVERY, NOW - HOUR, true],
  ])('%s', async ([_, over, storeMs, rests]) => {
    let now = NOW;
    let scans = 0;
    const medium = memoryMedium();
    const memory = memoryStore({ medium, now: () => storeMs });
    const { client, settle, put } = scene(() => ({ ...memory, scan: (query) => memory.scan(query).finally(() => scans++) }), 0, medium, true);
    Object.assign(client.platform.clock, { now: () => now });
    for (const id of many('over', over)) put(id);
    const sweeps = async (at: number): Promise<number> => {
      const before = scans;
      now = at;
      await settle(EVERY);
      return scans - before;
    };
    expect(await sweeps(NOW)).toBe(1);
    expect(await sweeps(NOW + REST_MS - 1)).toBe(rests ? 0 : 1);
    expect(await sweeps(NOW + 2 * REST_MS)).toBe(1);
    // The clock is set back.
    expect(await sweeps(NOW - HOUR)).toBe(1);
  });
});

test('clients that a service extends from one another, one for each request, sweep as one client', async ({ world, tab }) => {
  let scans = 0;
  const scan: Store['scan'] = (query) => tab.store.scan(query).finally(() => scans++);
  const once = tab.once({ store: { ...tab.store, scan } });
  for (let n = 0; n < 10; n++) await world.end(tab, pay(extend(once, { namespace: `user-${n}` })), answers(201));
  await rest();
  expect(scans).toBe(1);
});
