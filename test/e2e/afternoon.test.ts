/**
 * Goal: no mix of faults, tabs, reloads, clicks and kills makes two charges of one cart, or none. Method: a seeded afternoon
 * of one customer with two tabs. Each cart ends when the network works again and a screen says "paid".
 * `E2E_SEED=<seed>` replays an afternoon.
 */
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { inPlayground, playground } from './support/playground.ts';
import type { Tab } from './support/tab.ts';

/** `E2E_CARTS=20` plays a longer afternoon. */
const CARTS = Number(process.env['E2E_CARTS'] ?? 2);
const FAULTS = ['lose-response', 'unavailable', 'unavailable-after-commit', 'lose-request', 'truncate', 'duplicate', 'delay', 'kill', 'kill-after-commit'];

inPlayground({ keep: true });

/** What an impatient customer does in the middle of a payment. */
const IMPATIENCE: readonly ((tab: Tab, other: Tab) => Promise<unknown>)[] = [
  (tab) => tab.once.pay(),
  (tab) => tab.once.mash(),
  (_, other) => other.once.pay(),
  (tab) => tab.reload().catch(() => tab.page.goto(playground.shop.url)),
  (_, other) => other.reload().catch(() => other.page.goto(playground.shop.url)),
  () => playground.shop.kill(),
];

const seed = Number(process.env['E2E_SEED'] ?? Date.now() % 1_000_000);

test(`an afternoon of ${CARTS} carts, seed ${seed}: a charge for each, and no more`, async () => {
  const random = seededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const tab = await playground.customer();
  await tab.choose('Nothing');
  const other = await tab.another();
  for (let cart = 0; cart < CARTS; cart++) {
    await playground.breakNetwork(pick(FAULTS), pick([1, 3]));
    await tab.once.pay();
    for (let step = 0; step < 2; step++) {
      await tab.page.waitForTimeout(random() * 400);
      // The button may be gone because the previous step has succeeded.
      await pick(IMPATIENCE)(tab, other).catch(() => undefined);
    }
    await expect.poll(() => tab.reload().then(String, String), { timeout: 60_000 }).toBe('undefined');
    await playground.mendNetwork();
    await tab.once.insist();
    await tab.once.receipt();
    await tab.button('New cart').click();
    await tab.once.says('Ready to pay.');
  }
  expect(await playground.exactlyOnce()).toHaveLength(CARTS);
}, 240_000);
