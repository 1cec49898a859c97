/**
 * Goal: if a key window ends, or a record or its place in the store changes, a call notices that before it relies on it. Method: one change at
 * the one moment at which only the check under test can notice it.
 */
import { expect } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { generic } from '../../src/entries/dialects.js';
import { clear, derived, resumeOne } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { sealed } from '../support/record.js';
import { answers, charged, delayed, during, lost, replays, unreachable } from '../support/server.js';
import { CART, DAY, HOUR, NAME, ONE, pay, rest, resumed, SECOND, test } from '../support/world.js';

const EDITED = { ...CART, amount: 20 };

test('a key is not sent again after the key window of the dialect that the `dialect` function chose', async ({ world }) => {
  const { tab, once } = world.open({ dialect: () => generic({ windowMs: HOUR }) });
  await world.end(tab, pay(once, ONE), charged(lost()));
  await world.clock.advance(2 * HOUR);
  expect((await world.end(tab, pay(once))).code).toBe('ERR_ONCE_KEY_EXPIRED');
  expect(world.server.arrivals).toHaveLength(1);
});

test('another tab takes the record over before the earlier payload is probed: the probe is not sent', async ({ world, tab, once }) => {
  await world.end(tab, pay(once, ONE), charged(lost()));
  const takes = (record: OnceRecord): OnceRecord => sealed({ ...record, revision: record.revision + 1 });
  const mismatch = answers(422, { title: 'Idempotency-Key is already used' });
  const end = await world.end(
    tab,
    pay(once, { body: EDITED }),
    during(() => world.damage(takes), mismatch),
  );
  expect(end.outcome).toMatchObject({ effect: 'unknown' });
  expect(world.server.arrivals).toHaveLength(2);
});

test('a press that was never sent is older than the key window: a resume sends it all the same', async ({ world }) => {
  const options = { namespace: 'ann', keep: { request: true } };
  const page = await pressOffline(world.tab(), (tab) => pay(tab.once(options)));
  await world.clock.advance(3 * DAY);
  expect(await world.end(page, resumeOne(page.once(options), NAME) as Promise<never>, charged(answers(201)))).toMatchObject({ error: undefined });
  expect(world.record()).toMatchObject({ state: 'settled', ending: { type: 'fresh' } });
});

test('a derived key, with repeat always, is not used again while the server remembers it, however short the record is kept', async ({ world }) => {
  const options = { repeat: 'always', keep: { forMs: HOUR } } as const;
  const { tab, once } = world.open(options);
  const first = await world.end(tab, pay(once, { key: derived }), charged(answers(201)));
  // A sweep removes a record only if it finds it due a second time.
  for (const other of ['a', 'b', 'c']) {
    await world.clock.advance(2 * HOUR);
    const page = tab.reload();
    await world.end(page, pay(page.once(options), { operation: [other] }), charged(answers(201)));
    await rest();
  }
  const page = tab.reload();
  const second = await world.end(page, pay(page.once(options), { key: derived }), charged(answers(201)));
  expect(second.outcome).toMatchObject({ type: 'fresh', effect: 'done' });
  expect(second.outcome?.key).not.toBe(first.outcome?.key);
});

test('a log-out comes before the refusal, without locks: the refusal is not stored, so the call does not say none', async ({ world }) => {
  const of = { server: true, locks: false };
  const [one, other] = [world.open({ namespace: 'ann' }, of), world.open({ namespace: 'ann' }, of)];
  const [call] = await world.begin(pay(one.once), delayed(SECOND, answers(402)));
  await world.run(clear(other.once));
  expect((await world.end(one.tab, call)).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
  expect(world.record()).toMatchObject({ state: 'pending', lease: undefined });
});

test("with durability: 'required', a call is unknown if it could not store its record and finds the record of another tab in its place", async ({ world }) => {
  const { tab, once } = world.open({ durability: 'required' });
  const other = world.open();
  const { update } = tab.store;
  let updates = 0;
  const failsOnce = async (...call: Parameters<typeof update>) => {
    if (++updates === 1) throw new Error('the disk is full');
    // The other tab pays between the look at the store and the removal.
    if (updates === 2) await world.end(other.tab, pay(other.once), charged(answers(201)));
    return update(...call);
  };
  Object.assign(tab.store, { update: failsOnce });
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
});

test.for(['if-changed', 'always'] as const)(
  'with repeat %s, reconcile says none of a key that the server holds for an earlier payload: nothing is told as done, and the edited form is sent',
  async (repeat, { world }) => {
    const { tab, once } = world.open({ repeat, reconcile: async () => 'none', limits: { attempts: 1 } });
    await world.end(tab, pay(once), lost());
    const next = tab.reload();
    const mismatch = answers(422, { title: 'Idempotency-Key is already used' });
    const page = next.once({ repeat, reconcile: async () => 'none', limits: { attempts: 1 } });
    expect((await world.end(next, pay(page, { body: EDITED }), mismatch, answers(201))).outcome).toMatchObject({ type: 'fresh', effect: 'done' });
    expect(world.server.arrivals).toHaveLength(3);
    expect(world.server.keys[2]).not.toBe(world.server.keys[1]);
  },
);

test('another user logs in while resume sends the first of two operations: its end is not yielded, and the second one is not sent', async ({ world }) => {
  let user = 'ann';
  const options = { namespace: () => user, keep: { request: true }, limits: { attempts: 1 } } as const;
  const { tab, once } = world.open(options);
  for (const cart of ['a', 'b']) await world.end(tab, pay(once, { operation: ['pay', cart] }), lost());
  const logIn = (): void => void (user = 'ben');
  const next = tab.reload();
  world.server.plays(during(logIn, charged(answers(201))));
  expect(await world.run(resumed(next.once(options), { concurrency: 1 }))).toEqual([]);
  expect(world.server.arrivals).toHaveLength(3);
});

test('a call finds its key used up, and then waits for another process, which sends nothing: the call goes on under a new key', async ({ world }) => {
  const of = { server: true, locks: false };
  const [one, other] = [world.open({}, of), world.open({ limits: { attempts: 1 } }, of)];
  await world.end(one.tab, pay(one.once), answers(400, { code: 'bad_card' }));
  const { update } = one.tab.store;
  let updates = Number.NaN;
  let othersPress: Promise<unknown> | undefined;
  const begins = async (...call: Parameters<typeof update>) => {
    // The other process begins after this call has retired the key, and before it begins again.
    if (++updates === 2) {
      other.tab.online = false;
      [othersPress] = await world.begin(pay(other.once));
    }
    return update(...call);
  };
  Object.assign(one.tab.store, { update: begins });
  const usedUp = during(
    () => {
      updates = 0;
    },
    replays(400, { code: 'bad_card' }),
  );
  const end = await world.end(one.tab, pay(one.once), usedUp, unreachable(), answers(201));
  await othersPress?.catch(() => {});
  expect(end.outcome).toMatchObject({ type: 'fresh', effect: 'done' });
});
