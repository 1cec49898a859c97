/**
 * Goal: what a page knows to be done it does not do again, even if the store has lost the record during the call, so that the end could not be
 * stored. Method: the store is emptied while a payment is under way, whose answer then arrives.
 */
import { describe, expect, vi } from 'vitest';
import { gocardless, stripe } from '../../src/entries/dialects.js';
import {
  answers as answersFeature,
  clear,
  derived,
  forget,
  move,
  type Once,
  type OnceOptions,
  operation,
  pending,
  refresh,
  resumeOne,
  run,
  settle,
} from '../../src/entries/index.js';
import { StoreFault } from '../../src/stores/fault.js';
import { answers, charged, delayed, doneElsewhere, during, type Entry, lost, replays } from '../support/server.js';
import type { Tab, TabOptions } from '../support/tab.js';
import { DAY, HOUR, test as inWorld, NAME, ONE, onScreen, pay, rest, resumed, SECOND, URL_, type World, watched } from '../support/world.js';

const SHOP = { namespace: 'shop' } as const;
const EDITED = { body: { cart: 'c1', amount: 12 } };

/** A page that was told of its payment, whose store was emptied meanwhile. */
async function paid(world: World, options: Parameters<World['open']>[0] = {}, of: TabOptions = {}, meanwhile = () => world.empty(), press: Press = {}) {
  const { tab, once } = world.open({ ...ONE, ...SHOP, ...options }, of);
  const { outcome } = await world.end(tab, pay(once, press), charged(during(meanwhile, delayed(SECOND, answers(201)))));
  expect(outcome).toMatchObject({ type: 'fresh', effect: 'done' });
  return { tab, once, key: outcome?.key };
}

type Paid = Awaited<ReturnType<typeof paid>>;
type Press = Parameters<typeof pay>[1];

const test = inWorld.extend('page', ({ world }) => paid(world));

