/**
 * Goal: when a kept-alive connection breaks after the charge, the browser sends a copy by itself, and a gateway may
 * refuse that copy. Nobody is charged twice. Method: a real server breaks the first connection after its effect and
 * refuses the copy. The client does not mark its requests, so the server cannot tell copies from attempts.
 */
import { describe, expect } from 'vitest';
import { server } from 'vitest/browser';
import { createOnce, outcomeOf, pending } from '../../../src/entries/index.js';
import { SOON } from '../realm/lib.js';
import { client, Shop, test } from '../support/shop.js';

const ORDER = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"cart":1}', once: ['pay', 1] } as const;

/** Uses a connection before the payment, because browsers send copies only on a connection that was used before. */
async function onKeptAliveConnection(shop: Shop): Promise<void> {
  for (let n = 0; n < 3; n++) await shop.ledger();
}

describe('a charge whose connection dies, and a copy that a gateway refuses', () => {
  test.each(['unauthorized', 'rate-limited'] as const)('%s: unknown, and the next press sends the same key', async (refusal) => {
    const shop = new Shop();
    const once = createOnce({ ...SOON, namespace: shop.namespace, limits: { attempts: 1 } });
    await onKeptAliveConnection(shop);
    await shop.meets('lose-response', refusal);
    const refused = await once.fetch(shop.url, ORDER).catch((error: unknown) => error);
    const { arrivals, effects } = await shop.ledger();
    expect(effects).toHaveLength(1);
    expect(outcomeOf(refused)).toMatchObject({ effect: 'unknown' });
    // Chromium sends the copy by itself: one attempt of oncefetch, two requests on the wire.
    if (server.browser === 'chromium') {
      expect(arrivals).toHaveLength(2);
      expect(outcomeOf(refused)).toMatchObject({ attempts: 1, reason: 'refused' });
      expect(refused).toBeInstanceOf(Response);
    }
    expect(await pending(once)).toMatchObject([{ name: ['pay', 1], sent: 'maybe' }]);
    // In a browser that sends no copy, the first of these presses gets the refusal.
    const presses = [];
    for (let n = 0; n < 2; n++) presses.push(outcomeOf(await once.fetch(shop.url, ORDER).catch((error: unknown) => error))?.effect);
    expect(presses.at(-1)).toBe('done');
    await shop.oneEffect();
  });

  test('a decline by the application still means none', async ({ shop }) => {
    const once = client(shop);
    const declined = await once.fetch(shop.url, { ...ORDER, body: '{"cart":1,"card":"declined"}' });
    expect(outcomeOf(declined)).toMatchObject({ type: 'rejected', effect: 'none' });
    const paid = await once.fetch(shop.url, ORDER);
    expect(outcomeOf(paid)).toMatchObject({ type: 'fresh', effect: 'done' });
  });
});
