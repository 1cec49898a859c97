/**
 * Goal: after the storage is lost, no call is told `none` because of a kept refusal of the first key of a name: the corrected request may have gone out under
 * the next key, and be done. Method: a payment is refused, corrected and charged; the storage is lost; then calls of the same name that can't go on to the
 * next key.
 */
import { describe, expect, test } from 'vitest';
import { type Once, type Outcome, resumeOne, run, settle } from '../../src/entries/index.js';
import { answers, delayed, idle, lost, replays } from '../support/server.js';
import { HOUR, NAME, newWorld, ONE, pay, rest, SECOND, watched } from '../support/world.js';

const key = ({ generation }: { generation: number }) => `order-42-${generation}`;
const options = { namespace: 'ann', keep: { request: true } } as const;

/** Declined under `refused` keys, then charged under the next one. Then the browser clears what it stored, and the next page opens. */
async function evicted(refused = 1) {
  const { world, tab, once } = newWorld().open(options);
  for (let keys = 0; keys < refused; keys++) {
    await world.end(tab, pay(once, { key }), idle(answers(402, { code: 'card_declined' })));
    await world.end(tab, pay(once, { key }), idle(replays(402)));
  }
  await world.end(tab, pay(once, { key }), answers(201));
  expect([...world.server.charged]).toEqual([`order-42-${refused}`]);
  for (const { id } of world.records as { id: string }[]) world.medium.set(id, null);
  const next = tab.reload();
  return { world, tab: next, once: next.once(options) };
}

test('two keys were refused before the one that was charged: the next press goes on to the charged key, and charges nothing', async () => {
  const { world, tab, once } = await evicted(2);
  const end = await world.end(tab, pay(once, { key }), idle(replays(402)), idle(replays(402)), replays());
  expect(end.outcome).toMatchObject({ type: 'replayed', effect: 'done', key: 'order-42-2' });
});

test.for<[string, (once: Once) => unknown]>([
  ['declined', (once) => pay(once)],
  [
    'found to have failed',
    async (once) => {
      await pay(once, ONE).catch(() => {});
      await settle(once, NAME, 'none');
    },
  ],
])(
  'the first press, under a random key, was %s, and the next release derives keys: its key is made again, and nothing is charged twice',
  async ([how, first]) => {
    const { world, tab, once } = newWorld().open(options);
    world.server.plays(idle(how === 'declined' ? answers(402, { code: 'card_declined' }) : lost()));
    await world.run(Promise.resolve(first(once)));
    expect((await world.end(tab, pay(once, { key }), answers(201))).outcome).toMatchObject({ type: 'fresh', key: 'order-42-0' });
    for (const { id } of world.records as { id: string }[]) world.medium.set(id, null);
    const next = tab.reload();
    const end = await world.end(next, pay(next.once(options), { key }), replays());
    expect(end.outcome).toMatchObject({ type: 'replayed', effect: 'done', key: 'order-42-0' });
  },
);

test('while the record of the first key is there, a kept refusal of the second key is the answer, and no third key is sent', async () => {
  const { world, tab, once } = newWorld().open(options);
  await world.end(tab, pay(once, { key }), idle(answers(402, { code: 'card_declined' })));
  await world.end(tab, pay(once, { key }), idle(replays(402)));
  const end = await world.end(tab, pay(once, { key }), idle(lost()), idle(replays(402)));
  expect(end).toMatchObject({ status: 402, outcome: { type: 'rejected', effect: 'none', key: 'order-42-1' } });
});

test.for<[string, () => string | Promise<string>]>([
  ['throws', () => Promise.reject(new Error('no key today'))],
  ['never answers', () => new Promise<never>(() => {})],
])('a press is unknown if its key strategy %s when it is asked for the next key', async ([, fails]) => {
  const { world, tab, once } = await evicted();
  const end = await world.end(tab, pay(once, { key: (c) => (c.generation ? fails() : key(c)) }), idle(replays(402)));
  expect(end.outcome).toMatchObject({ effect: 'unknown' });
  // The next press goes on to the key that was charged.
  expect((await world.end(tab, pay(once, { key }), replays())).outcome).toMatchObject({ effect: 'done', key: 'order-42-1' });
});

test('a press is unknown if it is aborted while the next key is made', async () => {
  const { world, tab, once } = await evicted();
  const controller = new AbortController();
  const told: Outcome[] = [];
  const hangs = (c: { generation: number }) => (c.generation ? new Promise<string>(() => controller.abort()) : key(c));
  await world.end(tab, pay(once, { key: hangs, signal: controller.signal, onOutcome: (said) => void told.push(said) }), idle(replays(402)));
  await rest();
  expect(told).toMatchObject([{ effect: 'unknown' }]);
});

