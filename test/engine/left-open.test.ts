/**
 * Goal: what a page left open it does not begin anew, even if the store has lost the record: the next press in that page has the same key.
 * Method: after a lost answer the store is emptied, as a user who deletes the site's data does, or `AsyncStorage.clear()` at a log-out.
 */
import { describe, expect, vi } from 'vitest';
import { GENERIC, generic } from '../../src/dialects/generic.js';
import { clear, forget, move, type Once, refresh, resumeOne, run, settle } from '../../src/entries/index.js';
import { answers, charged, during, type Entry, lost, replays } from '../support/server.js';
import type { Tab, TabOptions } from '../support/tab.js';
import { DAY, HOUR, NAME, ONE, onScreen, pay, rest, test, type World } from '../support/world.js';

const SHOP = { namespace: 'shop' } as const;

/** A page that has lost the answer to its payment. */
async function lostAnswer(world: World, of: TabOptions = {}): Promise<{ readonly tab: Tab; readonly once: Once; readonly key: string | undefined }> {
  const { tab, once } = world.open({ ...ONE, ...SHOP }, of);
  const { outcome } = await world.end(tab, pay(once), charged(lost()));
  expect(outcome?.effect).toBe('unknown');
  return { tab, once, key: outcome?.key };
}

test('a page whose store was emptied presses again under the same key', async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world);
  world.empty();
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', effect: 'done', key });
  expect(world.server.keys).toEqual([key, key]);
  expect(world.record()).toMatchObject({ state: 'settled', key });
});

test('a process does not: another one may have ended the operation as none, and a sweep removed it', async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world, { server: true, locks: false });
  world.empty();
  await world.beginsAnew({ tab, once }, key);
});

test('an edited form does not begin anew either', async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world);
  world.empty();
  await world.end(tab, pay(once, { body: { cart: 'c1', amount: 12 } }), answers(422));
  expect(new Set(world.server.keys)).toEqual(new Set([key]));
});

test('the store is emptied during the call', async ({ world }) => {
  const { tab, once } = world.open({ ...ONE, ...SHOP });
  const { outcome } = await world.end(tab, pay(once), charged(during(() => world.empty(), lost())));
  expect(outcome?.effect).toBe('unknown');
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
});

test('a function that run called is called again under the same key', async ({ world }) => {
  const { tab, once } = world.open({ ...ONE, ...SHOP });
  const keys: string[] = [];
  const effect = ({ key }: { key: string }): string => {
    keys.push(key);
    if (keys.length === 1) throw new Error('lost');
    return 'ch_1';
  };
  await world.end(tab, run(once, NAME, effect) as never);
  world.empty();
  await world.end(tab, run(once, NAME, effect) as never);
  expect(keys).toHaveLength(2);
  expect(keys[1]).toBe(keys[0]);
});

test('the user logs in on another page, and `move` takes the record there: this page sends the key that moved', async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world);
  const shared = { ...GENERIC, perAccount: false };
  await world.run(move(world.open({ ...ONE, namespace: 'ann', dialect: shared }).once, 'shop'));
  await world.end(tab, pay(once), replays());
  expect(world.server.keys).toEqual([key, key]);
});

test.for([
  ['before', (world: World) => world.empty(), () => {}],
  ['after', () => {}, (world: World) => world.empty()],
] as const)('a log-out keeps the key also if the store is emptied right %s it', async ([, before, after], { world }) => {
  const { tab, once, key } = await lostAnswer(world);
  before(world);
  await world.run(clear(once));
  after(world);
  await world.clock.advance(HOUR);
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', effect: 'done', key });
});

/** A page that was loaded again after it had lost the answer, and then logs out. */
async function leftByAnEarlierPage(world: World, options: Parameters<typeof clear>[1] = {}) {
  const { tab, key } = await lostAnswer(world);
  const next = tab.reload();
  const once = next.once({ ...ONE, ...SHOP });
  await world.run(clear(once, options));
  return { tab: next, once, key };
}

