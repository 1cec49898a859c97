/** Goal: `keepalive` is the caller's, and works: a payment that left in time is answered although its page is gone. Method: a server that sees who is still there. */
import { afterEach, describe, expect } from 'vitest';
import { pending } from '../../../src/entries/index.js';
import { createOnce } from '../realm/lib.js';
import { closeRealms, openFrame } from '../support/realms.js';
import { client, Shop, sends, test } from '../support/shop.js';

afterEach(closeRealms);

/** Whether the server still had somebody to answer after the page was gone. */
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
  // The news that somebody hung up takes its time.
  await new Promise((resolve) => setTimeout(resolve, 700));
  await shop.release();
  await expect.poll(async () => (await shop.ledger()).arrivals[0]?.there).toBeDefined();
  expect(await pending(createOnce({ namespace: shop.namespace }))).toMatchObject([{ name: ['pay', 1], sent: 'maybe' }]);
  return (await shop.ledger()).arrivals[0]?.there;
}

describe('a page that is closed in the middle of an attempt', () => {
  test('hangs up', async () => {
    expect(await outlives(false)).toBe(false);
  });

  test('does not with keepalive; the operation stays unsettled all the same, for the next page to find', async () => {
    expect(await outlives(true)).toBe(true);
  });
});

test('a body that is too long for keepalive is never sent, which no browser tells: unknown, and it goes out without keepalive', async ({ shop }) => {
  const once = client(shop);
  const order = { method: 'POST', body: 'x'.repeat(70_000), once: ['pay', 1] } as const;
  const error = await once.fetch(shop.url, { ...order, keepalive: true }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'no-answer' }, cause: { name: 'TypeError' } });
  expect((await shop.ledger()).arrivals).toEqual([]);
  const answer = await once.fetch(shop.url, order);
  expect(answer.status).toBe(201);
  expect(sends(await shop.oneEffect())).toHaveLength(1);
});
