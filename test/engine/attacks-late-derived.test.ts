/**
 * Goal: where a name stands for several effects, a key that is derived again while the server still knows it never makes an earlier
 * effect pass for a later one. Method: two effects, enough other operations for a sweep to remove what is due, and a third effect;
 * keys without generations; a server that repeats its answer whatever payload comes with the key.
 */
import { describe, expect } from 'vitest';
import { paypal } from '../../src/entries/dialects.js';
import { derived, forget } from '../../src/entries/index.js';
import { honest } from '../support/server.js';
import { DAY, HOUR, NAME, newWorld, pay, test } from '../support/world.js';

const OTHERS = 250;

describe.each(['always', 'if-changed'] as const)("a derived key with repeat: '%s'", (repeat) => {
  test.for([
    ['a window of a day, records kept for an hour', [2 * HOUR, 2 * HOUR], 'Idempotency-Key', { keep: { forMs: HOUR } }],
    ['a window of 45 days, records kept for the default time', [31 * DAY, 8 * DAY], 'PayPal-Request-Id', { dialect: paypal({ api: 'payments' }) }],
  ] as const)('takes effect each time: %s', async ([_, pauses, header, options], { world }) => {
    world.keyHeader = header;
    const { tab, once } = world.open(options);
    world.server.otherwise = honest();
    const act = (amount: number) => world.end(tab, pay(once, { body: { amount }, repeat, key: derived }));
    const others = async (of: string): Promise<void> => {
      for (let n = 0; n < OTHERS; n++) await world.end(tab, pay(once, { operation: ['other', of, n] }));
    };
    const first = await act(1);
    const second = await act(2);
    for (const ms of pauses) {
      await world.clock.advance(ms);
      await others(String(world.clock.now()));
    }
    const third = await act(3);
    expect(third).toMatchObject({ status: 201, outcome: { effect: 'done', type: 'fresh' } });
    expect(new Set([first, second, third].map(({ outcome }) => outcome?.key)).size).toBe(3);
  });
});

describe.each(['always', 'if-changed'] as const)("a key without generations, with repeat: '%s'", (repeat) => {
  const two = async (key: string | (() => string), pauseMs: number) => {
    const { world, tab, once } = newWorld().open();
    world.server.otherwise = honest();
    const act = (amount: number) => world.end(tab, pay(once, { body: { amount }, repeat, key }));
    expect(await act(1)).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    await world.clock.advance(pauseMs);
    if (pauseMs) world.server.charged.clear();
    return { world, second: await act(2) };
  };

  test.each([
    ['from a function', () => 'profile-7'],
    ['from the call', 'profile-7'],
  ])('%s: an effect that never happened is not told as done', async (_, key) => {
    const { world, second } = await two(key, 0);
    expect(second).toMatchObject({ code: 'ERR_ONCE_KEY_BURNT', outcome: { type: 'rejected', effect: 'none' } });
    expect(world.record()).toMatchObject({ state: 'settled', ending: { effect: 'done' } });
  });

  test('from a function is sent again when the server has forgotten it', async () => {
    const { world, second } = await two(() => 'profile-7', 2 * DAY);
    expect(second).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(world.server.keys).toEqual(['profile-7', 'profile-7']);
  });
});

test('a derived key that the app forgot is not derived again within a key window of 45 days', async ({ world }) => {
  world.keyHeader = 'PayPal-Request-Id';
  const { tab, once } = world.open({ dialect: paypal({ api: 'payments' }) });
  world.server.otherwise = honest();
  const act = () => world.end(tab, pay(once, { key: derived }));
  const first = await act();
  await world.run(forget(once, NAME));
  for (const days of [31, 8]) {
    await world.clock.advance(days * DAY);
    for (let n = 0; n < OTHERS; n++) await world.end(tab, pay(once, { operation: ['other', days, n] }));
  }
  const second = await act();
  expect(second).toMatchObject({ status: 201, outcome: { effect: 'done', type: 'fresh' } });
  expect(second.outcome?.key).not.toBe(first.outcome?.key);
});