test('a log-out keeps the key of what an earlier page has left open, too, although the app empties its storage after that', async ({ world }) => {
  const { tab, once, key } = await leftByAnEarlierPage(world);
  world.empty();
  await world.clock.advance(HOUR);
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', effect: 'done', key });
});

test('not if that log-out drops what is open, and no longer once it has ended', async ({ world }) => {
  const dropped = await leftByAnEarlierPage(world, { unsettled: 'forget' });
  world.empty();
  await world.beginsAnew(dropped, dropped.key);
  world.empty();
  const ended = await leftByAnEarlierPage(world);
  await world.run(settle(ended.once, NAME, 'none'));
  world.empty();
  await world.beginsAnew(ended, ended.key);
});

test('a log-out keeps no more than it has room for, and drops for it nothing that this page has left open itself', async ({ world }) => {
  const earlier = world.open({ ...ONE, ...SHOP });
  for (let n = 0; n < 40; n++) await world.end(earlier.tab, pay(earlier.once, { operation: ['pay', n] }), charged(lost()));
  const { tab, once, key } = await lostAnswer(world);
  await world.run(clear(once));
  world.empty();
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', effect: 'done', key });
});

test('what another tab has learned to be refused stays so: the next card of either page is a new attempt, and its refusal is told', async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world);
  const other = world.open({ ...ONE, ...SHOP });
  expect((await world.end(other.tab, pay(other.once), replays(402))).outcome).toMatchObject({ effect: 'none', key });
  for (const page of [other, { tab, once }]) {
    const { outcome } = await world.end(page.tab, pay(page.once), answers(402));
    expect(outcome).toMatchObject({ effect: 'none' });
    expect(outcome?.key).not.toBe(key);
  }
  await world.beginsAnew({ tab, once }, key);
});

describe('another page, which knew nothing of it, has pressed the same name since the store was emptied', () => {
  async function pressedElsewhere(world: World, meets: Entry, of: TabOptions = {}) {
    const page = await lostAnswer(world, of);
    world.empty();
    const other = world.open({ ...ONE, ...SHOP }, of);
    const own = (await world.end(other.tab, pay(other.once), meets)).outcome?.key;
    expect(own).not.toBe(page.key);
    return { ...page, own };
  }

  test('and was refused: this page goes on with its own key, which may have had its effect', async ({ world }) => {
    const { tab, once, key } = await pressedElsewhere(world, answers(402));
    expect(world.record()).toMatchObject({ state: 'retired' });
    const shown = onScreen(once);
    await rest();
    expect(shown.state).toMatchObject({ phase: 'unsettled', pending: { key } });
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', effect: 'done', key });
    expect(world.record()).toMatchObject({ state: 'settled', key });
  });

  test('and was refused: a press that is given up before it begins does not say that nothing was sent', async ({ world }) => {
    const { tab, once } = await pressedElsewhere(world, answers(402));
    const stop = new AbortController();
    tab.at(1, () => stop.abort());
    expect((await world.end(tab, pay(once, { signal: stop.signal }))).outcome).toMatchObject({ effect: 'unknown' });
  });

  test('and was refused, so that its key stays in use: this page goes on with its own, which rather had its effect', async ({ world }) => {
    const { tab, once, key } = await pressedElsewhere(world, answers(400, { code: 'bad_card' }), { resends: true });
    expect(world.record()).toMatchObject({ state: 'retired', keyInUse: true });
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done', key });
  });

  test("and was refused twice: then its record looks as if this page's key had ended before, and this page begins anew", async ({ world }) => {
    const { tab, once, key } = await pressedElsewhere(world, answers(402));
    const other = world.open({ ...ONE, ...SHOP });
    await world.end(other.tab, pay(other.once), answers(402));
    await world.beginsAnew({ tab, once }, key);
  });

  test('and has paid: this page is told so', async ({ world }) => {
    const { tab, once, own } = await pressedElsewhere(world, charged(answers(201)));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done', key: own });
    await world.clock.advance(HOUR);
    await world.run(clear(once));
    await world.beginsAnew({ tab, once }, own);
  });
});

