/**
 * Goal: with the option `keepalive`, a request in flight survives its page. Method: a server that sees whether the
 * client is still connected.
 */
import { afterEach, describe, expect } from 'vitest';
import { pending } from '../../../src/entries/index.js';
import { createOnce } from '../realm/lib.js';
import { closeRealms, openFrame } from '../support/realms.js';
import { client, Shop, sends, test } from '../support/shop.js';

afterEach(closeRealms);

/** Whether the client was still connected when the server answered after the page had been closed. */
async function outlives(keepalive: boolean): Promise<boolean | undefined> {
  const shop = new Shop();
  const frame = await openFrame();
  await shop.hold();
  frame
    .run(
      async (lib, url, namespace, keepalive) => {
        await lib.createOnce({ ...lib.SOON, namespace }).fetch(url, { method: 'POST', body: '{}', keepalive, once: ['pay', 1] });
      },
      shop.url,
      shop.namespace,
      keepalive,
    )
    .catch(() => {});
  await shop.arrived(1);
  frame.close();
  // The server notices a closed connection only after a while.
  await new Promise((resolve) => setTimeout(resolve, 700));
  await shop.release();
  await expect.poll(async () => (await shop.ledger()).arrivals[0]?.there).toBeDefined();
  expect(await pending(createOnce({ namespace: shop.namespace }))).toMatchObject([{ name: ['pay', 1], sent: 'maybe' }]);
  return (await shop.ledger()).arrivals[0]?.there;
}

describe('a page that is closed in the middle of an attempt', () => {
  test('closes the connection', async () => expect(await outlives(false)).toBe(false));

  test('keeps the connection if keepalive is set; the operation still stays pending, and the next page finds it', async () => {
    expect(await outlives(true)).toBe(true);
  });
});

test('a body too long for keepalive is never sent, and the browser does not say so: unknown; without keepalive it is sent', async ({ shop }) => {
  const once = client(shop);
  const order = { method: 'POST', body: 'x'.repeat(70_000), once: ['pay', 1] } as const;
  const error = await once.fetch(shop.url, { ...order, keepalive: true }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'no-answer' }, cause: { name: 'TypeError' } });
  expect((await shop.ledger()).arrivals).toEqual([]);
  expect((await once.fetch(shop.url, order)).status).toBe(201);
  expect(sends(await shop.oneEffect())).toHaveLength(1);
});
