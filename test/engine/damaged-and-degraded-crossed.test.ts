/**
 * Goal: what is told of damaged records, and what a store did not take, stays true over a log-out, a `move`, a `resume` and a screen that looks again and
 * again. Method: damaged records of one user and another, and a full store, in pages with two users and two tabs.
 */
import { describe, expect } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { clear, move, type OnceEvent, pending, resumeOne, subscribe } from '../../src/entries/index.js';
import { charged, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { NAME, ONE, pay, resumed, test, type World, watched } from '../support/world.js';

const noticed = (tab: Tab) => tab.in(() => (globalThis as unknown as Record<symbol, { noticed: Map<string, true> }>)[Symbol.for('oncefetch')]?.noticed.size);

const ANN = { namespace: 'ann' } as const;

/** A page of Ann with a payment of hers, whose record is damaged. `heard`: what its listener is told from then on. */
async function damaged(world: World) {
  const who = { user: 'ann' };
  const { tab, once } = world.open({ namespace: () => who.user, keep: { request: true } });
  await world.end(tab, pay(once, ONE), charged(lost()));
  world.damage((record) => ({ ...record, key: 'x' }));
  const heard: OnceEvent[] = [];
  subscribe(once, (event) => heard.push(event));
  return { tab, once, who, heard };
}

describe('a damaged record', () => {
  test('is told of once, as one of the user who is here, however often a screen looks', async ({ world }) => {
    const { tab, once, heard } = await damaged(world);
    for (let times = 0; times < 20; times++) expect(await world.run(pending(once))).toEqual([]);
    expect(await world.run(resumed(once))).toEqual([]);
    expect(heard).toMatchObject([{ type: 'diagnostic', code: 'record-damaged', foreign: false }]);
    expect(noticed(tab)).toBe(1);
  });

  test('stays damaged at a log-out, which is no second effect: the next press is refused', async ({ world }) => {
    const { tab, once, heard } = await damaged(world);
    expect(await world.run(clear(once))).toEqual({ kept: [] });
    expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { effect: 'unknown', reason: 'record' } });
    expect(heard.filter(({ type }) => type === 'diagnostic')).toHaveLength(1);
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('moves with its guest, still damaged, and is told of once', async ({ world }) => {
    const { tab, once, who, heard } = await damaged(world);
    who.user = 'bert';
    await world.run(move(once, 'ann'));
    expect(await world.run(pending(once))).toEqual([]);
    expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { effect: 'unknown', reason: 'record' } });
    expect(heard.filter(({ type }) => type === 'diagnostic')).toHaveLength(1);
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('of a thousand names and more takes no more memory than a thousand', async ({ world }) => {
    const { tab, once } = await damaged(world);
    const [record] = world.records as OnceRecord[];
    for (let copy = 0; copy < 1100; copy++)
      world.medium.set(`copy-${copy}`, { ...(record as OnceRecord), id: `copy-${copy}` as never, label: `["copy",${copy}]` as never });
    expect(await world.run(pending(once))).toEqual([]);
    expect(noticed(tab)).toBe(1000);
  });
});

test('what a full store did not take is gone from memory at a log-out, but for its key, which the next press sends', async ({ world, tab }) => {
  const once = tab.once({ ...ANN, keep: { request: true } });
  tab.faults.rate('full', 1);
  const codes: string[] = [];
  subscribe(once, (event) => event.type === 'diagnostic' && codes.push(event.code));
  const { outcome } = await world.end(tab, pay(once, { ...ONE, meta: { total: 5 } }), charged(lost()));
  expect(outcome).toMatchObject({ effect: 'unknown', storedIn: 'memory' });
  expect((await world.run(clear(once))).kept).toMatchObject([{ name: NAME, key: outcome?.key, meta: undefined, resumable: false }]);
  expect(JSON.stringify([...tab.degraded])).not.toMatch(/total|amount/);
  expect(await world.run(pending(tab.once({ namespace: 'bert' })))).toEqual([]);
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
  expect(codes).toEqual(['store-degraded']);
});

test('after a log-out in another tab, a tab that has the request in memory can still send it, under its key; a reloaded one cannot', async ({ world }) => {
  const { tab, once } = world.open({ ...ANN, keep: { request: true } });
  const { outcome } = await world.end(tab, pay(once, ONE), charged(lost()));
  const other = world.open(ANN);
  expect((await world.run(clear(other.once))).kept).toMatchObject([{ resumable: false }]);
  expect(await world.run(pending(once))).toMatchObject([{ key: outcome?.key, resumable: true, meta: undefined }]);
  expect((await world.end(tab, watched(resumeOne(once, NAME) as Promise<Response>), replays())).outcome).toMatchObject({ key: outcome?.key, effect: 'done' });
  const next = world.open({ ...ANN, keep: { request: true } });
  await world.end(next.tab, pay(next.once, { ...ONE, operation: ['pay', 2] }), charged(lost()));
  await world.run(clear(other.once));
  expect(await world.run(pending(next.tab.reload().once(ANN)))).toMatchObject([{ resumable: false }]);
});
