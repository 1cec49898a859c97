/**
 * Goal: if a guest's name has one record in memory and another one in the store, `move` brings the one that is likelier to have had an effect, and reports the
 * key of the one that it leaves. Method: the first write of one page fails, and another page of the guest stores its own record.
 */
import { describe, expect } from 'vitest';
import { move, type Once, pending, subscribe } from '../../src/entries/index.js';
import { answers, charged, type Entry, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { CART, type End, HOUR, NAME, newWorld, ONE, type PayOptions, pay, rest, test, type World, watched } from '../support/world.js';

const REFUSED = answers(400, { code: 'bad_card' });

test.for<[string, Entry, Entry, 'memory' | 'disk']>([
  ['a refused key in memory and a payment in the store that may have charged: the payment moves', REFUSED, charged(lost()), 'disk'],
  ['a payment in memory that may have charged and a refused key in the store: the payment moves', charged(lost()), REFUSED, 'memory'],
  ['two refused keys: the key of this page moves', charged(REFUSED), REFUSED, 'memory'],
  ['two payments that may have charged: the payment of this page moves', charged(lost()), lost(), 'memory'],
])('%s', async ([_, inMemory, inStore, goes], { world }) => {
  const [tab, other] = [world.tab({ resends: true }), world.tab({ resends: true })];
  tab.faults.next('fail-before-commit', 'none', 'fail-before-commit');
  const ends: Record<'memory' | 'disk', End> = {
    memory: await world.end(tab, pay(tab.once({ namespace: 'guest' }), ONE), inMemory),
    disk: await world.end(other, pay(other.once({ namespace: 'guest' }), ONE), inStore),
  };
  for (const [storedIn, { outcome }] of Object.entries(ends)) expect(outcome).toMatchObject({ storedIn });
  const ann = tab.once({ namespace: 'ann' });
  const left: string[] = [];
  subscribe(ann, (event) => void (event.type === 'diagnostic' && event.code === 'move-conflict' && left.push(event.key)));
  await world.run(move(ann, 'guest'));
  expect(left).toEqual([ends[goes === 'memory' ? 'disk' : 'memory'].outcome?.key]);
  expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ effect: 'done', key: ends[goes].outcome?.key });
});

test("a guest's press in the middle of a move does not hide the record that was moved in memory", async () => {
  for (let turns = 0; turns < 100; turns++) {
    const world = newWorld();
    const tab = world.tab();
    const [guest, ann] = [tab.once({ namespace: 'guest' }), tab.once({ namespace: 'ann' })];
    tab.faults.next('fail-before-commit', 'none', 'fail-before-commit');
    const { outcome } = await world.end(tab, pay(guest, ONE), charged(lost()));
    const moving = move(ann, 'guest');
    for (let turn = 0; turn < turns; turn++) await undefined;
    world.server.otherwise = charged(lost());
    await world.end(tab, pay(guest, ONE));
    await world.run(moving);
    world.server.otherwise = replays();
    expect((await world.end(tab, pay(ann))).outcome, `after ${turns} turns`).toMatchObject({ effect: 'done', key: outcome?.key });
  }
});

test.for<[string, Entry, code: string | undefined, conflicts: string[]]>([
  ['was refused: the damaged record takes its place', REFUSED, 'ERR_ONCE_RECORD', []],
  ['may have been sent: it stays, and `move` reports the conflict', charged(lost()), undefined, ['x']],
])("a damaged payment of the guest meets the user's own payment in memory, which %s", async ([, own, code, conflicts], { world }) => {
  const [tab, other] = [world.tab({ resends: true }), world.tab({ resends: true })];
  await world.end(other, pay(other.once({ namespace: 'guest' }), ONE), charged(lost()));
  world.damage((record) => ({ ...record, key: 'x' }));
  const ann = tab.once({ namespace: 'ann' });
  tab.faults.next('fail-before-commit', 'none', 'fail-before-commit');
  expect((await world.end(tab, pay(ann, ONE), own)).outcome).toMatchObject({ storedIn: 'memory' });
  const left: string[] = [];
  subscribe(ann, (event) => void (event.type === 'diagnostic' && event.code === 'move-conflict' && left.push(event.key)));
  await world.run(move(ann, 'guest'));
  expect(left).toEqual(conflicts);
  expect((await world.end(tab, pay(ann), ...(code ? [] : [replays()]))).code).toBe(code);
});

