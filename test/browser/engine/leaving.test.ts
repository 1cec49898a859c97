/**
 * Goal: the browser asks before a page is left only while this page is sending something; at all other times the page
 * has no listener for it. Method: real requests that are held, failed and answered; the real event, and a log of the
 * window's listeners.
 */
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { clear, memoryStore as memory, operation, warnOnLeave } from '../../../src/entries/index.js';
import { createOnce, SOON } from '../realm/lib.js';
import { client, Shop, test } from '../support/shop.js';

const order = (name: string) => ({ method: 'POST', body: '{"cart":1}', once: [name, 1] }) as const;

/** Whether the browser would ask if the page were left now. */
const asks = (): boolean => {
  const event = new Event('beforeunload', { cancelable: true });
  window.dispatchEvent(event);
  return event.defaultPrevented;
};

/** The `beforeunload` listeners of the window. */
const listeners = new Set<unknown>();
const stops: (() => void)[] = [];

beforeEach(() => {
  const { addEventListener, removeEventListener } = window;
  vi.spyOn(window, 'addEventListener').mockImplementation((...args: unknown[]) => {
    if (args[0] === 'beforeunload') listeners.add(args[1]);
    (addEventListener as (...all: unknown[]) => void).apply(window, args);
  });
  vi.spyOn(window, 'removeEventListener').mockImplementation((...args: unknown[]) => {
    if (args[0] === 'beforeunload') listeners.delete(args[1]);
    (removeEventListener as (...all: unknown[]) => void).apply(window, args);
  });
});

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  expect(listeners.size).toBe(0);
  vi.restoreAllMocks();
});

const warned = (options?: Parameters<typeof warnOnLeave>[1]) => {
  const shop = new Shop();
  const once = client(shop);
  const stop = warnOnLeave(once, options);
  stops.push(stop);
  return { shop, once, stop };
};

describe('warnOnLeave', () => {
  test('asks while a payment is sent, and not before or after', async () => {
    const { shop, once } = warned();
    expect([asks(), listeners.size]).toEqual([false, 0]);
    await shop.hold();
    const paid = once.fetch(shop.url, order('pay'));
    await shop.arrived(1);
    expect([asks(), listeners.size]).toEqual([true, 1]);
    await shop.release();
    expect((await paid).status).toBe(201);
    await expect.poll(() => listeners.size).toBe(0);
    expect(asks()).toBe(false);
  });

  test('asks while a call waits to send again, and no longer once the call has given up', async () => {
    const { shop, once } = warned();
    await shop.meets('lose-response');
    const slow = { ...order('pay'), once: { operation: ['pay', 1], limits: { attempts: 2 } } };
    const waits = new Promise<void>((resolve) => {
      const payment = operation(once, ['pay', 1]);
      stops.push(payment.subscribe(() => void (payment.state.phase === 'waiting' && resolve())));
    });
    const paid = once.fetch(shop.url, slow);
    await waits;
    expect(asks()).toBe(true);
    await paid;
    await expect.poll(() => listeners.size).toBe(0);

    await shop.meets('lose-response');
    await once.fetch(shop.url, { ...order('book'), once: { operation: ['book', 1], limits: { attempts: 1 } } }).catch(() => {});
    // The operation is unsettled, but this page will send nothing more: that is left to the next page.
    await expect.poll(() => listeners.size).toBe(0);
    expect(asks()).toBe(false);
  });

  test('asks only for names with its prefix', async () => {
    const { shop, once } = warned({ prefix: ['pay'] });
    await shop.hold();
    const voted = once.fetch(shop.url, order('vote'));
    await shop.arrived(1);
    expect(asks()).toBe(false);
    const paid = once.fetch(shop.url, order('pay'));
    await shop.arrived(2);
    expect(asks()).toBe(true);
    await shop.release();
    await Promise.all([voted, paid]);
  });

  test('asks even if it is called in the middle of a call, and stops by its signal or by the returned function', async ({ shop }) => {
    const once = client(shop);
    await shop.hold();
    const paid = once.fetch(shop.url, order('pay'));
    await shop.arrived(1);
    const ending = new AbortController();
    stops.push(warnOnLeave(once, { signal: ending.signal }));
    expect(asks()).toBe(true);
    ending.abort();
    expect([asks(), listeners.size]).toEqual([false, 0]);
    const stop = warnOnLeave(once);
    expect(asks()).toBe(true);
    stop();
    stop();
    expect([asks(), listeners.size]).toEqual([false, 0]);
    await shop.release();
    await paid;
  });

  test('does not ask because of another store, nor because of an operation that a log-out took away', async () => {
    const { shop, once } = warned();
    const other = new Shop();
    stops.push(warnOnLeave(createOnce({ ...SOON, namespace: other.namespace, store: { ...memory(), scope: `other ${other.namespace}` } })));
    await shop.hold();
    const paid = once.fetch(shop.url, order('pay')).catch(() => {});
    await shop.arrived(1);
    expect(listeners.size).toBe(1);
    await clear(once);
    await shop.release();
    await paid;
    await expect.poll(() => listeners.size).toBe(0);
  });
});
