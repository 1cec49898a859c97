/** Goal: a listener that has unsubscribed hears nothing more, even if another listener unsubscribed it while the listeners were being called. */
import { getEventListeners } from 'node:events';
import { expect } from 'vitest';
import { type Once, operation, refresh, subscribe, warnOnLeave, watch } from '../../src/entries/index.js';
import { answers } from '../support/server.js';
import { NAME, pay, rest, test } from '../support/world.js';

type Listen = (once: Once, heard: () => void) => () => void;

const ways: readonly (readonly [string, Listen])[] = [
  ['a screen', (once, heard) => operation(once, NAME).subscribe(heard)],
  ['a watch', (once, heard) => watch(once, heard)],
  ['a subscriber', (once, heard) => subscribe(once, heard)],
];

test.for(ways)('%s that another listener has ended hears nothing more', async ([_, listen], { world, tab, once }) => {
  world.server.plays(answers(201));
  let ended = false;
  let late = 0;
  let off = (): void => {};
  listen(once, () => {
    off();
    ended = true;
  });
  off = listen(once, () => void (ended && late++));
  await world.end(tab, pay(once));
  await rest();
  expect(ended).toBe(true);
  expect(late).toBe(0);
});

test('a screen that another listener ended while the user changed does not follow the new user', async ({ world }) => {
  let user = 'ann';
  const { tab, once } = world.open({ namespace: () => user });
  world.server.plays(answers(201));
  let leaves = false;
  let heard = 0;
  operation(once, NAME).subscribe(() => {
    if (leaves) off();
    leaves = false;
  });
  const off = operation(once, NAME).subscribe(() => heard++);
  await rest();
  leaves = true;
  user = 'bert';
  refresh(once);
  await rest();
  heard = 0;
  await world.end(tab, pay(once));
  await rest();
  expect(heard).toBe(0);
});

test('the read for a screen that is gone fails late: the screen that has come since still hears', async ({ world, tab }) => {
  const plain = tab.store;
  const fails: (() => void)[] = [];
  let broken = true;
  const read: typeof plain.read = (id) => (broken ? new Promise((_, reject) => void fails.push(() => reject(new Error('the disk is slow')))) : plain.read(id));
  const once = tab.once({ store: { ...plain, scope: plain.scope, read } });
  world.server.plays(answers(201));
  expect(operation(once, NAME).state).toEqual({ phase: 'loading' });
  operation(once, NAME).subscribe(() => {})();
  await rest();
  fails[0]?.();
  await rest();
  broken = false;
  let heard = 0;
  operation(once, NAME).subscribe(() => heard++);
  await rest();
  fails[1]?.();
  await rest();
  heard = 0;
  await world.end(tab, pay(once));
  expect(heard).toBeGreaterThan(0);
});

test.for<[string, (once: Once, signal: AbortSignal) => () => void]>([
  ['a warning before leaving', (once, signal) => warnOnLeave(once, { signal })],
  ['a subscriber', (once, signal) => subscribe(once, () => {}, { signal })],
])('%s that has ended leaves no listener at its signal, which may outlive many of them', ([, begin], { once }) => {
  const { signal } = new AbortController();
  begin(once, signal)();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