test('a resume is unknown, because it has no other key to go on with', async () => {
  const { world, tab, once } = await evicted();
  await world.end(tab, pay(once, { ...ONE, key }), idle(lost()));
  expect((await world.end(tab, watched(resumeOne(once, NAME)), idle(replays(402)))).outcome).toMatchObject({ effect: 'unknown' });
  expect((await world.end(tab, pay(once, { key }), replays())).outcome).toMatchObject({ effect: 'done', key: 'order-42-1' });
});

test('a page dies anywhere on its way to the next key: the next page finds that key, and nothing is charged again', async () => {
  for (let death = 1; death < 14; death++) {
    const { world, tab, once } = await evicted();
    world.server.otherwise = (arrival, server) => (arrival.key === 'order-42-0' ? idle(replays(402)) : replays())(arrival, server);
    tab.at(death, () => tab.kill());
    void pay(once, { key });
    await world.clock.advance(1000);
    const next = tab.reload();
    expect((await world.end(next, pay(next.once(options), { key }))).outcome).toMatchObject({ effect: 'done', key: 'order-42-1' });
  }
});

const verdictOf = (end: object) => ('value' in end && (end.value as Response).status === 402 ? ('rejected-for-good' as const) : undefined);
const declines = { ...options, verdict: ({ status }: { status: number }) => (status === 402 ? ('rejected-for-good' as const) : undefined) };

test("the app's own verdict reads the kept refusal: the server's replay mark counts all the same", async () => {
  const { world, tab } = await evicted();
  const end = await world.end(tab, pay(tab.once(declines), { key }), idle(replays(402)), replays());
  expect(end.outcome).toMatchObject({ effect: 'done', key: 'order-42-1' });
});

test('the replay mark also counts with run, whose function returns the Response', async () => {
  const { world, tab } = await evicted();
  const declined = Response.json({}, { status: 402, headers: { 'idempotent-replayed': 'true' } });
  const pays = ({ key: used }: { key: string }) => (used === 'order-42-0' ? declined.clone() : Response.json({ id: 'ch_1' }));
  const end = await world.end(tab, watched(run(tab.once(options), NAME, pays, { key, verdict: verdictOf })));
  expect(end.outcome).toMatchObject({ effect: 'done', key: 'order-42-1' });
});

test("the app's own verdict reads a first refusal, which has no mark: the outcome is none", async () => {
  const { world, tab, once } = newWorld().open(declines);
  expect((await world.end(tab, pay(once, { key }), idle(answers(402)))).outcome).toMatchObject({ effect: 'none', replayed: false });
});

test.each([
  ['read by the dialect', options],
  ["read by the app's verdict", declines],
])('a key strategy with one key only, and a refusal whose first answer was lost: the caller gets the refusal, %s', async (_, given) => {
  const { world, tab, once } = newWorld().open(given);
  const end = await world.end(tab, pay(once, { key: () => 'cart-42' }), idle(lost()), idle(replays(402)));
  expect(end).toMatchObject({ status: 402, outcome: { type: 'rejected', replayed: true, key: 'cart-42' } });
  expect(world.server.keys).toEqual(['cart-42', 'cart-42']);
});

