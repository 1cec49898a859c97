/**
 * Goal: with `repeat`, an answer about an earlier effect of a name is told to no later call as its own. Method: a key strategy that is
 * left out for one call, whose record is then swept; and "done already" of a server, after the payload was changed.
 */
import { describe, expect } from 'vitest';
import { gocardless } from '../../src/entries/dialects.js';
import { derived, type KeyStrategy } from '../../src/entries/index.js';
import { answers, charged, lost } from '../support/server.js';
import { MINUTE, ONE, pay, test } from '../support/world.js';

const KEYS: Readonly<Record<string, KeyStrategy>> = { 'a key function': ({ generation }) => `order-c1.${generation}`, derived };

describe.each(Object.entries(KEYS))('with %s', (_, key) => {
  test('a call without it that is declined does not make the first key be made again', async ({ world, tab }) => {
    const once = tab.once({ namespace: 'ann', repeat: 'always' });
    const first = await world.end(tab, pay(once, { key }), answers(201));
    const declined = { body: { card: 'declined' } };
    for (let again = 0; again < 2; again++) {
      expect((await world.end(tab, pay(once, declined), answers(402))).outcome).toMatchObject({ effect: 'none' });
      await world.clock.advance(3 * MINUTE);
    }
    // As long as the server remembers the first key, a sweep leaves what tells that it is used up.
    expect(world.record()?.forgetAt).toBeGreaterThan(world.clock.now() + 24 * 60 * MINUTE);
    const { outcome } = await world.end(tab, pay(once, { key }), answers(201));
    expect(outcome).toMatchObject({ type: 'fresh' });
    expect(outcome?.key).not.toBe(first.outcome?.key);
  });
});

const ELSEWHERE = { error: { errors: [{ reason: 'idempotent_creation_conflict', links: { conflicting_resource_id: 'PM1' } }] } };

describe('"done already" after another payload, where no copy goes unseen', () => {
  test.for(['always', 'if-changed'] as const)(
    'with repeat %s is the end of the first one: the second one is sent under a new key',
    async (repeat, { world, tab }) => {
      const once = tab.once({ repeat, dialect: gocardless() });
      const first = await world.end(tab, pay(once, ONE), charged(lost()));
      const { outcome } = await world.end(tab, pay(once, { body: { amount: 20 } }), answers(409, ELSEWHERE), answers(201));
      expect(outcome).toMatchObject({ type: 'fresh', effect: 'done' });
      expect(outcome?.key).not.toBe(first.outcome?.key);
    },
  );

  test('without repeat, the name is done', async ({ world, tab }) => {
    const once = tab.once({ dialect: gocardless() });
    await world.end(tab, pay(once, ONE), charged(lost()));
    const end = await world.end(tab, pay(once, { body: { amount: 20 } }), answers(409, ELSEWHERE));
    expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done', from: 'elsewhere' } });
  });

  test('of the same payload, it is the end of this one', async ({ world, tab }) => {
    const once = tab.once({ repeat: 'always', dialect: gocardless() });
    await world.end(tab, pay(once, ONE), charged(lost()));
    expect(await world.end(tab, pay(once), answers(409, ELSEWHERE))).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE' });
  });
});

test('in a browser, which may have sent a copy of the second one unseen, nothing is sent under another key', async ({ world }) => {
  const { tab, once } = world.open({ repeat: 'always', dialect: gocardless() }, { resends: true });
  await world.end(tab, pay(once, ONE), charged(lost()));
  const end = await world.end(tab, pay(once, { body: { amount: 20 } }), answers(409, ELSEWHERE));
  expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done' } });
  expect(new Set(world.server.keys).size).toBe(1);
});
