/** Goal: `move` leaves in the user's namespace the record that may have had an effect, and this record works there like any other. */
import { describe, expect } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { clear, derived, forget, move, type Once, resumeOne, settle } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, type Entry, idle, lost, replays, unreachable } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { NAME, newWorld, ONE, pay, resumed, test, URL_, watched } from '../support/world.js';

test("a user's press that never left gives way to a guest's payment that may have charged", async ({ world }) => {
  const tab = world.tab({ resends: true });
  const before = await pressOffline(tab, (page) => pay(page.once({ namespace: 'ann' })));
  const { outcome } = await world.end(before, pay(before.once({ namespace: 'guest' }), ONE), charged(lost()));
  const next = before.reload();
  const ann = next.once({ namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  expect((await world.end(next, pay(ann), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
});

test("a user's press that never left gives way to that payment even while its call still waits for the network in another tab", async ({ world }) => {
  const [waiting, tab] = [world.tab({ resends: true, locks: false }), world.tab({ resends: true, locks: false })];
  waiting.online = false;
  const [late] = await world.begin(pay(waiting.once({ namespace: 'ann' })));
  const { outcome } = await world.end(tab, pay(tab.once({ namespace: 'guest' }), ONE), charged(lost()));
  const ann = tab.once({ namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  waiting.connect(true);
  expect((await world.end(waiting, late)).outcome).toMatchObject({ effect: 'unknown' });
  expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
});

test('after a move, a press that is not sent restores the earlier refused record, whose key stays in use', async ({ world, tab }) => {
  const { outcome } = await world.end(tab, pay(tab.once({ namespace: 'guest' })), answers(400, { code: 'bad_card' }));
  const next = await pressOffline(tab, (page) => pay(page.once({ namespace: 'guest' })));
  const ann = next.once({ namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  const [moved] = world.records as OnceRecord[];
  expect((await world.end(next, pay(ann, ONE), unreachable())).outcome).toMatchObject({ type: 'unsent' });
  expect(world.records).toMatchObject([{ id: moved?.id, ns: moved?.ns, state: 'retired', keyInUse: true, key: outcome?.key }]);
});

describe('wherever the store fails in a move, a second move completes it', () => {
  const REFUSED = charged(answers(400, { code: 'bad_card' }));
  const FAULTS = ['fail-before-commit', 'fail-after-commit'] as const;

  for (const fault of FAULTS)
    for (const open of [false, true])
      test.for([1, 2, 3, 4, 5, 6])(`${fault} in update %i, with a press that never left: ${open}`, async (count, { world }) => {
        let tab = world.tab({ resends: true });
        const { outcome } = await world.end(tab, pay(tab.once({ namespace: 'guest' })), REFUSED);
        if (open) tab = await pressOffline(tab, (page) => pay(page.once({ namespace: 'guest' }), { body: { card: 'B' } }));
        const ann = tab.once({ namespace: 'ann' });
        const { update } = tab.store;
        let updates = 0;
        Object.assign(tab.store, {
          update: (...call: Parameters<typeof update>) => {
            if (++updates === count) tab.faults.next(fault);
            return update(...call);
          },
        });
        await world.run(move(ann, 'guest').catch(() => {}));
        updates = 100;
        await world.run(move(ann, 'guest'));
        await world.run(clear(ann));
        await world.end(tab, pay(ann, { body: { card: 'C' } }), replays());
        expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
      });
});

test('after a move failed half way, a payment that the guest resumes is not mistaken for the press that never left', async ({ world }) => {
  const options = { namespace: 'guest', keep: { request: true } };
  const tab = await pressOffline(world.tab(), (page) => pay(page.once(options)));
  const ann = tab.once({ namespace: 'ann' });
  const { update } = tab.store;
  let updates = 0;
  const failsOnce = (...call: Parameters<typeof update>) => {
    // A move makes three updates: it takes the guest's record from its drivers, inserts the user's record, and removes the guest's.
    if (++updates === 3) tab.faults.next('fail-before-commit');
    return update(...call);
  };
  Object.assign(tab.store, { update: failsOnce });
  await world.run(move(ann, 'guest').catch(() => {}));
  const { outcome } = await world.end(tab, watched(resumeOne(tab.once({ ...options, ...ONE }), NAME)), charged(lost()));
  expect(outcome).toMatchObject({ effect: 'unknown' });
  await world.run(move(ann, 'guest'));
  await world.end(tab, pay(ann, { body: { card: 'B' } }), replays());
  expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
});

describe('a damaged record of the guest, who may have paid', () => {
  const damaged = (record: OnceRecord) => ({ ...record, key: 'x' }) as OnceRecord;

  test('refuses the same press of the user until it is forgotten', async ({ world, tab }) => {
    const [guest, ann] = [tab.once({ namespace: 'guest' }), tab.once({ namespace: 'ann' })];
    await world.end(tab, pay(guest, ONE), charged(lost()));
    world.damage(damaged);
    for (let moved = 0; moved < 2; moved++) await world.run(move(ann, 'guest'));
    expect(await world.end(tab, pay(ann))).toMatchObject({ code: 'ERR_ONCE_RECORD', outcome: { effect: 'unknown', reason: 'record' } });
    expect(world.records).toHaveLength(1);
    await world.run(forget(ann, NAME, { evenIfUnknown: true }));
    expect((await world.end(tab, pay(ann), answers(201))).status).toBe(201);
  });

  const KEYS = { random: undefined, derived, made: ({ generation }: { readonly generation: number }) => `order-c1-${generation}`, literal: 'order-c1' };
  const DAMAGES: Readonly<Record<string, (record: OnceRecord) => unknown>> = {
    'another key': damaged,
    'another generation': (record) => ({ ...record, generation: 7 }),
    'no payloads': (record) => ({ ...record, payloads: undefined }),
    'an older format': (record) => ({ ...record, v: 0 }),
    'half of it': ({ id, ns, label, state, forgetAt }) => ({ id, ns, label, state, forgetAt }),
  };

  test.for(Object.entries(KEYS).flatMap(([kind, key]) => Object.entries(DAMAGES).map(([what, damage]) => [kind, what, key, damage] as const)))(
    'with a %s key and %s: it moves with its damage, and refuses the press',
    async ([, , key, damage], { world, tab }) => {
      const options = key === undefined ? ONE : { ...ONE, key };
      const [guest, ann] = [tab.once({ namespace: 'guest' }), tab.once({ namespace: 'ann' })];
      await world.end(tab, pay(guest, options), charged(lost()));
      const { id, ns } = world.record() as OnceRecord;
      world.damage(damage);
      const before = world.record();
      await world.run(move(ann, 'guest'));
      expect(world.records).toEqual([{ ...before, id: expect.not.stringMatching(id), ns: expect.not.stringMatching(ns) }]);
      expect(await world.end(tab, pay(ann, options))).toMatchObject({ code: 'ERR_ONCE_RECORD', outcome: { effect: 'unknown', reason: 'record' } });
    },
  );

  test('also refuses an equal call without a name', async ({ world, tab }) => {
    const [guest, ann] = [tab.once({ namespace: 'guest' }), tab.once({ namespace: 'ann' })];
    const post = (once: Once) => watched(once.fetch(URL_, { method: 'POST', body: 'x', once: ONE }));
    const { outcome } = await world.end(tab, post(guest), charged(lost()));
    const id = outcome?.key ?? '';
    world.medium.set(id, damaged(world.medium.get(id) as OnceRecord));
    await world.run(move(ann, 'guest'));
    expect(await world.end(tab, post(ann))).toMatchObject({ code: 'ERR_ONCE_RECORD' });
  });

  test.for<[string, Entry, string | undefined, number]>([
    ['which is done: both stay', answers(201), undefined, 2],
    ['which may have been sent: both stay', charged(lost()), 'unknown', 2],
    ['which was refused: the damaged record takes its place', answers(402, { code: 'declined' }), 'record', 1],
  ])("beside the user's own record, %s", async ([_, own, reason, records], { world, tab }) => {
    const [guest, ann] = [tab.once({ namespace: 'guest' }), tab.once({ namespace: 'ann' })];
    await world.end(tab, pay(ann, ONE), own);
    const before = (world.records as OnceRecord[])[0]?.id;
    await world.end(tab, pay(guest, ONE), charged(lost()));
    const theirs = (world.records as OnceRecord[]).find(({ id }) => id !== before) as OnceRecord;
    world.medium.set(theirs.id, damaged(theirs));
    await world.run(move(ann, 'guest'));
    const end = await world.end(tab, pay(ann), ...(reason === 'unknown' ? [replays()] : []));
    expect(end.code).toBe(reason === 'record' ? 'ERR_ONCE_RECORD' : undefined);
    expect(world.records).toHaveLength(records);
  });
});

test.for([
  ['with an update on its way to the store', 5],
  ['with the result of an update on its way back', 6],
] as const)(
  'a tab that freezes in `move`, %s: a press of the guest that waits meanwhile charges nothing, whatever is then settled by hand',
  async ([, at], { world, one, two }) => {
    const guest = two.tab.once({ namespace: 'guest' });
    await world.end(two.tab, pay(guest, ONE), idle(lost()));
    const ann = one.tab.once({ namespace: 'ann' });
    one.tab.at(at, () => one.tab.freeze());
    const [moving] = await world.begin(move(ann, 'guest'));
    world.server.otherwise = charged(answers(201));
    const [press] = await world.begin(pay(guest));
    one.tab.thaw();
    await moving;
    await settle(ann, NAME, 'none');
    expect((await world.end(two.tab, press)).outcome).toMatchObject({ effect: 'unknown', reason: 'record' });
    expect([...world.server.charged]).toEqual([]);
  },
);

describe('a tab that freezes in `move`, at any point at which it holds the lock', () => {
  const [guest, ann] = ['guest', 'ann'].map((namespace) => (tab: Tab) => tab.once({ namespace, keep: { request: true } })) as [Made, Made];
  type Made = (tab: Tab) => Once;

  test.for<[string, act: (tab: Tab) => Promise<unknown>, code: string | undefined]>([
    ['settle', (tab) => settle(guest(tab), NAME, 'none'), 'ERR_ONCE_BUSY'],
    ['forget', (tab) => forget(guest(tab), NAME, { evenIfUnknown: true }), 'ERR_ONCE_BUSY'],
    ["resume of the guest's", (tab) => resumed(guest(tab)), undefined],
    ["resume of the user's", (tab) => resumed(ann(tab)), undefined],
    ["the guest's log-out", (tab) => clear(guest(tab)), undefined],
    ["the user's log-out", (tab) => clear(ann(tab)), undefined],
    ['a second move', (tab) => move(ann(tab), 'guest'), undefined],
  ])('beside %s in another tab: the key stays, and the next press finds it', async ([, act, code]) => {
    for (let at = 4; at < 10; at++) {
      const world = newWorld();
      const [one, two] = [world.tab(), world.tab()];
      const { outcome } = await world.end(two, pay(guest(two), ONE), charged(lost()));
      one.at(at, () => one.freeze());
      const [moving] = await world.begin(move(ann(one), 'guest'));
      world.server.otherwise = replays();
      const [acting] = await world.begin(act(two.reload()).catch((error: { code?: string }) => error.code));
      one.thaw();
      await world.run(moving);
      if (code) expect(await world.run(acting)).toBe(code);
      await world.run(acting);
      await world.run(move(ann(one), 'guest'));
      expect(world.records).toMatchObject([{ key: outcome?.key }]);
      expect((await world.end(one, pay(ann(one)))).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
      expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
    }
  });
});
