/**
 * Goal: whoever waits for a press that turns out never to have been sent is not told how an earlier operation of that name ended.
 * Method: two contexts, of which the first one gives up before its attempt leaves; under a lock, and with leases.
 */
import { describe, expect, test } from 'vitest';
import type { OnceOptions } from '../../src/entries/index.js';
import { answers, type Entry } from '../support/server.js';
import { newWorld, pay, rest, watched } from '../support/world.js';

describe.each([
  ['under a lock', true],
  ['with leases', false],
] as const)('a press that waits, %s,', (_, locks) => {
  test.each<[string, OnceOptions, Entry]>([
    ['done', { repeat: 'always' }, answers(201)],
    ['declined', {}, answers(402, { code: 'card_declined' })],
  ])('is sent where the one before it was %s, and the one that it waited for was never sent', async (_, options, before) => {
    const world = newWorld();
    const first = world.open(options, { locks });
    world.server.plays(before);
    await world.end(first.tab, pay(first.once));
    let fails = (_: Error): void => {};
    const token = new Promise<never>((_, reject) => (fails = reject));
    const one = world.open({ ...options, headers: () => token, limits: { attempts: 1 } }, { locks });
    const other = world.open(options, { locks });
    const given = watched(pay(one.once));
    await rest();
    const waits = watched(pay(other.once));
    await rest();
    world.server.plays(answers(201));
    fails(new Error('no token'));
    expect((await world.end(one.tab, given)).outcome).toMatchObject({ type: 'unsent' });
    expect((await world.end(other.tab, waits)).outcome).toMatchObject({ type: 'fresh', attempts: 1 });
  });
});

test('nor is who waits for a second one which took over from a page that is gone, and was never sent either', async () => {
  const world = newWorld();
  const [gone, two, three] = [world.open(), world.open(), world.open()];
  world.server.plays(answers(422, { code: 'no_such_address' }));
  const { outcome } = await world.end(two.tab, pay(two.once));
  expect(outcome).toMatchObject({ type: 'rejected' });
  gone.tab.online = two.tab.online = false;
  void pay(gone.once);
  await rest();
  const cancel = new AbortController();
  const given = pay(two.once, { signal: cancel.signal });
  await rest();
  const waits = pay(three.once);
  await rest();
  gone.tab.kill();
  await rest();
  world.server.plays(answers(201));
  cancel.abort(new Error('cancelled'));
  const { error } = await world.end(two.tab, given);
  expect(two.tab.outcomeOf(error)).toMatchObject({ type: 'unsent' });
  expect((await world.end(three.tab, waits)).outcome).toMatchObject({ type: 'fresh', attempts: 1, key: outcome?.key });
});
