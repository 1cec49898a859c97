/**
 * Goal: a record that could only be kept in memory, beside a store that works again or in another tab, costs nobody a second effect,
 * and nothing of it is passed over. Method: the first write of one tab fails, once.
 */
import { describe, expect } from 'vitest';
import { clear, forget, move, pending, settle } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import { answers, charged, type Entry, lost, replays, unreachable } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { type End, NAME, ONE, pay, test, type World } from '../support/world.js';

/** A payment whose record goes to memory, and whose answer is lost. */
async function degraded(world: World, tab: Tab, once: Once, options: Parameters<typeof pay>[1] = {}): Promise<End> {
  tab.faults.next('fail-before-commit');
  const end = await world.end(tab, pay(once, { ...ONE, ...options }));
  expect(end.outcome).toMatchObject({ storedIn: 'memory' });
  return end;
}

describe('move', () => {
  test.for<[string, Entry, Entry[]]>([
    ['may have charged', charged(lost()), [replays()]],
    ['is done', charged(answers(201)), []],
  ])("a guest's operation in memory does not hide the user's own on the disk, which %s", async ([_, before, after], { world, tab }) => {
    const own = await world.end(tab, pay(tab.once({ namespace: 'ann' }), ONE), before);
    world.server.plays(lost());
    await degraded(world, tab, tab.once({ namespace: 'guest' }));
    const ann = tab.once({ namespace: 'ann' });
    await world.run(move(ann, 'guest'));
    expect((await world.end(tab, pay(ann), ...after)).outcome).toMatchObject({ effect: 'done', key: own.outcome?.key });
  });

  test("what the user has in memory, and came to nothing, does not hide a guest's payment on the disk that may have charged", async ({ world, tab }) => {
    world.server.plays(answers(402, { code: 'card_declined' }), charged(lost()));
    await degraded(world, tab, tab.once({ namespace: 'ann' }));
    const { outcome } = await world.end(tab, pay(tab.once({ namespace: 'guest' }), ONE));
    const ann = tab.once({ namespace: 'ann' });
    await world.run(move(ann, 'guest'));
    expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  });
});

describe('pending', () => {
  test('lists what is in memory in its place, page by page', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(lost(), lost(), lost());
    for (const cart of ['a', 'c']) await world.end(tab, pay(once, { ...ONE, operation: ['pay', cart] }));
    await degraded(world, tab, once, { operation: ['pay', 'b'] });
    const names: unknown[] = [];
    let after: string | undefined;
    for (let page = 0; page < 6; page++) {
      const [one] = await world.run(pending(once, { limit: 1, after }));
      if (!one) break;
      names.push(one.name[1]);
      after = one.cursor;
    }
    expect(names).toEqual(['a', 'b', 'c']);
  });
});

describe('clear', () => {
  test('leaves nothing to read of what another tab has on the disk under a name that is in memory here', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(lost(), lost());
    await degraded(world, tab, once);
    const other = world.open({ namespace: 'ann' });
    const { outcome } = await world.end(other.tab, pay(other.once, { ...ONE, meta: { note: 'secret' }, keep: { request: true } }));
    expect(world.record()).toMatchObject({ meta: { note: 'secret' } });
    await world.run(clear(once));
    const left = world.record();
    expect(left).toMatchObject({ state: 'pending', key: outcome?.key });
    expect([left?.meta, left?.request]).toEqual([undefined, undefined]);
  });
});

describe('a name whose record in memory is gone', () => {
  test('is stored again once the store takes it', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(unreachable());
    const first = await degraded(world, tab, once);
    expect(first.outcome).toMatchObject({ type: 'unsent' });
    const { outcome } = await world.end(tab, pay(once, ONE), charged(lost()));
    expect(outcome).toMatchObject({ effect: 'unknown', storedIn: 'disk' });
    const next = tab.reload();
    expect((await world.end(next, pay(next.once({ namespace: 'ann' })), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  });

  test('is not refused where it must be stored', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(unreachable());
    await degraded(world, tab, once);
    world.server.plays(charged(answers(201)));
    const required = tab.once({ namespace: 'ann', durability: 'required' });
    expect((await world.end(tab, pay(required, ONE))).outcome).toMatchObject({ effect: 'done', storedIn: 'disk' });
  });

  test.for([false, true])('nor after it was forgotten, by a log-out or by its name: %s', async (byClear, { world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(lost());
    await degraded(world, tab, once);
    if (byClear) await world.run(clear(once, { unsettled: 'forget' }));
    else await world.run(forget(once, ['pay', 'c1'], { evenIfUnknown: true }));
    expect((await world.end(tab, pay(once), charged(answers(201)))).outcome).toMatchObject({ effect: 'done', storedIn: byClear ? 'disk' : 'memory' });
  });

  test('does not hide what another tab has sent since, from forget and settle', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(unreachable());
    await degraded(world, tab, once);
    const other = world.open({ namespace: 'ann' });
    const { outcome } = await world.end(other.tab, pay(other.once, ONE), charged(lost()));
    await expect(world.run(forget(once, NAME))).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
    await world.run(settle(once, NAME, 'done'));
    expect(world.record()).toMatchObject({ state: 'settled', key: outcome?.key });
  });
});
