/** Goal: what happens beside a call that waits, sleeps or has been given up leads to no second effect, and to no untrue outcome. */
import { describe, expect } from 'vitest';
import { around, clear, close, derived, type Once, type OnceOptions, settle } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { answers, charged, delayed, honest, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { says } from '../support/texts.js';
import { CART, DAY, MINUTE, newWorld, type PayOptions, pay, rest, SECOND, test, URL_, type World } from '../support/world.js';

/** Makes the store silent from now on. `makeIt` carries out the last update that it was asked for, however late. */
function holdUpdates(tab: Tab) {
  const { update } = tab.store;
  const held = { makeIt: (): void => {}, letGo: () => void Object.assign(tab.store, { update }) };
  const silent = (...call: Parameters<typeof update>) =>
    new Promise((resolve, reject) => void (held.makeIt = () => void update(...call).then(resolve, reject)));
  Object.assign(tab.store, { update: silent });
  return held;
}

test('a log-out comes between a charge and a press that waits in another tab: the press is told of the charge', async ({ world }) => {
  const [one, two] = [world.open({ namespace: 'ann' }), world.open({ namespace: 'ann' })];
  world.server.plays(delayed(SECOND, answers(201)));
  const first = pay(one.once).then(async () => clear(one.once));
  const [second] = await world.begin(pay(two.once));
  await world.run(first);
  expect((await world.end(two.tab, second)).outcome).toMatchObject({ effect: 'done' });
  expect(world.server.arrivals).toHaveLength(1);
});

test.for<[string, (world: World) => unknown]>([
  ['a log-out that forgets', (world) => world.run(clear(world.open({ namespace: 'ann' }).once, { unsettled: 'forget' }))],
  ['a user who deletes the data of the site', (world) => world.damage(() => null)],
])('a press of what is done waits for a tab that hangs with the lock, and %s removes the record: it is not sent', async ([, remove], { world }) => {
  const [one, two] = [world.open({ namespace: 'ann' }), world.open({ namespace: 'ann', limits: { attemptMs: 10 * SECOND } })];
  const [first] = await world.begin(pay(one.once), charged(delayed(25 * SECOND, lost())), replays());
  expect((await world.end(two.tab, pay(two.once))).outcome).toMatchObject({ effect: 'done' });
  const [press] = await world.begin(pay(two.once));
  await remove(world);
  const end = await world.end(two.tab, press);
  expect(end.outcome).toMatchObject({ effect: 'unknown', reason: 'record', attempts: 0 });
  // The long text says what is wrong; the short one only has the code.
  expect((end.error as Error).message).toContain(says('nothing is stored under this name', ''));
  await world.end(one.tab, first);
  expect(world.server.arrivals).toHaveLength(2);
});

test('a press that means another effect waits for such a tab, and the record of the one before is swept: the next press is sent', async ({ world }) => {
  const options = { namespace: 'ann', repeat: 'always', limits: { attemptMs: 10 * SECOND } } as const;
  const [one, two] = [world.open(options), world.open(options)];
  one.tab.at(2, () => one.tab.freeze());
  const { outcome } = await world.end(two.tab, pay(two.once), answers(201));
  await world.begin(pay(one.once));
  const [press] = await world.begin(pay(two.once));
  world.damage(() => null);
  expect((await world.end(two.tab, press)).outcome).toMatchObject({ effect: 'unknown', reason: 'record', attempts: 0 });
  await world.beginsAnew(two, outcome?.key);
  one.tab.kill();
});

test.for<[string, number, number]>([
  ['was kept only for waiting calls, and that time is over', 3, 0],
  ['was swept', 3, 1],
])('after a charge under a derived key and a log-out, the record %s: the next press has the same key', async ([_, minutes, sweeps], { world }) => {
  const { tab, once } = world.open({ namespace: 'ann' });
  world.server.otherwise = honest();
  await world.end(tab, pay(once, { key: derived }));
  await world.run(clear(once));
  await world.clock.advance(minutes * MINUTE);
  if (sweeps > 0) world.damage(() => null);
  expect(await world.end(tab, pay(once, { key: derived }))).toMatchObject({ outcome: { type: 'replayed', from: 'server' } });
  expect(world.server.charged.size).toBe(1);
});

test('a copy sent unseen charges, the other copy is refused, and the user logs out: the next press has the same key', async ({ world }) => {
  const { tab, once } = world.open({ namespace: 'ann' }, { resends: true });
  expect((await world.end(tab, pay(once), charged(answers(400, { code: 'bad_card' })))).outcome).toMatchObject({ effect: 'none' });
  await world.run(clear(once));
  const left = world.record();
  expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ effect: 'done', key: left?.key });
  expect(world.server.charged.size).toBe(1);
  expect(world.records).toHaveLength(1);
});