describe.each(['memory', 'disk'] as const)("the app gave both the same key, and the user's record is in %s, the guest's in the other", (storedIn) => {
  const key = 'order-42';
  const EDITED = { ...CART, amount: 12 };

  /** The user presses, then the guest, whose answer is lost, and then the user logs in. */
  async function together(world: World, meets: Entry, options: PayOptions = {}, laterMs = 0): Promise<{ readonly tab: Tab; readonly once: Once }> {
    const [tab, other] = [world.tab(), world.tab()];
    const press = async (namespace: string, where: 'memory' | 'disk', of: PayOptions, entry: Entry): Promise<void> => {
      const on = where === 'memory' ? tab : other;
      if (where === 'memory') on.faults.next('fail-before-commit', 'none', 'fail-before-commit');
      expect((await world.end(on, pay(on.once({ namespace }), { ...ONE, key, ...of }), entry)).outcome).toMatchObject({ storedIn: where });
    };
    await press('ann', storedIn, options, meets);
    await world.clock.advance(laterMs);
    await press('guest', storedIn === 'memory' ? 'disk' : 'memory', {}, lost());
    const once = tab.once({ ...ONE, namespace: 'ann' });
    await world.run(move(once, 'guest'));
    return { tab, once };
  }

  test('after the key window of the attempt of the user, nothing is sent', async ({ world }) => {
    const { tab, once } = await together(world, charged(lost()), {}, 22 * HOUR);
    await world.clock.advance(4 * HOUR);
    expect(await world.end(tab, pay(once, { key }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
  });

  test('what the user sent may have had the effect that the server reports', async ({ world }) => {
    const { tab, once } = await together(world, charged(lost()), { body: EDITED });
    const { outcome } = await world.end(tab, pay(once, { key, body: EDITED, repeat: 'if-changed' }), replays());
    expect(outcome).toMatchObject({ effect: 'done' });
  });

  test('it is pending, under the name of the user', async ({ world }) => {
    const { once } = await together(world, charged(lost()));
    expect(await world.run(pending(once))).toMatchObject([{ name: NAME, sent: 'maybe' }]);
  });

  test('what the user has done stays done', async ({ world }) => {
    const { tab, once } = await together(world, answers(201));
    await world.clock.advance(25 * HOUR);
    expect((await world.end(tab, pay(once, { key }))).outcome).toMatchObject({ effect: 'done' });
  });
});

test.for([0, 1, 2, 4, 8, 10, 20])(
  'a press of the user in the middle of a move, %i turns later, after a refused one in memory: the next press has its key',
  async (turns) => {
    for (let count = 1; count < 12; count++) {
      const world = newWorld();
      const guest = world.open({ ...ONE, namespace: 'guest' });
      await world.end(guest.tab, pay(guest.once), lost());
      const { tab, once } = world.open({ ...ONE, namespace: 'ann' });
      tab.faults.next('fail-before-commit', 'none', 'fail-before-commit');
      await world.end(tab, pay(once), answers(402));
      world.server.otherwise = charged(answers(201));
      let press: Promise<Response> | undefined;
      tab.at(count, () => {
        press = (async () => {
          for (let turn = 0; turn < turns; turn++) await undefined;
          return pay(once);
        })();
      });
      await world.run(watched(move(once, 'guest')));
      await rest();
      press ??= pay(once);
      for (const call of [press, pay(once)]) expect((await world.end(tab, call)).outcome, `at crossing ${count}`).toMatchObject({ effect: 'done' });
      expect(world.server.charged.size, `at crossing ${count}`).toBe(1);
    }
  },
);
