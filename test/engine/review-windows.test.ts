/**
 * Goal: how long a server remembers a key is asked of the dialect that the request has, also where the request is known only after the
 * claim. Method: dialects that depend on the request, with longer and shorter windows than the default, and a resume long after the press.
 */
import { expect } from 'vitest';
import { defineDialect, inHeader } from '../../src/entries/dialects.js';
import { clear, move, resumeOne } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import { answers, charged, lost, replays } from '../support/server.js';
import { DAY, HOUR, NAME, ONE, pay, resumed, test, watched } from '../support/world.js';

const PER_ACCOUNT = defineDialect({ name: 'bank', place: inHeader('Idempotency-Key'), perAccount: true });
const remembering = (windowMs: number) => defineDialect({ name: 'bank', place: inHeader('Idempotency-Key'), windowMs });
const options = (windowMs: number) => ({ namespace: 'ann', keep: { request: true }, dialect: () => remembering(windowMs) }) as const;

test('a server that remembers keys for a month is asked after two days', async ({ world }) => {
  const { tab, once } = world.open(options(30 * DAY));
  await world.end(tab, pay(once, ONE), charged(lost()));
  await world.clock.advance(2 * DAY);
  const next = tab.reload();
  expect(await world.end(next, watched(resumeOne(next.once(options(30 * DAY)), NAME)), replays())).toMatchObject({ outcome: { effect: 'done' } });
});

test('a resume on the first day does not shorten that for a press on the third', async ({ world }) => {
  const { tab, once } = world.open({ ...options(30 * DAY), ...ONE });
  await world.end(tab, pay(once), charged(lost()));
  await world.end(tab, watched(resumeOne(once, NAME)), lost());
  await world.clock.advance(2 * DAY);
  expect(await world.end(tab, pay(once), replays())).toMatchObject({ outcome: { effect: 'done' } });
});

test('a server that forgets after an hour is not asked after two, and the limit of the app counts before either', async ({ world }) => {
  const { tab, once } = world.open(options(HOUR));
  await world.end(tab, pay(once, ONE), charged(lost()));
  await world.clock.advance(2 * HOUR);
  const late = { code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } };
  expect(await world.end(tab, watched(resumeOne(once, NAME)))).toMatchObject(late);
  const own = world.tab().once({ ...options(30 * DAY), limits: { keyWindowMs: HOUR } });
  expect(await world.end(tab, watched(resumeOne(own, NAME)))).toMatchObject(late);
});

test.for([
  ['a dialect', PER_ACCOUNT],
  ['a function of the request', () => PER_ACCOUNT],
  [
    'a function that fails',
    () => {
      throw new Error('a bug of the app');
    },
  ],
] as const)('a key that counts for one account is not sent in another one after a move: %s', async ([, dialect], { world }) => {
  const guest = world.open({ namespace: 'guest', dialect: PER_ACCOUNT });
  await world.end(guest.tab, pay(guest.once, ONE), charged(lost()));
  const { once } = world.open({ namespace: 'ann', dialect });
  await world.run(move(once, 'guest'));
  const next = world.open({ namespace: 'ann', dialect: PER_ACCOUNT });
  expect(await world.end(next.tab, pay(next.once))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
});

test('nor is an equal call without a name sent under a new key after such a move: the lost one may have had its effect', async ({ world }) => {
  const options = { dialect: PER_ACCOUNT, ...ONE } as const;
  const post = (once: Once) => watched(once.fetch('https://shop.example/notes', { method: 'POST', body: '{}' }));
  const guest = world.open({ ...options, namespace: 'guest' });
  await world.end(guest.tab, post(guest.once), charged(lost()));
  const ann = world.open({ ...options, namespace: 'ann' });
  await world.run(move(ann.once, 'guest'));
  expect(await world.end(ann.tab, post(ann.once))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
  await world.clock.advance(2 * DAY);
  expect((await world.end(ann.tab, post(ann.once), answers(201))).outcome).toMatchObject({ effect: 'done' });
});

test('what was moved so is not sent by a resume either, nor from a second tab, and a log-out keeps it', async ({ world }) => {
  const options = { dialect: PER_ACCOUNT, keep: { request: true }, ...ONE } as const;
  const post = (once: Once) => watched(once.fetch('https://shop.example/notes', { method: 'POST', body: '{}' }));
  const guest = world.open({ ...options, namespace: 'guest' });
  await world.end(guest.tab, post(guest.once), charged(lost()));
  const ann = world.open({ ...options, namespace: 'ann' });
  await world.run(move(ann.once, 'guest'));
  const second = world.open({ ...options, namespace: 'ann' });
  expect(await world.end(second.tab, post(second.once))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED' });
  expect(await resumed(ann.once)).toMatchObject([{ outcome: { effect: 'unknown', reason: 'key-expired' } }]);
  expect((await world.run(clear(ann.once))).kept).toHaveLength(1);
  expect(await world.end(ann.tab, post(ann.once))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED' });
  expect(world.server.arrivals).toHaveLength(1);
});