/** Presses again, and gets to hear that it is done; nothing is sent. */
async function isDone(world: World, { tab, once, key }: Paid, of?: Press): Promise<void> {
  const sent = world.server.keys.length;
  expect(await world.end(tab, pay(once, of))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done', key } });
  expect(world.server.keys).toHaveLength(sent);
}

/** Presses again, which is another operation. */
const beginsAnew = (world: World, page: Paid, of?: Press): Promise<void> => world.beginsAnew(page, page.key, of);

/** From now on the page's store takes nothing; what is stored can be read. */
function full({ store }: Tab): void {
  const { update } = store;
  const takesNothing: typeof update = async (id, change, options) => {
    let refused: unknown;
    const value = await update(
      id,
      (stored, now) => {
        const { next, ...kept } = change(stored, now);
        refused = next;
        return kept;
      },
      options,
    );
    if (refused !== undefined) throw new StoreFault('quota', 'full');
    return value;
  };
  Object.assign(store, { update: takesNothing });
}

describe('the next press', () => {
  test('sends nothing, nor does the one after it', async ({ world, page }) => {
    await isDone(world, page);
    await isDone(world, page);
  });

  test('of an edited form sends nothing either', ({ world, page }) => isDone(world, page, EDITED));

  test('of another client of this page sends nothing either', ({ world, page }) => isDone(world, { ...page, once: page.tab.once(SHOP) }));

  test('sends nothing if the store failed at the end, and has lost the record since', async ({ world }) => {
    const faults = () => world.tabs[0]?.faults;
    const page = await paid(world, {}, {}, () => faults()?.rate('fail-before-commit', 1));
    faults()?.clear();
    world.empty();
    await isDone(world, page);
  });

  test('learns it from the server if the store still has the record', async ({ world }) => {
    const faults = () => world.tabs[0]?.faults;
    const { tab, once, key } = await paid(world, {}, {}, () => faults()?.rate('fail-before-commit', 1));
    faults()?.clear();
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', key });
  });

  test.for<[string, (world: World) => void, TabOptions]>([
    ['still has the record', () => {}, {}],
    ['has lost the record', (world) => world.empty(), {}],
    ['is not atomic, so that the key is derived', () => {}, { claims: { atomic: false } }],
  ])('sends nothing if the store has been full since the end, and %s', async ([, meanwhile, of], { world }) => {
    const page = await paid(world, {}, of, () => full(world.tabs[0] as Tab));
    expect(world.record()).toMatchObject({ state: 'pending' });
    meanwhile(world);
    await isDone(world, page);
    await isDone(world, page);
    expect(world.server.arrivals).toHaveLength(1);
  });

  test.for<[string, Press, TabOptions]>([
    ["with repeat: 'if-changed'", { repeat: 'if-changed' }, {}],
    ["with repeat: 'if-changed', beside a store that is not atomic", { repeat: 'if-changed' }, { claims: { atomic: false } }],
  ])('%s sends nothing if the store has been full since the end; an edited form is not told done', async ([, press, of], { world }) => {
    const page = await paid(world, {}, of, () => full(world.tabs[0] as Tab), press);
    await isDone(world, page, press);
    await isDone(world, page, press);
    expect(await world.end(page.tab, pay(page.once, { ...press, ...EDITED }))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test.for<[string, (once: Once) => unknown]>([
    ['', () => {}],
    [', and a screen of this page has seen that', onScreen],
  ])(
    'sends nothing if a full store has the end as none that another page has settled%s: that page does not know that it is done',
    async ([, looks], { world }) => {
      const page = await paid(world, {}, {}, () => full(world.tabs[0] as Tab));
      const other = world.open({ ...ONE, ...SHOP });
      await world.clock.advance(60 * SECOND);
      await world.run(settle(other.once, NAME, 'none'));
      looks(page.once);
      await rest();
      await isDone(world, page);
    },
  );

  test.for([0, 1])('of a user who has left meanwhile is not told, while the store fails (update %i)', async (update, { world }) => {
    let user = 'shop';
    const page = await paid(world, { namespace: () => user });
    page.tab.faults.next(...(update ? (['none'] as const) : []), 'fail-before-commit');
    const press = pay(page.once);
    user = 'bob';
    expect(await world.end(page.tab, press)).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
  });

  test('begins anew after a log-out in another tab, if the store has had the end since the press before', async ({ world, page }) => {
    const other = world.open({ ...ONE, ...SHOP });
    await isDone(world, page);
    expect(world.record()).toMatchObject({ state: 'settled' });
    await world.clock.advance(HOUR);
    await world.run(clear(other.once));
    expect(world.record()).toBeUndefined();
    await beginsAnew(world, page);
  });

  test('begins anew after a log-out in another tab, also if the press before had the answer from the server', async ({ world }) => {
    const options = { dialect: stripe(), use: [answersFeature()] };
    const page = await paid(world, options);
    const other = world.open({ ...ONE, ...SHOP, ...options });
    expect((await world.end(page.tab, pay(page.once), replays())).outcome).toMatchObject({ type: 'replayed', from: 'server', key: page.key });
    expect(world.record()).toMatchObject({ state: 'settled' });
    await world.clock.advance(HOUR);
    await world.run(clear(other.once));
    expect(world.record()).toBeUndefined();
    await beginsAnew(world, page);
  });

  test('of another page cannot go on while the store is full', async ({ world }) => {
    await paid(world, {}, {}, () => full(world.tabs[0] as Tab));
    const { tab, once } = world.open({ ...ONE, ...SHOP });
    full(tab);
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
  });

  test('sends nothing, but is not told done, if a full store has what another page has begun since', async ({ world, page }) => {
    const other = world.open({ ...ONE, ...SHOP });
    await world.end(other.tab, pay(other.once), lost());
    full(page.tab);
    expect(await world.end(page.tab, pay(page.once))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
  });

  test('is not told none, and stores none, if the server now repeats a refusal', async ({ world }) => {
    const faults = () => world.tabs[0]?.faults;
    const { tab, once, key } = await paid(world, {}, {}, () => faults()?.rate('fail-before-commit', 1));
    faults()?.clear();
    expect((await world.end(tab, pay(once), replays(402))).outcome).toMatchObject({ effect: 'unknown', key });
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: true, key });
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', key });
  });

  test('is not told none if it is given up before it begins, where another tab has stored none, however short a time ends are kept', async ({ world }) => {
    const page = await paid(world, { keep: { forMs: 0 } }, {}, () => world.tabs[0]?.faults.rate('fail-before-commit', 1));
    page.tab.faults.clear();
    const other = world.open({ ...ONE, ...SHOP });
    await world.end(other.tab, pay(other.once), replays(402));
    expect(world.record()).toMatchObject({ state: 'retired' });
    const stop = new AbortController();
    page.tab.at(1, () => stop.abort());
    expect((await world.end(page.tab, pay(page.once, { signal: stop.signal }))).outcome).toMatchObject({ effect: 'unknown' });
  });

  test('of a function of `run` does not call it', async ({ world }) => {
    const { tab, once } = world.open({ ...ONE, ...SHOP });
    let calls = 0;
    const effect = (): void => {
      calls++;
      world.empty();
    };
    await world.run(run(once, NAME, effect));
    expect(await world.end(tab, run(once, NAME, effect) as never)).toMatchObject({ outcome: { effect: 'done' } });
    expect(calls).toBe(1);
  });
});

describe('a press that means another effect', () => {
  test("with repeat: 'always' sends it under a new key", ({ world, page }) => beginsAnew(world, page, { repeat: 'always' }));

  test("with repeat: 'always' does so, too, if it was the server that repeated that the one before is done", async ({ world }) => {
    const { tab, once } = world.open({ ...SHOP, limits: { attempts: 2 } });
    const repeats = during(() => world.empty(), delayed(SECOND, replays()));
    const { outcome } = await world.end(tab, pay(once, { repeat: 'always' }), charged(lost()), repeats);
    expect(outcome).toMatchObject({ type: 'replayed', effect: 'done' });
    await world.beginsAnew({ tab, once }, outcome?.key, { repeat: 'always' });
  });

  test.for<[string, (world: World) => void]>([
    ['still has the record', () => {}],
    ['has lost the record', (world) => world.empty()],
  ])("with repeat: 'always' does so, too, if it waits for another tab, and the store %s", async ([, meanwhile], { world }) => {
    const locked = vi.spyOn(world.locks, 'acquire');
    const page = await paid(world, {}, {}, () => world.tabs[0]?.faults.rate('fail-before-commit', 1));
    page.tab.faults.clear();
    meanwhile(world);
    // The other tab begins nothing.
    const release = await world.locks.acquire({}, locked.mock.calls[0]?.[1] as string);
    const [press] = await world.begin(pay(page.once, { repeat: 'always' }), charged(answers(201)));
    expect(world.server.arrivals).toHaveLength(1);
    release?.();
    const { outcome } = await world.end(page.tab, press);
    expect(outcome).toMatchObject({ type: 'fresh' });
    expect(outcome?.key).not.toBe(page.key);
  });

  test("with repeat: 'if-changed' does so if it is changed", async ({ world, page }) => {
    await isDone(world, page, { repeat: 'if-changed' });
    await beginsAnew(world, page, { repeat: 'if-changed', ...EDITED });
    world.empty();
    // The state before the change is not the present one.
    await beginsAnew(world, page, { repeat: 'if-changed' });
  });

  test.for<[string, (world: World, once: Once) => Promise<unknown>]>([
    ['it was forgotten', (world, once) => world.run(forget(once, NAME))],
    ['a log-out', (world, once) => world.run(clear(once))],
    ['a record of what is done would be over', (world) => world.clock.advance(31 * DAY)],
  ])('begins after %s', async ([, ends], { world, page }) => {
    await ends(world, page.once);
    world.empty();
    await beginsAnew(world, page);
  });

  test.for<[string, Press]>([
    ["with repeat: 'always'", { repeat: 'always' }],
    ["with repeat: 'if-changed'", { repeat: 'if-changed', ...EDITED }],
  ])('%s begins although the store failed at the end, and still has the record: it does not get the end of the one before', async ([, of], { world }) => {
    const faults = () => world.tabs[0]?.faults;
    const page = await paid(world, {}, {}, () => faults()?.rate('fail-before-commit', 1));
    faults()?.clear();
    await beginsAnew(world, page, of);
    // No key takes the place of one that is open: the store learned the end of the first one before.
    const states = world.writes.map(({ next }) => next);
    expect(states.slice(-3)).toMatchObject([{ state: 'settled', key: page.key }, { state: 'pending' }, { state: 'settled' }]);
  });

  test('without a name begins, too; a page that has only lost the answer goes on with it', async ({ world }) => {
    const { tab, once } = world.open({ ...ONE, ...SHOP });
    const fails = () => tab.faults.rate('fail-before-commit', 1);
    const press = (of = once) => watched(of.fetch(URL_, { method: 'POST', body: '{"cart":"c1"}' }));
    const { outcome } = await world.end(tab, press(), charged(during(fails, answers(201))));
    expect(outcome).toMatchObject({ type: 'fresh' });
    tab.faults.clear();
    const later = await world.end(tab, press(), charged(answers(201)));
    expect(later.outcome).toMatchObject({ type: 'fresh' });
    expect(later.outcome?.key).not.toBe(outcome?.key);
    const other = world.open(SHOP);
    expect((await world.end(other.tab, press(other.once), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
  });

  test.for<[string, (once: Once, signal?: AbortSignal) => Promise<Response>]>([
    ["with repeat: 'always'", (once, signal) => pay(once, { repeat: 'always', signal })],
    ['without a name', (once, signal) => watched(once.fetch(URL_, { method: 'POST', body: '{"cart":"c1"}', ...(signal && { signal }) }))],
  ])('%s goes on with the one before if that was given up, so that its caller was told unknown', async ([, press], { world }) => {
    const { tab, once } = world.open({ ...ONE, ...SHOP });
    const left = new AbortController();
    const givesUp = () => {
      tab.faults.next('fail-before-commit');
      tab.at(2, () => left.abort());
    };
    await world.end(tab, press(once, left.signal), charged(during(givesUp, answers(201))));
    const key = world.server.keys[0];
    expect(tab.outcomeOf(left.signal.reason)).toMatchObject({ effect: 'done', key });
    expect((await world.end(tab, press(once), replays())).outcome).toMatchObject({ type: 'replayed', key });
  });

  test('begins, too, after a resume that was given up got the same answer, and could not store it either', async ({ world }) => {
    const options = { repeat: 'always', keep: { request: true } } as const;
    const page = await paid(world, options, {}, () => world.tabs[0]?.faults.rate('fail-before-commit', 1));
    page.tab.faults.clear();
    const left = new AbortController();
    const givesUp = () => {
      page.tab.faults.next('fail-before-commit');
      page.tab.at(2, () => left.abort());
    };
    world.server.plays(during(givesUp, replays()));
    await expect(world.run(resumed(page.once, { signal: left.signal }))).rejects.toThrow();
    await beginsAnew(world, page);
  });

  test('begins, too, after a resume that learned the same from a code of the dialect, and could not store it either', async ({ world }) => {
    const options = { repeat: 'always', keep: { request: true }, dialect: { ...gocardless(), replays: true } } as const;
    const page = await paid(world, options, {}, () => world.tabs[0]?.faults.rate('fail-before-commit', 1));
    page.tab.faults.clear();
    world.server.plays(during(() => page.tab.faults.next('fail-before-commit'), doneElsewhere()));
    expect(await world.run(resumed(page.once))).toMatchObject([{ outcome: { effect: 'unknown', reason: 'store' } }]);
    await beginsAnew(world, page);
  });

  test.for<[string, OnceOptions, (world: World, page: Paid) => Promise<unknown>]>([
    ['a resume that got no answer', { keep: { request: true } }, (world, { once }) => world.run(resumed(once))],
    ['a resume that is told that nobody is logged in', { keep: { request: true } }, (world, { once }) => world.run(resumed(once))],
    ["a press with repeat: 'never' that got no answer", {}, (world, { tab, once }) => world.end(tab, pay(once, { repeat: 'never' }))],
    [
      'a resume of a client that has another dialect, and so sends nothing',
      {},
      (world, { tab }) => world.run(resumed(tab.once({ ...SHOP, dialect: stripe() }))),
    ],
  ])('begins, too, after %s', async ([what, options, act], { world }) => {
    const page = await paid(world, { repeat: 'always', ...options }, {}, () => world.tabs[0]?.faults.rate('fail-before-commit', 1));
    page.tab.faults.clear();
    if (!/nothing/.test(what)) world.server.plays(/nobody/.test(what) ? answers(401) : lost());
    await act(world, page);
    await beginsAnew(world, page);
    expect(world.server.charged.size).toBe(2);
  });

  test('under a key of the app that serves both: when its answer is lost, the end of the one before does not take its place', async ({ world }) => {
    const { tab, once } = world.open({ ...ONE, ...SHOP, repeat: 'always', reconcile: async () => 'done' });
    const of = { key: 'key-of-the-app' };
    const fails = () => tab.faults.rate('fail-before-commit', 1);
    // The server knows the order, but not this key.
    const first = await world.end(tab, pay(once, of), during(fails, answers(409, { code: 'duplicate_order' })));
    expect(first.outcome).toMatchObject({ effect: 'done' });
    tab.faults.clear();
    await world.clock.advance(SECOND);
    expect((await world.end(tab, pay(once, { ...of, ...EDITED }), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
    expect((await world.end(tab, pay(once, { ...of, ...EDITED }), replays())).outcome).toMatchObject({ effect: 'done' });
  });

  test('by another user begins', ({ world, page }) => beginsAnew(world, { ...page, once: page.tab.once({ namespace: 'bob' }) }));

  test('by a process begins: another one may have forgotten it, and a sweep removed it', async ({ world }) => {
    await beginsAnew(world, await paid(world, {}, { server: true, locks: false }));
  });
});

describe('settle', () => {
  test('takes no none', ({ world, page }) => expect(world.run(settle(page.once, NAME, 'none'))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' }));

  test('takes no none if the store failed at the end, and still has the record; it takes done', async ({ world }) => {
    const faults = () => world.tabs[0]?.faults;
    const { tab, once, key } = await paid(world, {}, {}, () => faults()?.rate('fail-before-commit', 1));
    faults()?.clear();
    await world.clock.advance(60 * SECOND);
    await expect(world.run(settle(once, NAME, 'none'))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    await world.run(settle(once, NAME, 'done'));
    await isDone(world, { tab, once, key });
  });

  test('takes none of what another page has begun since', async ({ world, page }) => {
    const { tab, once } = world.open({ ...ONE, ...SHOP });
    expect(await world.end(tab, pay(once), lost())).toMatchObject({ outcome: { effect: 'unknown' } });
    await world.clock.advance(60 * SECOND);
    await world.run(settle(page.once, NAME, 'none'));
  });

  test('stores a done: no page sends it again', async ({ world, page }) => {
    await world.run(settle(page.once, NAME, 'done'));
    await isDone(world, page);
    await isDone(world, { ...world.open(SHOP), key: page.key });
  });
});

test('an answer that comes after the user has logged in on another page: a guest who comes back does not pay again', async ({ world }) => {
  const { once } = world.open({ namespace: 'ann' });
  const page = await paid(world, { namespace: 'guest' }, {}, () => void move(once, 'guest'));
  await isDone(world, page);
});

test('the end of a later call that is left open counts', async ({ world, page }) => {
  const { tab, once } = page;
  const { outcome } = await world.end(tab, pay(once, { repeat: 'always' }), lost());
  world.empty();
  expect((await world.end(tab, pay(once, { repeat: 'always' }), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
});

test.for<[string, (world: World) => void]>([
  ['has lost it', (world) => world.empty()],
  ['failed at the end, and still has the record', ({ tabs }) => tabs[0]?.faults.rate('fail-before-commit', 1)],
])('a screen that looks at a store that %s goes on showing that it is done', async ([, meanwhile], { world }) => {
  const { tab, once } = await paid(world, {}, {}, () => meanwhile(world));
  tab.faults.clear();
  const screen = onScreen(once);
  refresh(once);
  await rest();
  expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
});

test('a screen shows what another page has begun since', async ({ world, page }) => {
  const { tab, once } = world.open({ ...ONE, ...SHOP });
  await world.end(tab, pay(once), lost());
  const screen = onScreen(page.once);
  refresh(page.once);
  await rest();
  expect(screen.state).toMatchObject({ phase: 'unsettled' });
});

test('a derived key that another page makes again, after the record was swept, is not known to be done: each screen lists it, and a press sends it', async ({
  world,
}) => {
  const faults = () => world.tabs[0]?.faults;
  const press = { key: derived };
  const page = await paid(world, {}, {}, () => faults()?.rate('fail-before-commit', 1), press);
  faults()?.clear();
  const other = world.open({ ...ONE, ...SHOP });
  for (const days of [31, 8]) {
    await world.clock.advance(days * DAY);
    const { tab, once } = world.open(SHOP);
    await world.end(tab, pay(once, { operation: ['other', days] }), answers(201));
    await rest();
  }
  expect(world.record()).toBeUndefined();
  // After 39 days the server knows the key no more.
  world.server.charged.delete(page.key ?? null);
  expect((await world.end(other.tab, pay(other.once, press), lost())).outcome).toMatchObject({ effect: 'unknown', key: page.key });
  expect(await world.run(pending(page.once))).toMatchObject([{ name: NAME }]);
  refresh(page.once);
  const shown = onScreen(page.once);
  await rest();
  expect(shown.state).toMatchObject({ phase: 'unsettled' });
  expect((await world.end(page.tab, pay(page.once, press), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh', key: page.key });
  expect((await world.end(other.tab, pay(other.once, press))).outcome).toMatchObject({ effect: 'done' });
});

test.for<[string, (world: World, page: Pick<Paid, 'tab' | 'once'>) => Promise<unknown>]>([
  ['a press', (world, { tab, once }) => world.end(tab, pay(once))],
  ['resume', (world, { once }) => world.run(resumed(once))],
])('%s gets no answer after that: the page still knows that it is done, and settle takes no none', async ([, act], { world }) => {
  const faults = () => world.tabs[0]?.faults;
  const page = await paid(world, { keep: { request: true } }, {}, () => faults()?.rate('fail-before-commit', 1));
  faults()?.clear();
  world.server.plays(lost());
  await act(world, page);
  await world.clock.advance(60 * SECOND);
  await expect(world.run(settle(page.once, NAME, 'none'))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
  world.empty();
  await isDone(world, page);
});

describe.each<[string, () => Press, TabOptions]>([
  ["the app's key strategy made the key", () => ({ key: ({ now }) => `k-${now}` }), {}],
  ['the app gave the key', () => ({ key: 'order-42' }), {}],
  ['the key is derived, because the store is not atomic', () => ({}), { claims: { atomic: false } }],
])('%s, and the store failed at the end', (_, options, of) => {
  const failed = async (world: World) => {
    const { tab, once } = world.open({ ...ONE, ...SHOP }, of);
    const fails = () => tab.faults.rate('fail-before-commit', 1);
    const { outcome } = await world.end(tab, pay(once, options()), charged(during(fails, answers(201))));
    expect(outcome).toMatchObject({ type: 'fresh', effect: 'done' });
    tab.faults.clear();
    await world.clock.advance(60 * SECOND);
    return { tab, once, key: outcome?.key };
  };

  test('a screen goes on showing that it is done, and settle takes no none', async ({ world }) => {
    const { once } = await failed(world);
    const screen = onScreen(once);
    await rest();
    expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
    await expect(world.run(settle(once, NAME, 'none'))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
  });

  test('if it has lost the record since, the next press sends nothing', async ({ world }) => {
    const page = await failed(world);
    world.empty();
    await isDone(world, page, options());
  });
});

test('pending does not list what this page knows to be done; another page lists it, and resume tells the store', async ({ world }) => {
  const { tab, once } = await paid(world, { keep: { request: true } }, {}, () => world.tabs[0]?.faults.rate('fail-before-commit', 1));
  tab.faults.clear();
  expect(await world.run(pending(once))).toEqual([]);
  const other = world.open({ ...SHOP, keep: { request: true } });
  expect(await world.run(pending(other.once))).toMatchObject([{ name: NAME, sent: 'maybe' }]);
  world.server.plays(replays());
  expect(await world.run(resumed(once))).toMatchObject([{ outcome: { effect: 'done' } }]);
  expect(await world.run(pending(other.once))).toEqual([]);
});

test('another effect is not begun while the store cannot take the end of the one before: nothing is sent', async ({ world }) => {
  const { tab, once } = await paid(world, { repeat: 'always' }, {}, () => world.tabs[0]?.faults.rate('fail-before-commit', 1));
  expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
  expect(world.server.arrivals).toHaveLength(1);
  tab.faults.clear();
  expect((await world.end(tab, pay(once), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
  expect(world.server.charged.size).toBe(2);
});

test('a log-out clears it like others that are done, wherever it is shown', async ({ world }) => {
  const faults = () => world.tabs[0]?.faults;
  const { tab, once } = await paid(world, {}, {}, () => faults()?.rate('fail-before-commit', 1));
  faults()?.clear();
  const own = operation(once, NAME);
  const other = world.open(SHOP);
  expect((await world.run(pending(other.once))).length).toBe(1);
  expect(await world.run(clear(once))).toEqual({ kept: [] });
  await rest();
  expect(own.state.phase).toBe('idle');
  expect(await world.run(pending(other.once))).toEqual([]);
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
  expect(world.server.charged.size).toBe(1);
});

test.for<[string, afterMs: number, Entry[], (world: World, once: Once) => Promise<unknown>]>([
  ['`reconcile` says none to a press that meets work in progress', 0, [answers(409)], (world, once) => world.end(world.tabs[0] as Tab, pay(once))],
  ['`reconcile` says none of a key that is too old to be sent', 25 * HOUR, [], (world, once) => world.end(world.tabs[0] as Tab, pay(once))],
  ['`reconcile` says none to a resume', 25 * HOUR, [], (world, once) => world.end(world.tabs[0] as Tab, resumeOne(once, NAME))],
  [
    'a press is refused, again and again',
    0,
    [answers(402, { code: 'paid' }), answers(402, { code: 'paid' })],
    async (world, once) => {
      await world.end(world.tabs[0] as Tab, pay(once, { reconcile: async () => 'unknown' }));
      await world.clock.advance(3 * 60 * SECOND);
      return world.end(world.tabs[0] as Tab, pay(once, { reconcile: async () => 'unknown' }));
    },
  ],
])('%s after the store has failed at the end: nobody is told none, and no other key is sent', async ([, afterMs, meets, act], { world }) => {
  const faults = () => world.tabs[0]?.faults;
  const limits = { attempts: 1, inProgressMs: 0 };
  const page = await paid(world, { limits, reconcile: async () => 'none' }, {}, () => faults()?.rate('fail-before-commit', 1));
  faults()?.clear();
  await world.clock.advance(afterMs);
  world.server.plays(...meets);
  expect(await act(world, page.once)).toMatchObject({ outcome: { effect: 'unknown' } });
  expect(new Set(world.server.keys)).toEqual(new Set([page.key]));
  world.empty();
  await isDone(world, page);
});

test('a guest whose payment is done logs in: this page knows it of the operation of the user, too', async ({ world }) => {
  const { tab, once: guest, key } = await paid(world, { namespace: 'guest' }, {}, () => world.tabs[0]?.faults.rate('fail-before-commit', 1));
  tab.faults.clear();
  const once = tab.once({ ...ONE, namespace: 'ann' });
  await world.run(move(once, 'guest'));
  for (const each of [once, guest]) expect(operation(each, NAME).state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
  await world.clock.advance(60 * SECOND);
  await expect(world.run(settle(once, NAME, 'none'))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
  world.empty();
  await isDone(world, { tab, once, key });
  expect(await world.run(pending(tab.once({ namespace: 'guest' })))).toEqual([]);
});

test.for([1, 2, 3])(
  'a guest whose payment is done logs in, and `move` fails at its write %i: the page still knows it, and so it does after the next `move`',
  async (at, { world }) => {
    const { tab, once: guest, key } = await paid(world, { namespace: 'guest' }, {}, () => world.tabs[0]?.faults.rate('fail-before-commit', 1));
    tab.faults.clear();
    const once = tab.once({ ...ONE, namespace: 'ann' });
    await world.clock.advance(60 * SECOND);
    let writes = 0;
    tab.faults.rate('fail-before-commit', 0.5, () => Number(++writes !== at));
    await expect(world.run(move(once, 'guest'))).rejects.toThrow();
    await expect(world.run(settle(guest, NAME, 'none'))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
    await world.run(move(once, 'guest'));
    await world.clock.advance(60 * SECOND);
    await expect(world.run(settle(once, NAME, 'none'))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
    world.empty();
    await isDone(world, { tab, once, key });
  },
);

test("a guest whose payment is done logs in, and the user's own of that name stays: the page still knows the guest's to be done", async ({ world }) => {
  const { tab, once: guest } = await paid(world, { namespace: 'guest' }, {}, () => world.tabs[0]?.faults.rate('fail-before-commit', 1));
  tab.faults.clear();
  const once = tab.once({ ...ONE, namespace: 'ann' });
  await world.end(tab, pay(once), charged(answers(201)));
  await world.run(move(once, 'guest'));
  await world.clock.advance(60 * SECOND);
  await expect(world.run(settle(guest, NAME, 'none'))).rejects.toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
});

test("a guest's payment that may have charged does not take the place of what the user has done", async ({ world, page }) => {
  const guest = world.open({ ...ONE, namespace: 'guest' });
  await world.end(guest.tab, pay(guest.once), lost());
  await world.run(move(page.once, 'guest'));
  await isDone(world, page);
});

test.for<[string, OnceOptions, readonly Entry[], string, object]>([
  ['in an answer', {}, [answers(201)], 'relaxed', { type: 'fresh' }],
  ['in a repeated answer', {}, [charged(lost()), replays()], 'relaxed', { type: 'replayed' }],
  ['in a refusal', {}, [answers(402)], 'relaxed', { type: 'rejected' }],
  ['by `reconcile`', { dialect: 'none', reconcile: async () => 'done' }, [charged(lost())], 'strict', { type: 'replayed' }],
  ['by a code that names what was made', { dialect: gocardless() }, [charged(doneElsewhere())], 'strict', { type: 'replayed' }],
])(
  'an end that was told %s is stored as surely as it must be: the server may not know the key that only the record keeps from being replaced',
  async ([, options, meets, durability, told], { world }) => {
    const { tab, once } = world.open({ ...SHOP, ...options });
    expect((await world.end(tab, pay(once), ...meets)).outcome).toMatchObject(told);
    expect(world.writes.at(-1)).toMatchObject({ durability, next: { ending: told } });
  },
);
