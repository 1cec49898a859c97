/**
 * Goal: what a page has heard to be done it does not do again because another tab, which has not heard of it, ended it as none. Method: the store
 * fails when a payment ends as done, and still has it as pending; another tab then ends it, in each way in which a tab can.
 */
import { expect } from 'vitest';
import { clear, forget, move, refresh, resumeOne, settle } from '../../src/entries/index.js';
import { answers, charged, during, lost, replays } from '../support/server.js';
import { HOUR, test as inWorld, MINUTE, NAME, ONE, onScreen, type Page, pay, rest, URL_, type World, watched } from '../support/world.js';

const SHOP = { namespace: 'shop' } as const;
const DECLINED = () => answers(402, { code: 'paid' });

const test = inWorld.extend('page', async ({ world }) => {
  const { tab, once } = world.open({ ...ONE, ...SHOP });
  const { outcome } = await world.end(tab, pay(once), charged(during(() => tab.faults.rate('fail-before-commit', 1), answers(201))));
  expect(outcome).toMatchObject({ type: 'fresh', effect: 'done' });
  tab.faults.clear();
  await world.clock.advance(MINUTE);
  return { tab, once, key: outcome?.key };
});

/** Ways in which another tab ends it as none. */
const WAYS: [string, (world: World, other: Page) => Promise<unknown>][] = [
  ['was told so by hand', (world, { once }) => world.run(settle(once, NAME, 'none'))],
  [
    'was refused again and again',
    async (world, { tab, once }) => {
      await world.end(tab, pay(once), DECLINED());
      await world.clock.advance(3 * MINUTE);
      expect((await world.end(tab, pay(once), DECLINED())).outcome).toMatchObject({ effect: 'none' });
    },
  ],
  [
    'asked `reconcile`',
    async (world, { tab }) => {
      await world.clock.advance(25 * HOUR);
      const once = tab.once({ ...SHOP, reconcile: async () => 'none' });
      expect(await world.end(tab, resumeOne(once, NAME))).toMatchObject({ outcome: { effect: 'none' } });
    },
  ],
];

test.for(WAYS)('the next press sends nothing after another tab %s, and tells that tab that it is done', async ([, none], { world, page }) => {
  const { tab, once, key } = page;
  const other = world.open({ ...ONE, ...SHOP });
  await none(world, other);
  const sent = world.server.keys.length;
  for (const each of [{ tab, once }, other])
    expect(await world.end(each.tab, pay(each.once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done', key } });
  expect(world.server.keys).toHaveLength(sent);
});

test('a screen goes on showing that it is done, and settle takes no none', async ({ world, page }) => {
  await world.run(settle(world.open(SHOP).once, NAME, 'none'));
  const screen = onScreen(page.once);
  refresh(page.once);
  await rest();
  expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
  await expect(world.run(settle(page.once, NAME, 'none'))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
});

test("with repeat: 'if-changed' an equal press sends nothing; a changed one, and one with 'always', is another effect", async ({ world, page }) => {
  const { tab, once, key } = page;
  await world.run(settle(world.open(SHOP).once, NAME, 'none'));
  expect(await world.end(tab, pay(once, { repeat: 'if-changed' }))).toMatchObject({ outcome: { effect: 'done', key } });
  for (const of of [{ repeat: 'if-changed', body: { cart: 'c1', amount: 12 } }, { repeat: 'always' }] as const)
    expect((await world.end(tab, pay(once, of), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
  expect(world.server.charged.size).toBe(3);
});

test("with repeat: 'always' a press goes on with what another tab has sent again since, and does not end it", async ({ world, page }) => {
  const { tab, once, key } = page;
  const other = world.open({ ...ONE, ...SHOP });
  await world.end(other.tab, pay(other.once, { repeat: 'always' }), lost());
  expect((await world.end(tab, pay(once, { repeat: 'always' }), replays())).outcome).toMatchObject({ effect: 'done', key });
  expect(new Set(world.server.keys)).toEqual(new Set([key]));
});

test.for<[string, (world: World, other: Page) => Promise<unknown>]>([
  ['forgot it', (world, { once }) => world.run(forget(once, NAME, { evenIfUnknown: true }))],
  ['logged out and dropped it, after this page did', async (world, { once }) => world.run(clear(once, { unsettled: 'forget' }))],
])('a press begins anew after another tab %s', async ([what, ends], { world, page }) => {
  const { tab, once, key } = page;
  if (/page/.test(what)) await world.run(clear(once));
  await ends(world, world.open(SHOP));
  await world.beginsAnew({ tab, once }, key);
});

test('a press that is given up before it began is not told that nothing took effect', async ({ world, page }) => {
  const { tab, once } = page;
  await world.run(settle(world.open(SHOP).once, NAME, 'none'));
  const left = new AbortController();
  const body = new ReadableStream({ pull() {} });
  const init = { method: 'POST', body, duplex: 'half', signal: left.signal, once: { operation: NAME } } as RequestInit;
  const [press] = await world.begin(watched(once.fetch(URL_, init)));
  left.abort();
  await world.run(Promise.allSettled([press]));
  await rest();
  expect(tab.outcomeOf(left.signal.reason)).toMatchObject({ effect: 'unknown', attempts: 0 });
});

inWorld("it is known of the user's operation, too, where another tab has moved the guest's first", async ({ world }) => {
  let user = 'guest';
  const { tab, once } = world.open({ ...ONE, namespace: () => user });
  const { outcome } = await world.end(tab, pay(once), charged(during(() => tab.faults.rate('fail-before-commit', 1), answers(201))));
  tab.faults.clear();
  await world.clock.advance(MINUTE);
  const ann = world.open({ ...ONE, namespace: 'ann' });
  await world.run(move(ann.once, 'guest'));
  user = 'ann';
  const screen = onScreen(once);
  await world.run(move(once, 'guest'));
  await rest();
  expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'done', key: outcome?.key } });
  await expect(world.run(settle(once, NAME, 'none'))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
  await world.run(settle(ann.once, NAME, 'none'));
  expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { effect: 'done', key: outcome?.key } });
  expect(world.server.arrivals).toHaveLength(1);
});
