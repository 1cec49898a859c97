/**
 * Goal: docs/stores.md tells the truth about a store that goes back in time. Some of these tests show a second effect, which the guide names. Method: the
 * records are copied, the operation goes on, and the copy is put back, as a restored backup, a failover, or a phone that is set up from another does.
 */
import { describe, expect } from 'vitest';
import { resumeOne, settle } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, idle, lost, replays } from '../support/server.js';
import { HOUR, MINUTE, NAME, newWorld, ONE, type PayOptions, pay, test, type World, watched } from '../support/world.js';

const OPTIONS = { namespace: 'ann', keep: { request: true } } as const;
const declined = () => idle(answers(402, { code: 'card_declined' }));
const DERIVED: PayOptions = { key: ({ generation }) => `order-42-${generation}`, verdict: ({ status }) => (status === 402 ? 'rejected-for-good' : undefined) };

/** Copies all records. The result puts the copy in place of what is stored then. */
function backup(world: World): () => void {
  const copy = new Map(world.writes.map(({ id }) => [id, world.medium.get(id)]));
  return () => {
    for (const { id } of world.writes) world.medium.set(id, copy.get(id) ?? null);
  };
}

/** What the copy has, and what it became before the copy came back: it is paid. */
async function restored(of: 'nothing' | 'unsettled' | 'refused', given: PayOptions = {}) {
  const world = newWorld();
  const { tab, once } = world.open(OPTIONS);
  if (of === 'unsettled') await world.end(tab, pay(once, { ...ONE, ...given }), charged(lost()));
  if (of === 'refused') await world.end(tab, pay(once, given), declined());
  const restore = backup(world);
  await world.end(tab, pay(once, given), of === 'unsettled' ? replays() : answers(201));
  restore();
  const page = tab.reload();
  return { world, tab: page, once: page.once(OPTIONS) };
}

describe('the copy has', () => {
  test.for(['nothing', 'refused'] as const)('%s of what is done: a random key is another one, and has a second effect', async (of) => {
    const { world, tab, once } = await restored(of);
    await world.end(tab, pay(once), answers(201));
    expect(world.server.charged.size).toBe(2);
  });

  test('nothing, and the key is derived: the server repeats its answer', async () => {
    const { world, tab, once } = await restored('nothing', DERIVED);
    expect((await world.end(tab, pay(once, DERIVED), replays())).outcome).toMatchObject({ type: 'replayed', key: 'order-42-0' });
  });

  test('a refused operation, and keys are derived: the key that took effect is made again', async () => {
    const { world, tab, once } = await restored('refused', DERIVED);
    expect((await world.end(tab, pay(once, DERIVED), replays())).outcome).toMatchObject({ type: 'replayed', key: 'order-42-1' });
  });

  test('the operation unsettled: it goes on under its key, within the key window only', async () => {
    for (const late of [false, true]) {
      const { world, tab, once } = await restored('unsettled');
      if (late) await world.clock.advance(24 * HOUR);
      const end = await world.end(tab, pay(once), ...(late ? [] : [replays()]));
      expect(end.outcome).toMatchObject(late ? { reason: 'key-expired' } : { type: 'replayed' });
      expect(world.server.charged.size).toBe(1);
    }
  });

  test("the operation unsettled, and it was refused and paid under another key since: it is sent again, and what comes of that is the server's affair", async () => {
    for (const keeps of [true, false]) {
      const world = newWorld();
      const { tab, once } = world.open(OPTIONS);
      await world.end(tab, pay(once, ONE), idle(lost()));
      const restore = backup(world);
      await world.run(settle(once, NAME, 'none'));
      await world.end(tab, pay(once), answers(201));
      restore();
      const page = tab.reload();
      const again = page.once(OPTIONS);
      const { outcome } = await world.end(page, watched(resumeOne(again, NAME)), keeps ? idle(replays(402)) : answers(201));
      expect(outcome).toMatchObject(keeps ? { effect: 'none' } : { effect: 'done' });
      expect(world.server.charged.size).toBe(keeps ? 1 : 2);
    }
  });

  test('the operation as stored offline: its key counts as never sent, so that the key window begins anew', async ({ world, tab }) => {
    const page = await pressOffline(tab, (offline) => void pay(offline.once(OPTIONS)));
    const restore = backup(world);
    const { outcome } = await world.end(page, pay(page.once(OPTIONS)), answers(201));
    await world.clock.advance(25 * HOUR);
    restore();
    const next = page.reload();
    await world.end(next, pay(next.once(OPTIONS)), answers(201));
    expect(world.server.keys).toEqual([outcome?.key, outcome?.key]);
  });
});

test.for(['nothing', 'unsettled', 'refused'] as const)(
  'the copy has %s, and the app settles as done what it finds at its server: the next call sends nothing',
  async (of) => {
    const { world, tab, once } = await restored(of);
    await world.clock.advance(MINUTE);
    await world.run(settle(once, NAME, 'done'));
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    expect(world.server.charged.size).toBe(1);
  },
);

test('a server that decides anew after a refusal, although `verdict` says for good: once the record is lost, the derived key charges again', async ({
  world,
}) => {
  const { tab, once } = world.open(OPTIONS);
  const restore = backup(world);
  await world.end(tab, pay(once, DERIVED), declined());
  await world.end(tab, pay(once, DERIVED), answers(201));
  restore();
  await world.end(tab, pay(once, DERIVED), answers(201));
  expect([...world.server.charged]).toEqual(['order-42-1', 'order-42-0']);
});
