/**
 * Goal: with `repeat: 'if-changed'`, where a 2xx does not tell which of several payloads took effect, none of them counts as done: each is sent at the next press,
 * under a new key. To set a state twice does no harm, but to lose it does. Method: a form is saved, edited and edited back over reloads, at servers that compare
 * payloads and at servers that don't.
 */
import { expect } from 'vitest';
import { answers, charged, type Entry, lost, replays, textOf } from '../support/server.js';
import { CART, ONE, pay, test } from '../support/world.js';

const [A, B] = [CART, { ...CART, amount: 20 }];
const DONE = charged(answers(201));
const OTHER_PAYLOAD = answers(422, { title: 'Idempotency-Key is already used with another payload' });

test.for<[string, Entry]>([
  ['marks replays', replays(201)],
  ['marks none', answers(201)],
])('the edited form is sent after the server, which %s, has refused its key and repeated its answer to the first one', async ([, repeated], { world }) => {
  /** In a page of its own, which has no bytes of earlier presses. */
  const press = async (body: unknown, ...meets: Entry[]) => {
    const { tab, once } = world.open({ namespace: 'ann', repeat: 'if-changed' });
    const { outcome } = await world.end(tab, pay(once, { ...ONE, body }), ...meets);
    tab.kill();
    return outcome;
  };
  expect(await press(A, charged(lost()))).toMatchObject({ effect: 'unknown' });
  expect(await press(B, OTHER_PAYLOAD)).toMatchObject({ effect: 'unknown', reason: 'mismatch' });
  expect(await press(A, repeated)).toMatchObject({ effect: 'done', certain: false });
  expect(await press(B, DONE)).toMatchObject({ effect: 'done', type: 'fresh', certain: true });
  const amounts = await Promise.all(world.server.arrivals.map(async (one) => JSON.parse(await textOf(one)).amount));
  expect(amounts).toEqual([10, 20, 10, 20]);
  expect(new Set(world.server.keys).size).toBe(2);
  expect(await press(B)).toMatchObject({ effect: 'done', type: 'replayed' });
});