test.for<[string, (once: Once, tab: Tab, world: World) => Promise<unknown>]>([
  ['settled as done', (once) => settle(once, NAME, 'done')],
  ['pressed again', (once, tab, world) => world.end(tab, pay(once), replays())],
  ['settled as none', (once) => settle(once, NAME, 'none')],
])('but not of what another tab has %s since', async ([, change], { world }) => {
  const { tab, once, key } = await lostAnswer(world);
  const other = world.open({ ...ONE, ...SHOP });
  await world.run(change(other.once, other.tab, world));
  await world.clock.advance(HOUR);
  await world.run(clear(once));
  expect(world.record()).toBeUndefined();
  await world.beginsAnew({ tab, once }, key);
});

test("another user's log-out, which forgets all that is open, leaves it alone", async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world);
  await world.run(clear(tab.once({ ...ONE, namespace: 'bob' }), { unsettled: 'forget' }));
  world.empty();
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', key });
});

test('a log-out keeps nothing of what another tab has forgotten and pressed again since, which is done', async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world);
  const other = world.open({ ...ONE, ...SHOP });
  await world.run(forget(other.once, NAME, { evenIfUnknown: true }));
  await world.end(other.tab, pay(other.once), charged(answers(201)));
  await world.clock.advance(HOUR);
  await world.run(clear(once));
  await world.beginsAnew({ tab, once }, key);
});

test.for<[string, (world: World, once: Once) => Promise<unknown>]>([
  ['a log-out', (world, once) => world.run(clear(once))],
  [
    'a look of a screen',
    (_, once) => {
      onScreen(once);
      return rest();
    },
  ],
])('%s does not make it forget a key that another tab has left in use after a refusal: a copy sent unseen had its effect', async ([, looks], { world }) => {
  const [tab, other] = [world.tab({ resends: true }), world.tab({ resends: true })];
  const once = tab.once({ ...ONE, ...SHOP });
  const { outcome } = await world.end(tab, pay(once), charged(answers(401)));
  expect(outcome?.effect).toBe('unknown');
  await world.end(other, pay(other.once({ ...ONE, ...SHOP })), answers(400, { code: 'bad_card' }));
  expect(world.record()).toMatchObject({ state: 'retired', keyInUse: true });
  await looks(world, once);
  world.empty();
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
});

test('nor does a read that began before the press, and shows what was forgotten before that', async ({ world }) => {
  const { tab, once } = await lostAnswer(world);
  await world.run(forget(once, NAME, { evenIfUnknown: true }));
  onScreen(once);
  await rest();
  const { read } = tab.store;
  let comes = () => {};
  const held = new Promise<void>((resolve) => void (comes = resolve));
  vi.spyOn(tab.store, 'read').mockImplementationOnce(async (id) => {
    const found = await read(id);
    await held;
    return found;
  });
  refresh(once);
  await rest();
  const { outcome } = await world.end(tab, pay(once), charged(lost()));
  comes();
  await rest();
  world.empty();
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
});

test('what it keeps in memory has no answer, also not that to an operation before a refused one', async ({ world }) => {
  const tab = world.tab({ resends: true });
  const once = tab.once({ ...ONE, ...SHOP, keep: { response: 'disk' } });
  await world.end(tab, pay(once), charged(answers(201, { card: 'visa ending in 4242' })));
  await world.end(tab, pay(once, { repeat: 'always' }), answers(400, { code: 'bad_card' }));
  await world.end(tab, pay(once, { repeat: 'always' }), lost());
  expect(JSON.stringify(world.record())).toContain('visa ending in 4242');
  await world.run(clear(once));
  world.empty();
  await world.end(tab, pay(once, { keep: { response: false } }), lost());
  expect(world.record()?.previous).toMatchObject({ keyInUse: true });
  expect(JSON.stringify(world.record())).not.toContain('visa ending in 4242');
});

const ENDS: [string, (world: World, once: Once) => Promise<unknown>][] = [
  ['it was settled by hand', (world, once) => world.run(settle(once, NAME, 'done'))],
  ['it was forgotten', (world, once) => world.run(forget(once, NAME, { evenIfUnknown: true }))],
  ['a log-out dropped its key', (world, once) => world.run(clear(once, { unsettled: 'forget' }))],
  ['a record of what is done would be over', (world) => world.clock.advance(31 * DAY)],
];

