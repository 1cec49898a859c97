/**
 * Goal: a key that can be made again does not come round while the server knows it, where a name stands for several effects.
 * Method: two effects, then so many other operations that what is forgotten is swept, and a third one.
 */
import { describe, expect, test } from 'vitest';
import { paypal } from '../../src/entries/dialects.js';
import { derived } from '../../src/entries/index.js';
import { honest } from '../support/server.js';
import { DAY, HOUR, newWorld, pay } from '../support/world.js';

const OTHERS = 250;

describe.each(['always', 'if-changed'] as const)("a derived key with repeat: '%s'", (repeat) => {
  test.each([
    ['a day’s window, an hour’s memory', [2 * HOUR, 2 * HOUR], 'Idempotency-Key', { keep: { forMs: HOUR } }],
    ['a window of 45 days, the default memory', [31 * DAY, 8 * DAY], 'PayPal-Request-Id', { dialect: paypal({ api: 'payments' }) }],
  ] as const)('takes effect each time: %s', async (_, pauses, header, options) => {
    const world = newWorld();
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
