/**
 * Goal: whoever waits for a press that turns out never to have been sent is not told how an earlier operation of that name ended.
 * Method: two contexts, of which the first one gives up before its attempt leaves; under a lock, and with leases.
 */
import { expect } from 'vitest';
import type { OnceOptions } from '../../src/entries/index.js';
import { answers, charged, delayed, type Entry, unreachable } from '../support/server.js';
import { DAY, HOUR, newWorld, pay, rest, SECOND, test, watched } from '../support/world.js';

const CONTEXTS = [
  ['under a lock', {}],
  ['with leases', { locks: false }],
  ['in processes', { server: true, locks: false }],
] as const;
const BEFORE: readonly [string, OnceOptions, Entry][] = [
  ['done', { repeat: 'always' }, charged(answers(201))],
  ['done, and its time is over', { keep: { forMs: HOUR } }, charged(answers(201))],
  ['declined', {}, answers(402, { code: 'card_declined' })],
];
/** With the promise of a token that is refused in the end. */
const NEVER_SENT: readonly [string, (token: Promise<never>) => OnceOptions, readonly Entry[]][] = [
  ['gets no token', (token) => ({ headers: () => token }), []],
  ['does not reach the server', () => ({}), [delayed(5 * SECOND, unreachable())]],
];
const ALL = CONTEXTS.flatMap(([where, of]) => BEFORE.flatMap((before) => NEVER_SENT.map((never) => [where, ...before, ...never, of] as const)));

test.each(ALL)('a press that waits, %s, is sent: the one before was %s, and the one that it waited for %s', async (...row) => {
  const [, , options, before, , never, entries, of] = row;
  const world = newWorld();
  let refuse = (_: Error): void => {};
  const token = watched(new Promise<never>((_, reject) => (refuse = reject)));
  const one = world.open({ namespace: 'ann', ...options, ...never(token) }, of);
  const other = world.open({ namespace: 'ann', ...options }, of);
  await world.end(other.tab, pay(other.once), before, ...entries, charged(answers(201)));
  await world.clock.advance(DAY);
  const given = pay(one.once, { limits: { attempts: 1 } });
  await rest();
  const waits = pay(other.once);
  await rest();
  refuse(new Error('no token'));
  expect((await world.end(one.tab, given)).outcome).toMatchObject({ type: 'unsent' });
  expect((await world.end(other.tab, waits)).outcome).toMatchObject({ type: 'fresh', attempts: 1 });
});

test('nor is who waits for a second one which took over from a page that is gone, and was never sent either', async ({ world }) => {
  const [gone, two, three] = [world.open(), world.open(), world.open()];
  const { outcome } = await world.end(two.tab, pay(two.once), answers(422, { code: 'no_such_address' }));
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