test.for(ENDS)('no longer after %s', async ([, ends], { world }) => {
  const { tab, once, key } = await lostAnswer(world);
  await ends(world, once);
  world.empty();
  await world.beginsAnew({ tab, once }, key);
});

test('nor after this page has moved it to the user: a guest who comes back begins anew', async ({ world }) => {
  const user = { id: 'guest' };
  const { tab, once } = world.open({ ...ONE, namespace: () => user.id });
  const { outcome } = await world.end(tab, pay(once), charged(lost()));
  user.id = 'ann';
  await world.run(move(once, 'guest'));
  user.id = 'guest';
  await world.beginsAnew({ tab, once }, outcome?.key);
});

test('nor after the page was loaded again: then nothing is left that knows the key', async ({ world }) => {
  const { tab, key } = await lostAnswer(world);
  world.empty();
  const next = tab.reload();
  expect((await world.end(next, pay(next.once({ ...ONE, ...SHOP })), charged(answers(201)))).outcome?.key).not.toBe(key);
});

test('nor once the page has heard how it ended, for another user, or for a call that brings no request', async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world);
  world.empty();
  expect((await world.end(tab, resumeOne(once, NAME))).outcome).toMatchObject({ effect: 'unknown', reason: 'record' });
  expect((await world.end(tab, pay(tab.once({ ...ONE, namespace: 'bob' })), charged(answers(201)))).outcome?.key).not.toBe(key);
  await world.end(tab, pay(once), replays());
  world.empty();
  await world.beginsAnew({ tab, once }, key);
});

test('nor once the page has heard that another tab ended it: what is forgotten after that begins anew', async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world);
  const other = world.open({ ...ONE, ...SHOP });
  await world.end(other.tab, pay(other.once), replays());
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done', key });
  await world.run(forget(other.once, NAME));
  world.empty();
  expect((await world.end(tab, pay(once), charged(answers(201)))).outcome?.key).not.toBe(key);
});

test.for<[string, (once: Once) => Promise<void>]>([
  ['forgotten it', (once) => forget(once, NAME, { evenIfUnknown: true })],
  ['settled it as none', (once) => settle(once, NAME, 'none')],
])('nor once a screen of the page has seen that another tab has %s, although a sweep has removed that since', async ([, change], { world }) => {
  const { tab, once, key } = await lostAnswer(world);
  const shown = onScreen(once);
  await rest();
  expect(shown.state).toMatchObject({ phase: 'unsettled', pending: { key } });
  await world.run(change(world.open({ ...ONE, ...SHOP }).once));
  // What the other tab tells this page to do.
  refresh(once);
  await rest();
  expect(shown.state).toMatchObject({ phase: 'idle' });
  await world.clock.advance(25 * HOUR);
  world.empty();
  await world.beginsAnew({ tab, once }, key);
});

test.for([
  ['none', 'retired'],
  ['done', 'settled'],
] as const)('nor once `reconcile` has said "%s" of a key that was too old to be sent', async ([said, state], { world }) => {
  const { tab, once, key } = await lostAnswer(world);
  await world.clock.advance(25 * HOUR);
  await world.end(tab, resumeOne(tab.once({ ...SHOP, reconcile: async () => said }), NAME));
  expect(world.record()).toMatchObject({ state, key });
  world.empty();
  await world.beginsAnew({ tab, once }, key);
});

test('nor once a call of the page has heard that another tab ended it meanwhile with another payload', async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world);
  world.server.plays(
    during(() => tab.freeze(), lost()),
    replays(),
  );
  const [edited] = await world.begin(pay(once, { body: { cart: 'c1', amount: 12 }, limits: { attempts: 2 } }));
  const other = world.open({ ...ONE, ...SHOP });
  expect((await world.end(other.tab, pay(other.once))).outcome).toMatchObject({ effect: 'done', key });
  tab.thaw();
  expect((await world.end(tab, edited)).outcome).toMatchObject({ effect: 'done', key });
  await world.run(forget(other.once, NAME));
  world.empty();
  await world.beginsAnew({ tab, once }, key);
});

