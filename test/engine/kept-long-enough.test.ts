/**
 * Goal: an ended operation is kept as long as its key can be made again, and no longer than somebody needs it. Method: keys that are derived, ends of
 * every kind, and many operations of one name.
 */
import { expect } from 'vitest';
import { derived, resumeOne } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, during, lost, replays } from '../support/server.js';
import { CART, DAY, HOUR, MINUTE, NAME, ONE, pay, test, watched } from '../support/world.js';

const DECLINED = answers(402, { code: 'card_declined' });
const AGAIN = answers(402, { code: 'card_declined' }, { 'idempotent-replayed': 'true' });

test('a derived key was refused and the next one paid: the end is told for as long as the server would repeat the refusal', async ({ world }) => {
  const options = { keep: { forMs: HOUR } } as const;
  const { tab, once } = world.open(options);
  expect((await world.end(tab, pay(once, { key: derived }), AGAIN, charged(answers(201)))).outcome).toMatchObject({ effect: 'done' });
  const record = world.record();
  expect(record).toMatchObject({ state: 'settled', generation: 1 });
  expect(record?.forgetAt).toBeGreaterThan(world.clock.now() + 23 * HOUR);
});

test('a derived key that was refused for good is kept like an open operation, a random one for a minute', async ({ world }) => {
  const { tab, once } = world.open();
  // Only a refusal that comes twice proves something under a key that may have been used before.
  await world.end(tab, pay(once, { key: derived }), DECLINED);
  await world.clock.advance(3 * MINUTE);
  const now = world.clock.now();
  await world.end(tab, pay(once, { key: derived }), DECLINED);
  expect(world.record()).toMatchObject({ state: 'retired' });
  expect(world.record()?.forgetAt).toBeGreaterThanOrEqual(now + 30 * DAY);
  const operation = ['pay', 'other'];
  await world.end(tab, pay(once, { operation }), DECLINED);
  expect(world.record(operation)).toMatchObject({ state: 'retired' });
  expect(world.record(operation)?.forgetAt).toBeLessThan(world.clock.now() + HOUR);
});

test('the record of a name that is paid again and again does not grow', async ({ world }) => {
  const { tab, once } = world.open({ repeat: 'always' });
  for (const amount of [1, 2, 3]) await world.end(tab, pay(once, { body: { ...CART, amount } }), charged(answers(201)));
  expect(world.record()).toMatchObject({ state: 'settled', previous: undefined });
});

test('a refusal that could not be stored ends nothing: the next press of this page sends the key again', async ({ world, tab, once }) => {
  const failing = during(() => tab.faults.rate('fail-before-commit', 1), DECLINED);
  expect((await world.end(tab, pay(once), failing)).outcome).toMatchObject({ effect: 'unknown', reason: 'store' });
  tab.faults.clear();
  expect((await world.end(tab, pay(once), charged(answers(201)))).outcome).toMatchObject({ effect: 'done' });
  expect(new Set(world.server.keys).size).toBe(1);
});

test('a press that was never sent for days leaves by a resume, and its answer is lost: the key window begins when it left', async ({ world }) => {
  const options = { namespace: 'ann', keep: { request: true }, ...ONE } as const;
  const page = await pressOffline(world.tab(), (tab) => pay(tab.once(options)));
  await world.clock.advance(3 * DAY);
  const once = page.once(options);
  expect((await world.end(page, watched(resumeOne(once, NAME)) as Promise<never>, charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
  expect((await world.end(page, pay(once), replays())).outcome).toMatchObject({ type: 'replayed', effect: 'done' });
});

test('another form is pressed offline under a derived key that paid before: the replay that it gets later is told as that of the first form', async ({
  world,
}) => {
  const options = { keep: { forMs: HOUR } } as const;
  const first = world.open(options);
  await world.end(first.tab, pay(first.once, { key: derived }), charged(answers(201)));
  await world.clock.advance(2 * HOUR);
  const edited = { key: derived, body: { ...CART, amount: 20 } };
  const page = await pressOffline(first.tab, (tab) => pay(tab.once(options), edited));
  const end = await world.end(page, pay(page.once(options), edited), replays());
  expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'replayed', from: 'server' } });
});
