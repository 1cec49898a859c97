/**
 * Goal: events of the network and of the page end or extend waits between attempts, but never count as proof of
 * anything. Method: the browser's own events, a wait that is longer than a test, and a real server.
 */
import { afterEach, describe, expect } from 'vitest';
import { operation, pending } from '../../../src/entries/index.js';
import { createOnce, outcomeOf } from '../realm/lib.js';
import { replaceProperty } from '../stores/support.js';
import { Shop, sends, test } from '../support/shop.js';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const restore of undo.splice(0).reverse()) restore();
});

const ORDER = { method: 'POST', body: '{"cart":1}', once: ['pay', 1] } as const;

/** Sets the value of `navigator.onLine`. */
function network(online: boolean): void {
  undo.push(replaceProperty(navigator, 'onLine', { get: () => online }));
}
/** Shows or hides the page. */
function visibility(state: DocumentVisibilityState): void {
  undo.push(replaceProperty(document, 'hidden', { get: () => state === 'hidden' }));
  document.dispatchEvent(new Event('visibilitychange'));
}

/** A call that met a fault, and now waits longer than a test lasts. It is wrapped in an object, so that `await` does not wait for it. */
async function waiting(shop: Shop, fault: Parameters<Shop['meets']>[0] = 'unavailable') {
  // Backoff draws its wait at random, up to a limit; this makes it long.
  const { random } = Math;
  Math.random = () => 0.99;
  undo.push(() => void (Math.random = random));
  await shop.meets(fault);
  const once = createOnce({ namespace: shop.namespace, retry: { minDelayMs: 40_000, maxDelayMs: 40_000 }, limits: { totalMs: 120_000 } });
  const controller = new AbortController();
  undo.push(() => controller.abort());
  const answer = once.fetch(shop.url, { ...ORDER, signal: controller.signal });
  answer.catch(() => {});
  await expect.poll(() => operation(once, ['pay', 1]).state).toMatchObject({ phase: 'waiting', attempt: 1 });
  return { answer };
}

/** Whether the second attempt arrives within half a second. */
async function wakes(shop: Shop): Promise<boolean> {
  for (let n = 0; n < 10; n++) {
    if (sends((await shop.ledger()).arrivals).length > 1) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

describe('a wait between two attempts', () => {
  test.each<[string, () => unknown]>([
    ['the network comes back', () => dispatchEvent(new Event('online'))],
    ['the page is shown again', () => visibility('visible')],
    ['the page is restored from the back-forward cache', () => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))],
  ])('ends when %s: the next attempt is sent at once', async (_, wake) => {
    const shop = new Shop();
    const { answer } = await waiting(shop);
    expect(await wakes(shop)).toBe(false);
    wake();
    expect((await answer).status).toBe(201);
    expect(outcomeOf(await answer)).toMatchObject({ attempts: 2 });
    await shop.oneEffect();
  });

  test.each<[string, () => unknown]>([
    ['the network is lost', () => dispatchEvent(new Event('offline'))],
    ['the page is hidden', () => visibility('hidden')],
  ])('continues when %s', async (_, event) => {
    const shop = new Shop();
    await waiting(shop);
    event();
    expect(await wakes(shop)).toBe(false);
  });

  test('continues if the server said when to retry, whatever event comes', async ({ shop }) => {
    await waiting(shop, { name: 'unavailable', retryAfter: 60 });
    dispatchEvent(new Event('online'));
    visibility('visible');
    expect(await wakes(shop)).toBe(false);
  });
});

describe('a device that says it is offline', () => {
  const pay = (shop: Shop, offlineWaitMs: number) => createOnce({ namespace: shop.namespace, limits: { offlineWaitMs } }).fetch(shop.url, ORDER);

  test('postpones the first attempt until it is online', async ({ shop }) => {
    network(false);
    const answer = pay(shop, 60_000);
    await expect.poll(() => operation(createOnce({ namespace: shop.namespace }), ['pay', 1]).state).toMatchObject({ phase: 'waiting', why: 'offline' });
    expect((await shop.ledger()).arrivals).toEqual([]);
    network(true);
    dispatchEvent(new Event('online'));
    expect((await answer).status).toBe(201);
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });

  test('is not believed forever: the first attempt is sent after offlineWaitMs, and pays (A27)', async ({ shop }) => {
    network(false);
    const began = performance.now();
    const answer = await pay(shop, 400);
    expect(performance.now() - began).toBeGreaterThanOrEqual(390);
    expect(answer.status).toBe(201);
    await shop.oneEffect();
  });

  test('leaves a record which says that nothing was sent; an abort removes that record', async ({ shop }) => {
    network(false);
    const controller = new AbortController();
    const once = createOnce({ namespace: shop.namespace, limits: { offlineWaitMs: 60_000 } });
    const told = once.fetch(shop.url, { ...ORDER, signal: controller.signal }).catch((error: unknown) => error);
    await expect.poll(() => pending(once)).toMatchObject([{ sent: 'no', firstSentAt: undefined }]);
    controller.abort();
    expect(await told).toBe(controller.signal.reason);
    await expect.poll(() => pending(once)).toEqual([]);
    expect((await shop.ledger()).arrivals).toEqual([]);
  });
});
