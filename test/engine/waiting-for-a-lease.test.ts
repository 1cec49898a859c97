/**
 * Goal: a driver holds a lease as long as it lives and no longer, and holds only its own. A call that waits for a lease reads the record often enough, ends in
 * time, and takes over what is free. Method: the lease by itself, over records that change during the wait.
 */
import { test as anyTest, describe, expect } from 'vitest';
import type { OnceRecord, PendingRecord } from '../../src/core/record.js';
import { MOVED } from '../../src/core/retention.js';
import type { Client, Driver, OperationRun } from '../../src/engine/client.js';
import { awaitLease, holdingLease, renew } from '../../src/engine/lease.js';
import { heldElsewhere } from '../../src/engine/record-access.js';
import { StopSource } from '../../src/engine/stop-signal.js';
import { memoryMedium, memoryStore } from '../../src/stores/memory.js';
import { virtualClock } from '../../src/testing/virtual-clock.js';
import { made } from '../support/made.js';
import { aRecord, NOW } from '../support/record.js';
import { LEAN } from '../support/texts.js';
import { rest } from '../support/world.js';

const LEASE_MS = 15_000;
const BEAT_MS = 5000;
const LEASE = { owner: 'me', until: NOW + LEASE_MS };

const record = (more: Partial<OnceRecord> = {}): OnceRecord => aRecord({ lease: LEASE, ...more });

function scene() {
  const clock = virtualClock({ start: NOW, settle: rest });
  const medium = memoryMedium();
  const looks: number[] = [];
  const memory = memoryStore({ medium, now: () => clock.now() });
  const store = {
    ...memory,
    read: (id: string) => {
      looks.push(clock.now() - NOW);
      return memory.read(id);
    },
  };
  const client = {
    platform: { clock },
    store,
    owner: 'me',
    registry: { degraded: new Map(), flights: new Map(), states: new Map(), screens: new Set() },
    log: {},
    closing: new StopSource(),
  } as unknown as Client;
  const stop = new AbortController();
  const job = {
    client,
    operationKey: 'key',
    id: 'id',
    name: ['pay'],
    stop: stop.signal,
    deadline: NOW + 60_000,
    seen: { at: Infinity, aheadMs: 0 },
    settings: { limits: { leaseMs: LEASE_MS }, whenBusy: 'join' },
  } as unknown as OperationRun;
  medium.set('id', record());
  const stored = () => medium.get('id') as OnceRecord | undefined;
  return { clock, medium, client, stop, job, looks, stored };
}
const test = anyTest.extend('one', () => scene());

