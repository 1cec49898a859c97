/**
 * Goal: of two records of one name, `move` keeps the one that is likelier to have had an effect, with everything that is known of it and nothing of the other one.
 * Method: presses of the guest and of the user, then a look at the record that is left.
 */
import { describe, expect } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { defineDialect, inHeader } from '../../src/entries/dialects.js';
import { derived, forget, memoryStore, move, operation, pending, settle } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, delayed, type Entry, idle, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { CART, NAME, ONE, pay, SECOND, test, type World } from '../support/world.js';

const EDITED = { ...CART, amount: 20 };
const IN_USE = answers(400, { code: 'bad_card' });
const REFUSED = answers(402, { code: 'declined' });

/** One press: what its request meets at the server, or 'offline' if it never leaves. */
type Press = Entry | 'offline';

async function press(world: World, tab: Tab, namespace: string, presses: readonly Press[], options = {}): Promise<Tab> {
  let page = tab;
  for (const one of presses)
    if (one === 'offline') page = await pressOffline(page, (own) => pay(own.once({ namespace }), options));
    else await world.end(page, pay(page.once({ namespace }), { ...ONE, ...options }), one);
  return page;
}

test.for<[string, guest: readonly Press[], user: readonly Press[], left: 'guest' | 'user', Partial<OnceRecord>]>([
  ["the guest's press that never left wins over the user's refusal", ['offline'], [REFUSED], 'guest', { state: 'pending', ambiguous: false }],
  [
    "the user's press that never left under a key in use wins over the guest's key in use",
    [IN_USE],
    [IN_USE, 'offline'],
    'user',
    { state: 'pending', ambiguous: false },
  ],
  [
    "the guest's press that may have been sent wins over the user's press that never left under a key in use",
    [charged(lost())],
    [IN_USE, 'offline'],
    'guest',
    { state: 'pending', ambiguous: true },
  ],
  ["of two presses that may have been sent, the user's wins", [charged(lost())], [charged(lost())], 'user', { state: 'pending', ambiguous: true }],
])('%s', async ([_, guest, user, left, record], { world }) => {
  const page = await press(world, await press(world, world.tab({ resends: true }), 'ann', user), 'guest', guest);
  const [own, theirs] = world.records as OnceRecord[];
  const ann = page.once({ namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  expect((world.records as OnceRecord[]).find(({ ns }) => ns === own?.ns)).toMatchObject({ ...record, key: (left === 'user' ? own : theirs)?.key });
});

describe("the user's screen", () => {
  test('does not show a refused operation whose key stays in use as unsettled', async ({ world }) => {
    const page = await press(world, world.tab({ resends: true }), 'guest', [IN_USE]);
    const ann = page.once({ namespace: 'ann' });
    await world.run(move(ann, 'guest'));
    expect(world.records).toMatchObject([{ keyInUse: true }]);
    expect(operation(ann, NAME).state.phase).not.toBe('unsettled');
  });

  test("still shows after the move that the user's own press is under way", async ({ world, tab }) => {
    await press(world, tab, 'guest', [charged(lost())]);
    const ann = tab.once({ namespace: 'ann' });
    world.server.plays(delayed(5 * SECOND, replays()));
    // The user's press has never left, so the guest's record, which may have charged, takes its place.
    tab.online = false;
    const [call] = await world.begin(pay(ann));
    await world.run(move(ann, 'guest'));
    expect(operation(ann, NAME).state).toMatchObject({ phase: 'waiting' });
    tab.connect(true);
    await world.end(tab, call);
    await world.end(tab, pay(ann));
  });
});

describe("where the guest's and the user's records have the same key", () => {
  const key = 'order-42';

  test.for<[string, guest: Entry, user: Entry, payloads: readonly ('guest' | 'user')[]]>([
    ["both may have been sent: the record keeps both payloads, the user's last", lost(), lost(), ['guest', 'user']],
    ["the user's is done: the record keeps only the user's payload", lost(), answers(201), ['user']],
  ])('%s', async ([_, guest, user, payloads], { world, tab }) => {
    await press(world, tab, 'guest', [guest], { key });
    await press(world, tab, 'ann', [user], { key, body: EDITED });
    const [theirs, own] = (world.records as OnceRecord[]).map((record) => record.payloads.at(-1));
    await world.run(move(tab.once({ namespace: 'ann' }), 'guest'));
    expect((world.records as OnceRecord[]).at(-1)?.payloads).toEqual(payloads.map((whose) => (whose === 'user' ? own : theirs)));
  });

  test('a move of a refused record failed half way: the refused payload is not added to what the user has sent since', async ({ world }) => {
    const tab = await press(world, world.tab({ resends: true }), 'guest', [IN_USE]);
    const ann = tab.once({ namespace: 'ann' });
    // The third update removes the guest's record. It fails, so both records stay.
    const { update } = tab.store;
    let updates = 0;
    Object.assign(tab.store, {
      update: (...call: Parameters<typeof update>) => (++updates === 3 ? Promise.reject(new Error('the store is away')) : update(...call)),
    });
    await expect(world.run(move(ann, 'guest'))).rejects.toThrow('the store is away');
    await press(world, tab, 'ann', [lost()], { body: EDITED });
    const own = (world.records as OnceRecord[]).find(({ state }) => state === 'pending');
    await world.run(move(ann, 'guest'));
    expect(world.records).toEqual([own]);
  });

  test('both sent the same payload: it counts once, and the answer to it is certain', async ({ world, tab }) => {
    for (const namespace of ['guest', 'ann']) await press(world, tab, namespace, [charged(lost())], { key });
    const ann = tab.once({ namespace: 'ann' });
    await world.run(move(ann, 'guest'));
    expect((await world.end(tab, pay(ann, { key }), replays())).outcome).toMatchObject({ type: 'replayed', from: 'server' });
  });
});

test("a move does not lower the generation of the user's keys", async ({ world, tab }) => {
  const key = ({ generation }: { readonly generation: number }) => `order-c1.${generation}`;
  const ann = tab.once({ namespace: 'ann' });
  for (let generation = 0; generation < 2; generation++) {
    await press(world, tab, 'ann', [lost()], { key });
    expect(world.record()?.generation).toBe(generation);
    await world.run(forget(ann, NAME, { evenIfUnknown: true }));
  }
  await press(world, tab, 'guest', [charged(lost())], { key });
  await world.run(move(ann, 'guest'));
  expect(world.records).toMatchObject([{ state: 'pending', generation: 1, key: 'order-c1.0' }]);
});

test("a guest's random key that moves to the user does not bring the user's forgotten key back", async ({ world, tab }) => {
  const key = ({ generation }: { readonly generation: number }) => `order-c1.${generation}`;
  const ann = tab.once({ namespace: 'ann' });
  await press(world, tab, 'ann', [lost()], { key });
  await world.run(forget(ann, NAME, { evenIfUnknown: true }));
  await press(world, tab, 'guest', [lost()]);
  await world.run(move(ann, 'guest'));
  await world.takesNone(ann);
  expect((await world.end(tab, pay(ann, { key }), answers(201))).outcome).toMatchObject({ type: 'fresh', key: 'order-c1.1' });
});

test('after a move, a press that never left is retried like any other, even where a key counts for one account only', async ({ world }) => {
  const dialect = defineDialect({ name: 'bank', place: inHeader('Idempotency-Key'), perAccount: true });
  const options = { dialect, keep: { request: true } };
  const tab = await pressOffline(world.tab(), (page) => pay(page.once({ namespace: 'guest', ...options })));
  const ann = tab.once({ namespace: 'ann', ...options });
  await world.run(move(ann, 'guest'));
  expect((await world.end(tab, pay(ann), charged(lost()), replays())).outcome).toMatchObject({ effect: 'done', attempts: 2 });
});

test("the guest's attempt that was under way in a move can be settled as none once the time of an attempt is over", async ({ world }) => {
  const tab = world.tab({ locks: false });
  const store = memoryStore({ now: () => world.clock.now() });
  const [guest, ann] = [tab.once({ namespace: 'guest', store }), tab.once({ namespace: 'ann', store })];
  world.arrives = () => {};
  const [call] = await world.begin(pay(guest, ONE), delayed(5 * SECOND, idle(lost())));
  await world.run(move(ann, 'guest'));
  await world.end(tab, call);
  await world.takesNone(ann, 31 * SECOND);
});

test.for<[what: string, status: number, told: object, open: number]>([
  ['says that it is done, the user can settle the operation as done at once', 201, { effect: 'done' }, 0],
  ['refuses, the guest is told unknown, because nobody can write the refusal down', 402, { effect: 'unknown', reason: 'store' }, 1],
])('if the answer to the guest arrives after the move and %s', async ([, status, told, open], { world, tab }) => {
  let user = 'guest';
  const once = tab.once({ namespace: () => user });
  const [call] = await world.begin(pay(once), delayed(5 * SECOND, answers(status)));
  user = 'ann';
  await world.run(move(once, 'guest'));
  const { outcome } = await world.end(tab, call);
  expect(outcome).toMatchObject(told);
  expect(await world.run(pending(once))).toHaveLength(1);
  if (outcome?.effect === 'done') await world.run(settle(once, NAME, 'done'));
  expect(await world.run(pending(once))).toHaveLength(open);
  if (!open) expect((await world.end(tab, pay(once))).outcome).toMatchObject({ type: 'replayed', from: 'store' });
});

test("without locks and leases, nobody can settle the guest's attempt as none while it is under way in this page", async ({ world }) => {
  const tab = world.tab({ locks: false });
  const store = memoryStore();
  const [guest, ann] = [tab.once({ namespace: 'guest', store }), tab.once({ namespace: 'ann', store })];
  world.arrives = () => {};
  const [call] = await world.begin(pay(guest), delayed(5 * SECOND, answers(201)));
  await world.run(move(ann, 'guest'));
  await world.refusesNone(ann);
  expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'done' });
});

