/**
 * Goal: with `repeat`, no later call gets an answer about an earlier effect of the name as its own. Method: a call leaves out the key strategy, and its record
 * is swept; a server says "done already" after the payload was changed.
 */
import { describe, expect } from 'vitest';
import { gocardless } from '../../src/entries/dialects.js';
import { derived, type KeyStrategy, pending, resumeOne } from '../../src/entries/index.js';
import { answers, charged, doneElsewhere, lost, replays, textOf } from '../support/server.js';
import { CART, MINUTE, NAME, ONE, pay, resumed, test, watched } from '../support/world.js';

const KEYS: Readonly<Record<string, KeyStrategy>> = { 'a key function': ({ generation }) => `order-c1.${generation}`, derived };

describe.each(Object.entries(KEYS))('with %s', (_, key) => {
  test('a declined call without a key strategy does not lead back to the first key', async ({ world, tab }) => {
    const once = tab.once({ namespace: 'ann', repeat: 'always' });
    const first = await world.end(tab, pay(once, { key }), answers(201));
    const declined = { body: { card: 'declined' } };
    for (let again = 0; again < 2; again++) {
      expect((await world.end(tab, pay(once, declined), answers(402))).outcome).toMatchObject({ effect: 'none' });
      await world.clock.advance(3 * MINUTE);
    }
    // While the server remembers the first key, a sweep leaves the record that says that this key is used up.
    expect(world.record()?.forgetAt).toBeGreaterThan(world.clock.now() + 24 * 60 * MINUTE);
    await world.beginsAnew({ tab, once }, first.outcome?.key, { key });
  });
});

describe('"done already" for another payload, on a platform that sends nothing unseen', () => {
  test.for(['always', 'if-changed'] as const)(
    'with repeat %s, is the end of the first payload: the second one is sent under a new key',
    async (repeat, { world, tab }) => {
      const once = tab.once({ repeat, dialect: gocardless() });
      const first = await world.end(tab, pay(once, ONE), charged(lost()));
      const { outcome } = await world.end(tab, pay(once, { body: { amount: 20 } }), doneElsewhere(), answers(201));
      expect(outcome).toMatchObject({ type: 'fresh', effect: 'done', certain: true });
      expect(outcome?.key).not.toBe(first.outcome?.key);
      expect(await Promise.all(world.server.arrivals.slice(1).map(textOf))).toEqual(['{"amount":20}', '{"amount":20}']);
    },
  );

  test('without repeat, the name is done', async ({ world, tab }) => {
    const once = tab.once({ dialect: gocardless() });
    await world.end(tab, pay(once, ONE), charged(lost()));
    const end = await world.end(tab, pay(once, { body: { amount: 20 } }), doneElsewhere());
    expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done', from: 'elsewhere' } });
  });

  test('for the same payload, is the end of this call', async ({ world, tab }) => {
    const once = tab.once({ repeat: 'always', dialect: gocardless() });
    await world.end(tab, pay(once, ONE), charged(lost()));
    expect(await world.end(tab, pay(once), doneElsewhere())).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE' });
  });
});

test('in a browser, which may have sent a copy of the second payload unseen, nothing is sent under another key', async ({ world }) => {
  const { tab, once } = world.open({ repeat: 'always', dialect: gocardless() }, { resends: true });
  await world.end(tab, pay(once, ONE), charged(lost()));
  const end = await world.end(tab, pay(once, { body: { amount: 20 } }), doneElsewhere());
  expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done' } });
  expect(new Set(world.server.keys).size).toBe(1);
});

describe('a resume of an edited form, while the server holds the earlier form', () => {
  const EDITED = { ...CART, amount: 20 };
  const MISMATCH = answers(422, { title: 'Idempotency-Key is already used' });

  test.for([
    ['if-changed', 'known from its stored request', true],
    ['always', 'known from its stored request', true],
    ['if-changed', 'known from `reconcile`', false],
  ] as const)(
    'with repeat %s, the end of the earlier form (%s) is not told as the end of the edited form, which stays pending and is sent by the next press',
    async ([repeat, _, request], { world, tab }) => {
      const options = { namespace: 'ann', keep: { request: true }, repeat } as const;
      await world.end(tab, pay(tab.once({ ...options, keep: { request } }), ONE), charged(lost()));
      await world.end(tab, pay(tab.once(options), { ...ONE, body: EDITED }), lost());
      const next = tab.reload();
      const once = next.once({ ...options, ...(!request && { reconcile: async () => 'done' as const }) });
      const [first] = world.server.keys;
      world.server.otherwise = async (arrival, server) => {
        const isEdited = (await textOf(arrival)).includes('20');
        return (arrival.key !== first ? answers(201) : isEdited ? MISMATCH : replays())(arrival, server);
      };
      expect((await world.run(resumed(once))).map(({ outcome }) => outcome)).toMatchObject([{ effect: 'unknown', reason: 'mismatch' }]);
      expect(await world.run(pending(once))).toHaveLength(1);
      expect((await world.end(next, pay(once, { body: EDITED }))).outcome).toMatchObject({ type: 'fresh', effect: 'done', certain: true });
    },
  );

  test('without repeat, the name is done', async ({ world, tab }) => {
    const options = { namespace: 'ann', keep: { request: true } };
    await world.end(tab, pay(tab.once(options), ONE), charged(lost()));
    await world.end(tab, pay(tab.once(options), { ...ONE, body: EDITED }), lost());
    const next = tab.reload();
    const end = await world.end(next, watched(resumeOne(next.once(options), NAME)), MISMATCH, replays());
    expect(end).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
  });
});
