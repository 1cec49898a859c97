/** Goal: what the app says is done is remembered as long as what an answer said: a key that can be made again does not come round inside its window. */
import { expect } from 'vitest';
import { derived, forget, type Once, settle } from '../../src/entries/index.js';
import { answers, charged, lost, textOf } from '../support/server.js';
import { DAY, HOUR, NAME, pay, test } from '../support/world.js';

test("settled as 'done' by hand, and forgotten before the server forgets: the next one has another key", async ({ world }) => {
  const { tab, once } = world.open({ keep: { forMs: HOUR }, limits: { attempts: 1 } });
  await world.end(tab, pay(once, { repeat: 'always', key: derived }), charged(lost()));
  await world.run(settle(once, NAME, 'done'));
  const forgetAt = world.record()?.forgetAt ?? 0;
  expect(forgetAt - world.clock.now()).toBeGreaterThanOrEqual(DAY);
  await world.clock.advance(2 * HOUR);
  await world.end(tab, pay(once, { repeat: 'always', key: derived }), answers(201));
  expect(new Set(world.server.keys).size).toBe(2);
});

test.for([
  ['settled as none by hand', (once: Once) => settle(once, NAME, 'none'), true],
  ['forgotten', (once: Once) => forget(once, NAME, { evenIfUnknown: true }), false],
] as const)('a derived key, and a fingerprint of some fields only: what is pressed after it was %s sends its own bytes', async ([_, end, stays], { world }) => {
  const { tab, once } = world.open({ limits: { attempts: 1 }, fingerprint: ({ body }) => (body as { cart: string }).cart });
  await world.end(tab, pay(once, { key: derived, body: { cart: 'c', token: 1 } }), lost());
  // As long as nobody knows, the server must get the same bytes: it compares them.
  await world.end(tab, pay(once, { key: derived, body: { cart: 'c', token: 2 } }), lost());
  await world.run(end(once));
  expect((await world.end(tab, pay(once, { key: derived, body: { cart: 'c', token: 3 } }), answers(201))).outcome).toMatchObject({ effect: 'done' });
  const sent = await Promise.all(world.server.arrivals.map(async (one) => (JSON.parse(await textOf(one)) as { token: number }).token));
  expect(sent).toEqual([1, 1, 3]);
  expect(world.server.keys[2] === world.server.keys[0]).toBe(stays);
});

test('a derived key whose record was lost: the press sends the bytes that the server may hold', async ({ world }) => {
  const { tab, once } = world.open({ limits: { attempts: 1 }, fingerprint: ({ body }) => (body as { cart: string }).cart });
  await world.end(tab, pay(once, { key: derived, body: { cart: 'c', token: 1 } }), charged(lost()));
  world.medium.set(world.record()?.id ?? '', null);
  await world.end(tab, pay(once, { key: derived, body: { cart: 'c', token: 2 } }), answers(201));
  const sent = await Promise.all(world.server.arrivals.map(async (one) => (JSON.parse(await textOf(one)) as { token: number }).token));
  expect([sent, new Set(world.server.keys).size]).toEqual([[1, 1], 1]);
});