test("a user's press that stops while the guest's attempt is under way does not let anybody settle it as none", async ({ world }) => {
  const [one, two] = [world.tab(), world.tab()];
  world.server.plays(delayed(20 * SECOND, answers(201)), answers(503, undefined, { 'retry-after': '600' }));
  const [call] = await world.begin(pay(one.once({ namespace: 'guest' }), ONE));
  const ann = two.once({ namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  expect((await world.end(two, pay(ann))).outcome).toMatchObject({ effect: 'unknown', reason: 'unavailable' });
  await world.refusesNone(ann);
  expect((await world.end(one, call)).outcome).toMatchObject({ effect: 'done' });
});

test("a process without locks sends nothing under the user's name while the guest's attempt may be under way", async ({ world }) => {
  const of = { server: true, locks: false };
  const [one, two] = [world.tab(of), world.tab(of)];
  world.server.plays(delayed(20 * SECOND, answers(201)));
  world.server.otherwise = answers(503, undefined, { 'retry-after': '600' });
  const [call] = await world.begin(pay(one.once({ namespace: 'guest' }), ONE));
  const ann = two.once({ namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  expect(await world.end(two, pay(ann, { limits: { totalMs: 10 * SECOND } }))).toMatchObject({ code: 'ERR_ONCE_BUSY' });
  await world.refusesNone(ann);
  expect((await world.end(one, call)).outcome).toMatchObject({ effect: 'done' });
  expect(world.server.arrivals).toHaveLength(1);
});

describe.each(['if-changed', 'always'] as const)("with repeat: '%s', where the user's own press is done", (repeat) => {
  test("the guest's later press that may have been sent moves, and goes on under its key", async ({ world }) => {
    const page = await press(world, await press(world, world.tab(), 'ann', [charged(answers(201))], { repeat }), 'guest', [charged(lost())], { body: EDITED });
    const ann = page.once({ namespace: 'ann', repeat });
    await world.run(move(ann, 'guest'));
    const { key } = world.record() as OnceRecord;
    expect((await world.end(page, pay(ann, { body: EDITED }), replays())).outcome).toMatchObject({ effect: 'done', key });
  });

  test("with derived keys: the key after a guest's press that is settled as none is not the one that is done", async ({ world }) => {
    const options = { repeat, key: derived };
    const page = await press(world, await press(world, world.tab(), 'ann', [answers(201)], options), 'guest', [idle(lost())], { ...options, body: EDITED });
    const ann = page.once({ namespace: 'ann', repeat });
    await world.run(move(ann, 'guest'));
    await world.takesNone(ann);
    await world.end(page, pay(ann, { ...options, body: EDITED }), answers(201));
    expect(new Set(world.server.keys).size).toBe(3);
  });
});

test("with repeat: 'always', of two presses that may have been sent, the user's wins", async ({ world }) => {
  const options = { repeat: 'always' } as const;
  const page = await press(world, await press(world, world.tab(), 'ann', [charged(lost())], options), 'guest', [charged(lost())], options);
  const [own] = world.records as OnceRecord[];
  const ann = page.once({ namespace: 'ann', ...options });
  await world.run(move(ann, 'guest'));
  expect((await world.end(page, pay(ann), replays())).outcome).toMatchObject({ effect: 'done', key: own?.key });
});

test("with repeat: 'if-changed', the guest's press that never left does not make the user's earlier form be sent again", async ({ world }) => {
  const options = { repeat: 'if-changed' } as const;
  const tab = await press(world, world.tab(), 'ann', [charged(answers(201))], options);
  const page = await press(world, tab, 'guest', ['offline'], { ...options, body: EDITED });
  const ann = page.once({ namespace: 'ann', ...options });
  await world.run(move(ann, 'guest'));
  expect((await world.end(page, pay(ann))).outcome).toMatchObject({ effect: 'done', type: 'replayed' });
});
