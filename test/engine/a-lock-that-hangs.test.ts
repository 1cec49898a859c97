/** Goal: functions without a limit of their own end, and free the name, though the lock manager never answers; a lock that comes late is released. */
import { expect } from 'vitest';
import { forget, move, pending, settle } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import { charged, lost, replays } from '../support/server.js';
import { MINUTE, NAME, newWorld, type PayOptions, pay, rest, SECOND, test, watched } from '../support/world.js';

const BUSY = { code: 'ERR_ONCE_BUSY' };

test.each([
  ['settle', 'ann', (once: Once) => settle(once, NAME, 'done'), BUSY],
  ['forget', 'ann', (once: Once) => forget(once, NAME, { evenIfUnknown: true }), BUSY],
  ['move', 'guest', (once: Once) => move(once, 'guest'), undefined],
  ['pending', 'ann', (once: Once) => pending(once), [{ name: NAME, inFlight: false }]],
])('%s', async (_, namespace, act: (once: Once) => Promise<unknown>, end) => {
  const world = newWorld();
  const { tab, once } = world.open({ namespace });
  const { outcome } = await world.end(tab, pay(once, { limits: { attempts: 1 } }), charged(lost()));
  const { locks } = tab.platform;
  const late: (() => void)[] = [];
  let releases = 0;
  const acquire = () => new Promise<() => void>((resolve) => late.push(() => resolve(() => void releases++)));
  Object.assign(tab.platform, { locks: { acquire, held: () => new Promise(() => {}) } });
  const acted = watched(act(tab.once({ namespace: 'ann' }))).catch((error) => error);
  await rest();
  Object.assign(tab.platform, { locks });
  const since = world.clock.now();
  const ended = await world.run(acted);
  if (end) expect(ended).toMatchObject(end);
  expect(world.clock.now() - since).toBeLessThan(MINUTE);
  for (const comes of late) comes();
  await rest();
  expect(releases).toBe(late.length);
  await world.clock.advance(MINUTE);
  const again = world.clock.now();
  expect((await world.end(tab, pay(tab.once({ namespace: 'ann' })), replays())).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
  expect(world.clock.now() - again).toBeLessThan(SECOND);
});

const endless = () => new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array(100)) });

test.for<[string, PayOptions]>([
  ['is aborted', {}],
  ['has a body that can not be read', { init: { body: endless(), duplex: 'half' } as RequestInit, limits: { bodyBytes: 1000 } }],
])('a call that %s meanwhile does not say that nothing was sent: another page may hold the lock', async ([_, more], { world, tab }) => {
  Object.assign(tab.platform, { locks: { acquire: () => new Promise(() => {}) } });
  const controller = new AbortController();
  const call = pay(tab.once(), { ...more, signal: controller.signal });
  await rest();
  controller.abort(new Error('cancelled'));
  const { error } = await world.end(tab, call);
  await world.clock.advance(MINUTE);
  expect(tab.outcomeOf(error)).toMatchObject({ effect: 'unknown' });
});
