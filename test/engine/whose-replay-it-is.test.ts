/**
 * Goal: where the platform may send a copy unseen, nobody is told that a marked answer is certainly about the earlier form: the edited one may have taken
 * effect. With `if-changed`, the edited state is sent again instead. Method: the answer to the first form is lost, and the server marks the one to the second.
 */
import { expect } from 'vitest';
import { answers, charged, lost, replays } from '../support/server.js';
import { CART, ONE, pay, test } from '../support/world.js';

const EDITED = { body: { ...CART, amount: 12 } };

test('a payment that may have been sent twice is not told as that of the earlier form', async ({ world }) => {
  const { tab, once } = world.open(ONE, { resends: true });
  await world.end(tab, pay(once), charged(lost()));
  expect(await world.end(tab, pay(once, EDITED), replays())).toMatchObject({ status: 201, outcome: { type: 'fresh', certain: false, changed: true } });
});

test('a platform that sends no copies: it is that of the earlier form', async ({ world }) => {
  const { tab, once } = world.open(ONE);
  await world.end(tab, pay(once), charged(lost()));
  expect(await world.end(tab, pay(once, EDITED), replays())).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { type: 'replayed' } });
});

test("with repeat: 'if-changed', the edited state is sent under a new key at once, so that it is not lost", async ({ world }) => {
  const { tab, once } = world.open({ ...ONE, repeat: 'if-changed' }, { resends: true });
  const first = await world.end(tab, pay(once), charged(lost()));
  const { outcome } = await world.end(tab, pay(once, EDITED), replays(), charged(answers(201)));
  expect(outcome).toMatchObject({ type: 'fresh', certain: true });
  expect(outcome?.key).not.toBe(first.outcome?.key);
  expect(world.server.charged.size).toBe(2);
});