test('after a log-out in another tab, neither the request nor `meta` is stored again', async ({ world }) => {
  const { tab, once } = world.open({ ...ONE, ...SHOP, keep: { request: true } });
  await world.end(tab, pay(once, { meta: { card: 'visa ending in 4242' } }), charged(lost()));
  expect(world.record()).toMatchObject({ meta: { card: 'visa ending in 4242' }, request: expect.anything() });
  await world.run(clear(world.open({ ...ONE, ...SHOP }).once, { unsettled: 'forget' }));
  await world.end(tab, pay(once, { keep: { request: false } }), lost());
  expect(world.record()?.state).toBe('pending');
  expect(world.record()?.meta).toBeUndefined();
  expect(world.record()?.request).toBeUndefined();
});

test('a press that is given up before it began does not say that nothing was sent', async ({ world }) => {
  const { tab, once } = await lostAnswer(world);
  world.empty();
  const stop = new AbortController();
  tab.at(1, () => stop.abort());
  expect((await world.end(tab, pay(once, { signal: stop.signal }))).outcome).toMatchObject({ effect: 'unknown' });
});

test('`forget` says that it may have been sent, and the next press goes on with its key', async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world);
  world.empty();
  await expect(world.run(forget(once, NAME))).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done', key });
});

test('at another origin, which has never seen the key, nothing is sent', async ({ world }) => {
  const { tab, once } = await lostAnswer(world);
  world.empty();
  expect((await world.end(tab, pay(once, { url: 'https://other.example/charges' }))).outcome).toMatchObject({ effect: 'unknown', reason: 'elsewhere' });
  expect(world.server.keys).toHaveLength(1);
});

test.for(['if-changed', 'always'] as const)(
  "a press with repeat: '%s' goes on with the key, too: the first one may still be open",
  async (repeat, { world }) => {
    const { tab, once, key } = await lostAnswer(world);
    world.empty();
    expect((await world.end(tab, pay(once, { repeat }), replays())).outcome).toMatchObject({ effect: 'done', key });
    expect(world.server.keys).toEqual([key, key]);
  },
);

test('a `headers` hook that throws changes nothing: the press after it has the key', async ({ world }) => {
  const { tab, key } = await lostAnswer(world);
  world.empty();
  const throwing = () => {
    throw new Error('no token');
  };
  const broken = tab.once({ ...ONE, ...SHOP, headers: throwing });
  expect((await world.end(tab, pay(broken))).outcome?.effect).toBe('unknown');
  world.empty();
  expect((await world.end(tab, pay(tab.once({ ...ONE, ...SHOP })), replays())).outcome).toMatchObject({ effect: 'done', key });
});

test("a guest's payment that moves to the user does not take the place of the user's that the store has lost", async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world);
  world.empty();
  const guest = world.open({ ...ONE, namespace: 'guest' });
  await world.end(guest.tab, pay(guest.once), lost());
  await world.run(move(once, 'guest'));
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done', key });
});

test("a guest's page that has lost the answer, and moved it to the user before its store was emptied, presses again under the same key", async ({ world }) => {
  const { tab, once, key } = await lostAnswer(world);
  const user = tab.once({ ...ONE, namespace: 'ann' });
  await world.run(move(user, 'shop'));
  world.empty();
  expect(await world.end(tab, pay(user), replays())).toMatchObject({ outcome: { type: 'replayed', key } });
  // The guest's page does not know it any more.
  world.empty();
  expect((await world.end(tab, pay(once), charged(answers(201)))).outcome?.key).not.toBe(key);
});

test('so it does not send a key that counts for the account of the guest only', async ({ world }) => {
  const dialect = generic();
  const { tab, once } = world.open({ ...ONE, ...SHOP, dialect });
  await world.end(tab, pay(once), charged(lost()));
  const user = tab.once({ ...ONE, namespace: 'ann', dialect });
  await world.run(move(user, 'shop'));
  world.empty();
  expect(await world.end(tab, pay(user))).toMatchObject({ outcome: { effect: 'unknown', reason: 'key-expired' } });
});