test.for<[string, OnceOptions, number, PayOptions]>([
  ['another effect is asked for', {}, 0, { repeat: 'always' }],
  ['another payload comes with if-changed', { repeat: 'if-changed' }, 2 * DAY, { body: '{"cart":"another"}' }],
])('a derived key comes out the same again once its record is due to be forgotten, unless %s', async ([_, options, later, another], { world }) => {
  const { tab, once } = world.open({ namespace: 'ann', keep: { forMs: DAY }, ...options });
  world.server.otherwise = honest();
  await world.end(tab, pay(once, { key: derived }));
  await world.clock.advance(2 * DAY);
  await world.end(tab, pay(once, { key: derived }));
  expect(world.server.charged.size).toBe(1);
  await world.clock.advance(later);
  await world.end(tab, pay(once, { key: derived, ...another }));
  expect(world.server.charged.size).toBe(2);
});

const OTHER = { ...CART, amount: 99 };

describe('a derived key after a log-out, and another payload', () => {
  async function paidOnce() {
    const { world, tab, once } = newWorld().open({ namespace: 'ann' });
    world.server.otherwise = honest();
    await world.end(tab, pay(once, { key: derived }));
    await world.run(clear(once));
    await world.clock.advance(3 * MINUTE);
    return { world, tab, once };
  }

  test('is told that the name is settled, and gets no answer, if the server repeats the answer to the first one', async () => {
    const { world, tab, once } = await paidOnce();
    const end = await world.end(tab, pay(once, { key: derived, body: OTHER }));
    expect(end).toMatchObject({ response: undefined, code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    expect(world.server.charged.size).toBe(1);
    expect((await world.end(tab, pay(once, { key: derived, body: OTHER }))).code).toBe('ERR_ONCE_ALREADY_SETTLED');
  });

  test('is done, but not certain, if the server marks no replay', async () => {
    const { world, tab, once } = await paidOnce();
    world.server.plays(answers(201));
    expect((await world.end(tab, pay(once, { key: derived, body: OTHER }))).outcome).toMatchObject({ type: 'fresh', changed: true, certain: false });
  });

  test('is unknown if the server compares payloads', async () => {
    const { world, tab, once } = await paidOnce();
    world.server.plays(answers(422, { type: 'about:blank', title: 'Idempotency key reused with a different payload' }));
    expect((await world.end(tab, pay(once, { key: derived, body: OTHER }))).outcome).toMatchObject({ effect: 'unknown', reason: 'mismatch' });
  });
});

test('a derived key under which one of two payloads was done: a later replay is certain about neither', async ({ world }) => {
  const { tab, once } = world.open({ namespace: 'ann', keep: { forMs: DAY }, limits: { attempts: 1 } });
  await world.end(tab, pay(once, { key: derived }), charged(lost()));
  expect((await world.end(tab, pay(once, { key: derived, body: OTHER }), answers(201))).outcome).toMatchObject({ type: 'fresh', certain: false });
  await world.clock.advance(2 * DAY);
  expect((await world.end(tab, pay(once, { key: derived, body: OTHER }), replays())).outcome).toMatchObject({ type: 'fresh', certain: false, changed: true });
});

test('once the record of a literal key is due to be forgotten, another literal key counts as new to the server', async ({ world }) => {
  const { tab, once } = world.open({ namespace: 'ann', keep: { forMs: DAY } });
  world.server.otherwise = honest();
  await world.end(tab, pay(once, { key: 'order-1-a' }));
  await world.clock.advance(2 * DAY);
  expect((await world.end(tab, pay(once, { key: 'order-1-b', body: OTHER }))).outcome).toMatchObject({ type: 'fresh', changed: false });
  expect(world.server.charged.size).toBe(2);
});

test('a derived key comes out the same for a second operation: the second one does not get the answer to the first', async ({ world }) => {
  const { tab, once } = world.open({ namespace: 'ann', keep: { forMs: DAY }, limits: { attempts: 1 } });
  await world.end(tab, pay(once, { key: derived }), answers(201, { id: 'ch_1' }));
  await world.clock.advance(2 * DAY);
  expect((await world.end(tab, pay(once, { key: derived }), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
  await world.run(settle(once, ['pay', 'c1'], 'done'));
  const end = await world.end(tab, pay(once, { key: derived }));
  expect(end).toMatchObject({ response: undefined, code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
});

test("a log-out with unsettled: 'forget' leaves no record", async ({ world }) => {
  const { tab, once } = world.open({ namespace: 'ann' });
  await world.end(tab, pay(once), answers(201));
  await world.run(clear(once, { unsettled: 'forget' }));
  expect(world.records).toEqual([]);
});

test('a process that sleeps between its first write and its first attempt reads the record again before it sends', async ({ world }) => {
  const [one, two] = [world.open({}, { locks: false }), world.open({}, { locks: false })];
  const call = pay(one.once, { limits: { totalMs: 10 * MINUTE } });
  // The process freezes right after its first write.
  one.tab.at(2, () => one.tab.freeze());
  await rest();
  await world.clock.advance(MINUTE);
  await world.run(settle(two.once, ['pay', 'c1'], 'none'));
  one.tab.thaw();
  const end = await world.end(one.tab, call);
  expect(world.server.arrivals).toHaveLength(0);
  expect(world.record()).toMatchObject({ state: 'retired', ending: { effect: 'none' } });
  expect(end.outcome?.effect).not.toBe('done');
});

describe('a write that a store carries out only after its caller was told of a failure', () => {
  test('of a log-out removes nothing that has settled since', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    await world.end(tab, pay(once), answers(201));
    await world.clock.advance(10 * MINUTE);
    const held = holdUpdates(tab);
    await expect(world.run(clear(once))).rejects.toThrow('did not answer');
    held.letGo();
    const before = world.record();
    held.makeIt();
    await rest();
    expect(world.record()).toEqual(before);
    await world.end(tab, pay(once, { operation: ['pay', 'c2'] }), answers(201, { other: 1 }));
    expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'done' });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test('begins no operation', async ({ world }) => {
    const { tab, once } = world.open({ repeat: 'if-changed' });
    await world.end(tab, pay(once), answers(200));
    const changed = { ...CART, amount: 12 };
    const held = holdUpdates(tab);
    // The second payload is to be saved, but the store is silent.
    expect(await world.end(tab, pay(once, { body: changed }), answers(200))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
    held.letGo();
    held.makeIt();
    await rest();
    expect(world.record()).toMatchObject({ state: 'settled' });
    expect((await world.end(tab, pay(once, { body: changed }))).outcome).toMatchObject({ type: 'fresh' });
  });
});

test('a call that close ends while another tab holds the lock does not say that nothing was sent', async ({ world, one, two }) => {
  world.server.plays(answers(201));
  // The other tab holds the lock, and has stored nothing yet.
  one.tab.at(3, () => one.tab.freeze());
  const [first] = await world.begin(pay(one.once));
  const [second] = await world.begin(pay(two.once));
  await Promise.all([close(two.once), rest()]);
  expect((await world.end(two.tab, second)).outcome).toMatchObject({ effect: 'unknown', reason: 'aborted' });
  one.tab.thaw();
  expect((await world.end(one.tab, first)).outcome).toMatchObject({ effect: 'done' });
});

describe('a log-out with unsettled: forget, while the hooks of an attempt are asked', () => {
  const forgets = (of: { once?: Once }) => async () => void (await clear(of.once as Once, { unsettled: 'forget' }));

  test.for(['headers', 'around'] as const)(
    '%s: the attempt does not leave under the forgotten key, so the next press is the only charge',
    async (hook, { world, tab }) => {
      const of: { once?: Once } = {};
      const forget = forgets(of);
      const hooks = {
        headers: { headers: () => forget().then(() => ({})) },
        around: { use: [...everything(), around((_, send) => forget().then(() => send()))] },
      };
      of.once = tab.once(hooks[hook]);
      expect((await world.end(tab, pay(of.once))).outcome).toMatchObject({ effect: 'unknown', sent: 'no' });
      expect((await world.end(tab, pay(tab.once()), answers(201))).outcome).toMatchObject({ effect: 'done' });
      expect(world.server.arrivals).toHaveLength(1);
    },
  );
});

test('a log-out in mid-attempt, and then reconcile says that the call without a name is done: an equal press goes on with it', async ({ world }) => {
  const { tab, once } = world.open({ namespace: 'ann', reconcile: async () => 'done', limits: { inProgressMs: 0 } });
  const send = () => once.fetch(URL_, { method: 'POST', body: '{}' });
  const [first] = await world.begin(send(), charged(delayed(SECOND, answers(409))), replays());
  await world.run(clear(once));
  expect(await world.end(tab, first)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST', outcome: { effect: 'unknown' } });
  expect((await world.end(tab, send())).outcome).toMatchObject({ effect: 'done' });
  expect(new Set(world.server.keys).size).toBe(1);
});
