/**
 * Goal: the panel says what is true of each operation, does what its buttons say, and leaves nothing behind. Method: a real page,
 * real requests to a real server that loses answers, and the panel used by its buttons and boxes.
 */
import { describe, expect, test } from 'vitest';
import { order, watched } from './support.js';

describe('the panel', () => {
  test('shows a payment whose answer was lost: each attempt, how it was read, and how it ended', async () => {
    const { shop, once, eyes } = watched();
    await eyes.until('Nothing yet.');
    await shop.meets('lose-response');
    expect((await once.fetch(shop.url, order('pay', 1))).status).toBe(201);
    await eyes.until('pay / 1done');
    await eyes.until('Read as replayed');
    expect(eyes.rows).toEqual(['pay / 1: done']);
    expect(eyes.detail).toMatch(
      /Attempt 1: a network error after .* Read as no answer: The server may have got it and done it, or not\. docs\/verdicts\.md#any-server-generic/,
    );
    expect(eyes.detail).toMatch(/So it waits before it tries again: .*Attempt 2: 201, marked as a replay after/);
    expect(eyes.detail).toContain('done. It took effect earlier. The server said so');
    expect(eyes.detail).toContain('docs/outcomes.md#what-the-words-rest-on');
    expect(eyes.detail).toContain('The next call with this name sends nothing and says that it is done');
    await shop.oneEffect();
  });
});
