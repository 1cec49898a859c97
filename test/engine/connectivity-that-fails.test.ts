/**
 * Goal: `connectivity` is a hint. One of the app's own that throws, or gives something else than a function to unsubscribe by (React
 * Native's AppState gives an object), is reported, and neither ends a call nor lets one hang.
 */
import { describe, expect } from 'vitest';
import { Closing } from '../../src/engine/closing.js';
import { close } from '../../src/entries/index.js';
import type { Connectivity } from '../../src/ports.js';
import { charged, lost, replays } from '../support/server.js';
import { pay, rest, test } from '../support/world.js';

const broken = (): never => {
  throw new Error('a bug of the app');
};
const SOUND: Connectivity = { kind: 'own', online: () => true, subscribe: () => () => {} };
const HINTS: [string, Connectivity][] = [
  ['whose unsubscribe throws', { ...SOUND, subscribe: () => broken }],
  ['that gives an object to unsubscribe by', { ...SOUND, subscribe: () => ({ remove() {} }) as never }],
  ['whose subscribe throws', { ...SOUND, subscribe: broken }],
  ['whose online throws', { ...SOUND, online: broken }],
];

describe.each(HINTS)('one %s', (_, connectivity) => {
  test('lets a call go on after a lost answer, and is reported', async ({ world }) => {
    const { tab, once } = world.open({ connectivity });
    expect((await world.end(tab, pay(once), charged(lost()), replays())).outcome).toMatchObject({ effect: 'done', attempts: 2 });
    expect(tab.reported.length).toBeGreaterThan(0);
  });

  test('lets an abort and the end of the client cut every wait', async ({ world }) => {
    const { tab, once } = world.open({ connectivity });
    world.server.plays(charged(lost()), charged(lost()), charged(lost()));
    const controller = new AbortController();
    const reason = new Error('the user left');
    const calls = [pay(once, { operation: ['a'], signal: controller.signal }), pay(once, { operation: ['b'] }), pay(once, { operation: ['c'] })];
    await rest();
    controller.abort(reason);
    const closed = close(once);
    const [given, ...others] = await world.all(tab, ...calls);
    expect(given?.error).toBe(reason);
    for (const { outcome } of others) expect(outcome).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    await closed;
  });
});

test('an end that throws keeps no other one from being told', async () => {
  const closing = new Closing();
  const told: string[] = [];
  const unhandled: unknown[] = [];
  const hear = (error: unknown) => void unhandled.push(error);
  const before = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', hear);
  closing.addEventListener('abort', broken);
  closing.addEventListener('abort', () => void told.push('second'));
  closing.abort();
  await rest();
  process.removeAllListeners('unhandledRejection');
  for (const one of before) process.on('unhandledRejection', one);
  expect([told, unhandled.length, closing.aborted]).toEqual([['second'], 1, true]);
});
