/**
 * Goal: a late writer changes nothing, a read that failed does not mean that there is no record, and each store is called what it is. Method: the reads and
 * writes by themselves, over records of every kind.
 */
import { describe, expect, test } from 'vitest';
import type { Label, OperationKey, RecordId } from '../../src/core/ids.js';
import type { OnceRecord } from '../../src/core/record.js';
import { MOVED } from '../../src/core/retention.js';
import type { Client } from '../../src/engine/client.js';
import { commit, nothingSent, readStored, storedIn, updateStored } from '../../src/engine/record-access.js';
import type { Store } from '../../src/ports.js';
import { memoryMedium, memoryStore } from '../../src/stores/memory.js';
import { virtualClock } from '../../src/testing/virtual-clock.js';
import { made } from '../support/made.js';
import { NOW, aRecord as record } from '../support/record.js';
import { rest } from '../support/world.js';

function scene(own: Partial<Store> = {}) {
  const clock = virtualClock({ start: NOW, settle: rest });
  const medium = memoryMedium();
  const durabilities: unknown[] = [];
  const memory = memoryStore({ medium, now: () => clock.now() });
  const store: Store = {
    ...memory,
    update: (id, change, options) => {
      durabilities.push(options?.durability);
      return memory.update(id, change, options);
    },
    ...own,
  };
  const told: unknown[] = [];
  const client = {
    platform: { clock },
    store,
    registry: { degraded: new Map<string, Store>(), lastKnown: new Map() },
    log: { tell: (_: object, key: string, { code }: { code?: string }) => void told.push([code, key]) },
  } as unknown as Client;
  const job = {
    client,
    operationKey: made<OperationKey>('operationKey'),
    id: made<RecordId>('id'),
    name: ['pay'],
    label: made<Label>('["pay"]'),
    deadline: Number.POSITIVE_INFINITY,
  } as const;
  return { clock, medium, durabilities, client, job, told };
}

test.each<[Partial<Store>, string]>([
  [{ shared: 'context', survives: 'context' }, 'memory'],
  [{ shared: 'origin', survives: 'context' }, 'session'],
  [{ shared: 'origin', survives: 'process' }, 'disk'],
  [{ shared: 'cluster', survives: 'failover' }, 'disk'],
  [{ shared: 'cluster', survives: 'failover', storedIn: () => 'session' }, 'session'],
])('a store that is %j is called %s', (claims, called) => expect(storedIn(claims as Store)).toBe(called));

describe('a write over a known record', () => {
  test('replaces that record, relaxed unless the call says otherwise', async () => {
    const { job, medium, durabilities } = scene();
    medium.set('id', record());
    expect(await commit(job, record(), () => record({ revision: 2 }))).toBe(true);
    expect(medium.get('id')).toMatchObject({ revision: 2 });
    expect(await commit(job, record({ revision: 2 }), () => null, 'strict')).toBe(true);
    expect(medium.get('id')).toBeUndefined();
    await updateStored(job, () => ({ value: undefined }));
    expect(durabilities).toEqual(['relaxed', 'strict', 'relaxed']);
  });

  test.each<[string, unknown]>([
    ['gone', null],
    ['damaged', { ...record(), key: 'x' }],
    ['settled', record({ state: 'settled' })],
    ["another driver's by now", record({ revision: 2 })],
    ['another operation', record({ key: made('another') })],
  ])('does not replace a record that is %s', async (_, there) => {
    const { job, medium, told } = scene();
    medium.set('id', there);
    const before = medium.get('id');
    expect(await commit(job, record(), () => record({ key: made('mine') }))).toBe(false);
    expect(medium.get('id')).toEqual(before);
    expect(told).toEqual([]);
  });

  test.each<[string, string, 'settled' | 'retired', boolean]>([
    ['another driver, which has woken up', 'other', 'settled', false],
    ['a move, whose attempt may be under way: no refusal counts', MOVED, 'retired', false],
    ['a move, of which nothing but a proven effect is stored', MOVED, 'settled', true],
    ['the driver itself', 'me', 'retired', true],
  ])('by a driver without a lease, while the record has that of %s', async (_, owner, state, writes) => {
    const { client, job, medium } = scene();
    Object.assign(client, { owner: 'me' });
    medium.set('id', record({ lease: { owner, until: NOW + 1000 } }));
    expect(await commit(job, record(), () => record({ state }))).toBe(writes);
    expect(medium.get('id')).toMatchObject({ state: writes ? state : 'pending' });
  });

  test('keeps the lease that was renewed since the driver saw it', async () => {
    const { client, job, medium } = scene();
    Object.assign(client, { owner: 'me' });
    const known = record({ lease: { owner: 'me', until: NOW + 1 } });
    medium.set('id', { ...known, lease: { owner: 'me', until: NOW + 1000 } });
    expect(await commit(job, known, () => ({ ...known, link: '/jobs/1' }) as OnceRecord)).toBe(true);
    expect(medium.get('id')).toMatchObject({ link: '/jobs/1', lease: { until: NOW + 1000 } });
  });

  test('that fails causes a diagnostic with its key', async () => {
    const { job, told } = scene({ update: () => Promise.reject(new Error('full')) });
    expect(await commit(job, record(), () => record())).toBe(false);
    expect(told).toEqual([['store-write', 'k']]);
  });
});

describe('`nothingSent`', () => {
  test.each<[string, unknown, boolean]>([
    ['no record', null, true],
    ['a record that is clean, which another context may send', record({ ambiguous: false }), false],
    ['a clean record whose key others may have used', record({ ambiguous: false, random: false }), false],
    ['a record that may have been sent', record(), false],
    ['a record that ended without effect', record({ state: 'retired', ending: { type: 'rejected', effect: 'none', replayed: false } }), true],
    ['a record that was forgotten', record({ state: 'retired', ending: { type: 'unknown', effect: 'unknown', reason: 'record', retryAt: undefined } }), false],
    ['a retired record without an ending', record({ state: 'retired' }), false],
    ['a record that is done', record({ state: 'settled', ending: { type: 'replayed', effect: 'done', from: 'server' } }), false],
    ['a damaged record', { ...record(), key: 'x' }, false],
  ])('with %s in the store', async (_, there, nothing) => {
    const { client, medium } = scene();
    medium.set('id', there);
    expect((await nothingSent({ client, operationKey: made('operationKey'), id: made('id') })) === true).toBe(nothing);
  });

  test('rejects if the store cannot be read', async () => {
    const { client } = scene({ read: () => Promise.reject(new Error('gone')) });
    await expect(nothingSent({ client, operationKey: made('operationKey'), id: made('id') })).rejects.toThrow('gone');
    await expect(readStored({ client, operationKey: made('operationKey'), id: made('id') })).rejects.toThrow('gone');
  });
});