describe('a lease', () => {
  const hold = ({ job }: ReturnType<typeof scene>, own = record()) => {
    let end: () => void = () => {};
    const work = new Promise<void>((resolve) => {
      end = resolve;
    });
    const held = holdingLease({ job, record: own } as unknown as Driver, () => work);
    return { held, end };
  };

  test('is renewed three times in its time, and no more once the work has ended', async ({ one }) => {
    const { held, end } = hold(one);
    await one.clock.advance(BEAT_MS - 1);
    expect(one.stored()?.lease?.until).toBe(NOW + LEASE_MS);
    await one.clock.advance(1);
    expect(one.stored()?.lease).toEqual({ owner: 'me', until: NOW + BEAT_MS + LEASE_MS });
    await one.clock.advance(10 * BEAT_MS);
    expect(one.stored()?.lease?.until).toBe(NOW + 11 * BEAT_MS + LEASE_MS);
    end();
    await held;
    expect(one.clock.pending).toBe(0);
  });

  test('ends when the work fails', async () => {
    const { job, clock } = scene();
    await expect(holdingLease({ job, record: record() } as unknown as Driver, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(clock.pending).toBe(0);
  });

  test('is not held if the record has none', async ({ one }) => {
    const { held, end } = hold(one, record({ lease: undefined }));
    expect(one.clock.pending).toBe(0);
    end();
    await held;
  });

  test.each<[string, OnceRecord | null | object]>([
    ['is gone', null],
    ['is damaged', { ...record(), key: 'x' }],
    ['has settled', record({ state: 'settled' })],
    ['was taken over', record({ revision: 2, lease: { ...LEASE, owner: 'another' } })],
    ['is another operation', record({ key: made('another') })],
    ['has no lease any more', record({ lease: undefined })],
  ])('of a record that %s is not renewed', async (_, there) => {
    const one = scene();
    const { held, end } = hold(one);
    one.medium.set('id', there);
    const before = one.stored();
    await one.clock.advance(BEAT_MS);
    expect(one.stored()).toEqual(before);
    end();
    await held;
    // The driver reads it in the same way before its next attempt.
    expect((await renew({ job: one.job, record: record() as PendingRecord })) ?? undefined).toEqual(before);
  });

  test('that a move has left is not renewed by the driver that goes on: otherwise the operation could never end as none', async ({ one }) => {
    const moved = record({ lease: { ...LEASE, owner: MOVED } });
    one.medium.set('id', moved);
    const { held, end } = hold(one, moved);
    await one.clock.advance(BEAT_MS);
    expect(one.stored()).toEqual(moved);
    end();
    await held;
  });
});

describe('a call that waits for a lease', () => {
  const waiting = (one: ReturnType<typeof scene>, ms = LEASE_MS) => {
    let over: number | string | undefined;
    void awaitLease(one.job, ms).then(
      () => {
        over = one.clock.now() - NOW;
      },
      (error: { code: string }) => {
        over = error.code;
      },
    );
    return async () => {
      await rest();
      return over;
    };
  };

  test('reads the record soon, then less and less often, and goes on when its time is over', async ({ one }) => {
    const over = waiting(one);
    await one.clock.advance(LEASE_MS - 1);
    expect(await over()).toBeUndefined();
    await one.clock.advance(1);
    expect(await over()).toBe(LEASE_MS);
    expect(one.looks.slice(0, 8)).toEqual([20, 60, 140, 300, 620, 1260, 2260, 3260]);
    expect(one.clock.pending).toBe(0);
  });

  test('shows that it waits for another context', async ({ one }) => {
    await waiting(one)();
    expect(one.client.registry.states.get(made('key'))?.state).toEqual({ phase: 'waiting', attempt: 0, until: NOW + LEASE_MS, why: 'another-context' });
  });

  test.each<[string, unknown]>([
    ['settled', record({ state: 'settled' })],
    ['retired', record({ state: 'retired' })],
    ['without a lease', record({ lease: undefined })],
    ['gone', null],
  ])('goes on when the record is %s', async (_, there) => {
    const one = scene();
    const over = waiting(one);
    await one.clock.advance(30);
    one.medium.set('id', there);
    await one.clock.advance(100);
    expect(await over()).toBe(60);
  });

  test.each<[string, (one: ReturnType<typeof scene>) => void]>([
    ['is damaged', (one) => one.medium.set('id', { ...record(), key: 'x' })],
    ['cannot be read', (one) => void Object.assign(one.client.store, { read: () => Promise.reject(new Error('gone')) })],
  ])('goes on waiting if the record %s', async (_, change) => {
    const one = scene();
    const over = waiting(one);
    change(one);
    await one.clock.advance(LEASE_MS - 1);
    expect(await over()).toBeUndefined();
    expect(one.job.seen.at).toBe(Infinity);
  });

  test('notes when it saw the record last, and for good that something may have been sent', async ({ one }) => {
    one.medium.set('id', record({ ambiguous: false }));
    waiting(one);
    await one.clock.advance(200);
    expect(one.job.seen.at).toBe(NOW + 140);
    one.medium.set('id', record());
    await one.clock.advance(200);
    expect(one.job.seen.at).toBe(-Infinity);
  });

  // No page asks whether a process is gone.
  if (!LEAN)
    describe('of a process that is gone', () => {
      const gone = (one: ReturnType<typeof scene>, sinceMs: number): void => {
        one.medium.set('id', record({ lease: { ...LEASE, owner: 'process.client' } }));
        Object.assign(one.client.store, { isGone: async (holder: string) => holder === 'process' && one.clock.now() >= NOW + sinceMs });
      };

      test("goes on at once, also with whenBusy: 'reject'", async ({ one }) => {
        gone(one, 0);
        Object.assign(one.job.settings, { whenBusy: 'reject' });
        expect(await waiting(one)()).toBe(0);
      });

      test('goes on soon after the process has gone', async ({ one }) => {
        gone(one, 100);
        const over = waiting(one);
        await one.clock.advance(200);
        expect(await over()).toBe(140);
      });
    });

  test("ends as busy when its own time is over, and at once with whenBusy: 'reject'", async ({ one }) => {
    Object.assign(one.job, { deadline: NOW + 100 });
    const over = waiting(one);
    await one.clock.advance(99);
    expect(await over()).toBeUndefined();
    await one.clock.advance(1);
    expect(await over()).toBe('ERR_ONCE_BUSY');
    const two = scene();
    Object.assign(two.job.settings, { whenBusy: 'reject' });
    expect(await waiting(two)()).toBe('ERR_ONCE_BUSY');
  });
});

test.each<[string, OnceRecord | undefined, boolean]>([
  ['no record', undefined, false],
  ['a record without a lease', record({ lease: undefined }), false],
  ["a record with the client's own lease", record(), false],
  ["a record with another client's lease", record({ lease: { owner: 'other', until: NOW + 1 } }), true],
  ["a record with another client's lease that is just over", record({ lease: { owner: 'other', until: NOW } }), false],
])('%s is held elsewhere: %s', (_, stored, held) => expect(heldElsewhere({ owner: 'me' } as Client, stored, NOW)).toBe(held));
