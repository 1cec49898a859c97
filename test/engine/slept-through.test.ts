/**
 * Goal: a press that may send nothing any more, and finds nothing stored, does not say that nothing took effect: another tab may have
 * done it, and a log-out or a `move` may have taken what told of it. Method: tabs that sleep, and users who come and go meanwhile.
 */
import { describe, expect, test } from 'vitest';
import { clear, move } from '../../src/entries/index.js';
import { answers, charged, delayed, lost } from '../support/server.js';
import { MINUTE, newWorld, pay, rest, SECOND } from '../support/world.js';

describe('a tab that waits for the press of another one, and sleeps until that is done and the user has logged out', () => {
  const OWN = { operation: undefined, key: 'a-key-of-its-own' } as const;

  test.each([
    ['and in again', true, 'ann', {}],
    ['and in again, where tabs share no locks', false, 'ann', {}],
    ['and in again: a call without a name, under a key of its own', true, 'ann', OWN],
    ['and nobody is here', true, undefined, {}],
  ] as const)('%s: unknown', async (_, locks, atTheEnd, options) => {
    const world = newWorld();
    let user: string | undefined = 'ann';
    const [paying, sleeping] = [world.tab({ locks }), world.tab({ locks })];
    const [first, second] = [paying, sleeping].map((tab) => tab.once({ namespace: () => user as string })) as [never, never];
    world.server.plays(delayed(5 * SECOND, answers(201)));
    const done = pay(first, options);
    await rest();
    const waits = pay(second, options);
    await rest();
    sleeping.freeze();
    expect((await world.end(paying, done)).outcome).toMatchObject({ effect: 'done' });
    await world.run(clear(first));
    await world.clock.advance(10 * MINUTE);
    await world.run(clear(first));
    expect(world.records).toEqual([]);
    user = atTheEnd;
    sleeping.thaw();
    expect((await world.end(sleeping, waits)).outcome).toMatchObject({ effect: 'unknown', reason: 'record' });
    expect(world.server.arrivals).toHaveLength(1);
    expect(world.records).toEqual([]);
  });

  test('what still tells of it is told', async () => {
    const world = newWorld();
    const [paying, sleeping] = [world.open(), world.open()];
    world.server.plays(delayed(5 * SECOND, answers(201)));
    const done = pay(paying.once);
    await rest();
    const waits = pay(sleeping.once);
    await rest();
    sleeping.tab.freeze();
    await world.end(paying.tab, done);
    await world.clock.advance(10 * MINUTE);
    sleeping.tab.thaw();
    expect((await world.end(sleeping.tab, waits)).outcome).toMatchObject({ effect: 'done' });
  });
});

test("a guest's press that is being read while the guest logs in: an earlier one may have charged, and was moved", async () => {
  const world = newWorld();
  let user = 'guest';
  const { tab, once } = world.open({ namespace: () => user, limits: { attempts: 1 } });
  expect((await world.end(tab, pay(once), charged(lost()))).outcome).toMatchObject({ effect: 'unknown' });
  let answer: () => void = () => {};
  const again = pay(once, { fingerprint: ({ body }) => new Promise((resolve) => (answer = () => resolve(body))) });
  await rest();
  user = 'ann';
  await world.run(move(once, 'guest'));
  answer();
  expect((await world.end(tab, again)).outcome).toMatchObject({ effect: 'unknown', reason: 'record' });
  expect(world.server.arrivals).toHaveLength(1);
});
