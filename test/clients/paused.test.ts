/**
 * Goal: paused mutations of TanStack Query, dehydrated by one page and resumed by the next one, take effect once, even
 * if two pages resume the same mutation. Method: dehydrate and hydrate of TanStack Query, a store that outlives pages, a real server.
 */
import { dehydrate, hydrate, MutationObserver, onlineManager, QueryClient } from '@tanstack/query-core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createOnce, memoryStore, type Once } from '../../src/entries/node.js';
import type { Order } from './support/clients.js';
import { openShop, type Shop } from './support/shop.js';

let shop: Shop;
beforeEach(async () => void (shop = await openShop()));
afterEach(async () => {
  onlineManager.setOnline(true);
  await shop.close();
});

/** A page. Its mutation function is a default of the mutation key, because functions can't be dehydrated. */
function openPage(once: Once): QueryClient {
  const client = new QueryClient();
  client.setMutationDefaults(['pay'], {
    retry: 0,
    mutationFn: async (order: Order) => {
      const response = await once.fetch(`${shop.origin}/pay`, { method: 'POST', body: JSON.stringify(order), once: ['pay', order.cart] });
      if (!response.ok) throw new Error(`payment: ${response.status}`, { cause: response });
      return (await response.json()) as { id: string };
    },
  });
  return client;
}

const SOON = { retry: { minDelayMs: 1, maxDelayMs: 2 }, limits: { attemptMs: 2000, totalMs: 10_000 } } as const;

test('a mutation that was paused offline pays once, although two pages resume it', async () => {
  const once = createOnce({ ...SOON, store: memoryStore(), namespace: 'ann' });
  onlineManager.setOnline(false);
  const page = openPage(once);
  void new MutationObserver<{ id: string }, Error, Order>(page, { mutationKey: ['pay'] }).mutate({ cart: 'c-1', card: 'good' });
  const atRest = JSON.stringify(dehydrate(page));
  expect(JSON.parse(atRest).mutations).toMatchObject([{ state: { isPaused: true } }]);
  page.clear();

  shop.server.faults.next('lose-response');
  onlineManager.setOnline(true);
  const pages = [openPage(once), openPage(once)];
  for (const next of pages) hydrate(next, JSON.parse(atRest));
  await Promise.all(pages.map((next) => next.resumePausedMutations()));
  expect(pages.map((next) => next.getMutationCache().getAll()[0]?.state.data)).toEqual([{ id: 'ch_1' }, { id: 'ch_1' }]);
  expect(shop.server.effects).toHaveLength(1);
});

test('a mutation whose answer was lost with its page pays once, if the next page makes it again', async () => {
  const store = memoryStore();
  shop.server.faults.next('lose-response');
  const first = createOnce({ ...SOON, limits: { ...SOON.limits, attempts: 1 }, store, namespace: 'ann' });
  const order = { cart: 'c-2', card: 'good' };
  const mutate = (once: Once) => new MutationObserver<{ id: string }, Error, Order>(openPage(once), { mutationKey: ['pay'] }).mutate(order);
  await expect(mutate(first)).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
  expect(await mutate(createOnce({ ...SOON, store, namespace: 'ann' }))).toEqual({ id: 'ch_1' });
  expect(shop.server.effects).toHaveLength(1);
});