describe('with a key strategy that has one key only, the refusal is the answer', () => {
  const oneKey = { key: () => 'cart-42' } as const;

  test("also for a call that joined; an edited form with repeat: 'if-changed' is told that the key is used up", async () => {
    const { world, tab, once } = newWorld().open({ ...declines, repeat: 'if-changed' });
    world.server.plays(idle(lost()), idle(replays(402)));
    const ends = await world.all(tab, pay(once, oneKey), pay(once, oneKey));
    expect(ends).toMatchObject([
      { status: 402, outcome: { type: 'rejected', joined: false } },
      { status: 402, outcome: { type: 'rejected', joined: true } },
    ]);
    // The key is used up: an edited form sends nothing under it, in this tab or in another one.
    const edited = { ...oneKey, body: { cart: 'c1', amount: 11 } };
    const other = world.open({ ...declines, repeat: 'if-changed' });
    for (const { tab: of, once: client } of [{ tab, once }, other])
      expect(await world.end(of, pay(client, edited))).toMatchObject({ code: 'ERR_ONCE_KEY_BURNT', outcome: { effect: 'none' } });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test('also for run: its caller gets the Response that the function returned', async () => {
    const { world, tab, once } = newWorld().open(options);
    const refused = () => Response.json({}, { status: 402, headers: { 'idempotent-replayed': 'true' } });
    let calls = 0;
    const pays = () => (++calls === 1 ? Promise.reject(new Error('lost')) : refused());
    const end = await world.end(tab, watched(run(once, NAME, pays, { ...oneKey, verdict: verdictOf })));
    expect(end).toMatchObject({ status: 402, outcome: { type: 'rejected', key: 'cart-42' } });
  });

  test('but not if the strategy throws when it is asked for another key: the payment may be done under that key', async () => {
    const { world, tab, once } = newWorld().open(declines);
    let asked = 0;
    const key = () => {
      if (++asked > 1) throw new Error('no other key');
      return 'cart-42';
    };
    const end = await world.end(tab, pay(once, { key }), idle(lost()), idle(replays(402)));
    expect(end).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown' } });
  });
});

describe('work behind a 202', () => {
  const polls = { ...options, accepted: 'poll' } as const;
  const accepts = (mark: Record<string, string> = {}) => idle(answers(202, '', { location: '/jobs/1', ...mark }));
  const failed = idle(answers(200, { status: 'failed' }));
  const MARK = { 'idempotent-replayed': 'true' };

  test('that the server marks as a replay: a failure is that of the lost operation, and the strategy is asked for the next key', async () => {
    const { world, tab } = await evicted();
    const end = await world.end(tab, pay(tab.once(polls), { key }), accepts(MARK), failed, replays());
    expect(end.outcome).toMatchObject({ effect: 'done', key: 'order-42-1' });
  });

  test('that the server marks as a replay: a later resume, which has no other key, is unknown when the work has failed', async () => {
    const { world, tab } = await evicted();
    const once = tab.once({ ...polls, limits: { inProgressMs: 0 } });
    await world.end(tab, pay(once, { key }), accepts(MARK), idle(answers(200, { status: 'running' })));
    expect((await world.end(tab, watched(resumeOne(once, NAME)), failed)).outcome).toMatchObject({ effect: 'unknown' });
  });

  test('that bears no mark is new: a failure is none, in the same call and in a later one', async () => {
    for (const closed of [false, true]) {
      const { world, tab, once } = newWorld().open({ ...polls, ...(closed && { limits: { inProgressMs: 0 } }) });
      const first = await world.end(tab, pay(once, { key }), accepts(), closed ? idle(answers(200, { status: 'running' })) : failed);
      const end = closed ? await world.end(tab, pay(once, { key }), failed) : first;
      expect(end.outcome).toMatchObject({ effect: 'none', key: 'order-42-0' });
    }
  });
});

describe('a done operation is remembered for an hour only (`keep.forMs`), and then swept', () => {
  test('at a server that marks no replay, the key that was charged outlives `keep.forMs`: no call gets the refusal of the first key', async () => {
    const { world, tab, once } = newWorld().open({ ...declines, keep: { forMs: HOUR } });
    await world.end(tab, pay(once, { key }), idle(answers(402)));
    await world.end(tab, pay(once, { key }), answers(201));
    await world.clock.advance(2 * HOUR);
    // Two later calls, each of which may sweep what is due.
    for (const other of ['a', 'b']) {
      const { once: later } = world.open({ namespace: 'ann' });
      await world.end(tab, pay(later, { operation: ['tip', other] }), answers(201));
      await rest();
      await world.clock.advance(2 * HOUR);
    }
    world.server.otherwise = (arrival, server) => idle(arrival.key === 'order-42-0' ? answers(402) : answers(201))(arrival, server);
    expect((await world.end(tab, pay(once, { key }))).outcome).toMatchObject({ effect: 'done' });
  });
});

test('a press in another process that waits while the next key is made goes on to that key, too', async () => {
  const process = { server: true, locks: false, claims: { shared: 'cluster' } } as const;
  const world = newWorld();
  const [one, two] = [world.open({}, process), world.open({}, process)];
  world.server.charged.add('order-42-1');
  world.server.otherwise = (arrival, server) => (arrival.key === 'order-42-0' ? delayed(SECOND, idle(replays(402))) : replays())(arrival, server);
  const slow = (c: { generation: number }) => (c.generation ? new Promise<string>((made) => void world.clock.timer(20 * SECOND, () => made(key(c)))) : key(c));
  const [first] = await world.begin(pay(one.once, { key: slow }));
  const second = pay(two.once, { key });
  expect((await world.end(two.tab, second)).outcome).toMatchObject({ effect: 'done', key: 'order-42-1' });
  expect((await world.end(one.tab, first)).outcome).toMatchObject({ effect: 'done', key: 'order-42-1' });
});
