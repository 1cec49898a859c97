/**
 * Goal: what only real tabs can show, in each browser: the back-forward cache, a tab that hangs, a device without a
 * network, an insecure origin. Method: the page of `scripts/kill-pages`, and the shop's ledger in SQLite.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Shop, startShop } from '../../playground/start-shop.ts';
import { browsers, executablesOf } from '../../scripts/browsers.mjs';
import type { Told } from '../../scripts/kill-pages/page.ts';
import { buildPage } from '../../scripts/kill-pages/play.ts';
import { startTabs, type Tab, type Tabs, type TabsOptions } from '../../scripts/tabs.ts';
import { startProxy } from './support/proxy.ts';

const here = browsers.filter((browser) => executablesOf(browser) !== undefined);
const folder = mkdtempSync(join(tmpdir(), 'oncefetch-browsers-'));
const CARD = '4242424242424242';

let shop: Shop;
beforeAll(async () => {
  await buildPage(folder);
  shop = await startShop({ public: folder, 'charge-ms': 100, 'retry-after': 0 });
});
afterAll(async () => {
  await shop?.stop();
  rmSync(folder, { recursive: true, force: true });
});

let carts = 0;
const newCart = () => `cart-${++carts}`;
const press = (tab: Tab, cart: string) => tab.evaluate(`page.press(${JSON.stringify({ cart, amount: 4200, card: CARD })}, false)`);
const told = async (tab: Tab): Promise<Told> => {
  await expect.poll(() => tab.evaluate('page.told ?? null'), { timeout: 30_000 }).not.toBeNull();
  return tab.evaluate<Told>('page.told');
};
const phase = (tab: Tab, cart: string) => tab.evaluate<string>(`page.phase(${JSON.stringify(cart)})`);
const charges = (cart: string) => shop.query<{ id: number; key: string }>('SELECT id, key FROM charges WHERE cart = ?', cart);
const arm = (fault: string, more: object = {}) =>
  fetch(`${shop.url}/api/faults`, { method: 'POST', body: JSON.stringify({ lane: 'oncefetch', fault, ...more }) });
afterEach(async () => void (await fetch(`${shop.url}/api/faults`, { method: 'DELETE' })));

describe.each(here)('$name', ({ name }) => {
  let tabs: Tabs;
  const started: Tabs[] = [];
  const start = async (options?: TabsOptions): Promise<Tabs> => {
    const one = (await startTabs(name, options)) ?? expect.unreachable();
    started.push(one);
    return one;
  };
  beforeAll(async () => void (tabs = await start()));
  afterAll(async () => {
    for (const one of started) await one.stop();
  });

  test('a page that is left in the middle of a payment and restored by the back button: one charge, and the page says done', async () => {
    const cart = newCart();
    await arm('unavailable-after-commit');
    const tab = await tabs.open(`${shop.url}/`);
    await press(tab, cart);
    await expect.poll(() => charges(cart).length).toBe(1);
    await tab.go(`${shop.url}/api/health`);
    await fetch(`${shop.url}/api/faults`, { method: 'DELETE' });
    await tab.back();
    await expect.poll(() => tab.evaluate('typeof page')).toBe('object');
    // A page from the back-forward cache continues by itself. If the browser loads the page anew instead, the customer
    // presses again.
    if (!(await tab.evaluate<boolean>('page.restored'))) await press(tab, cart);
    expect(await told(tab)).toMatchObject({ effect: 'done' });
    expect(charges(cart)).toHaveLength(1);
    await tab.close();
  });

  test('while a page restored by the back button is sending again, another tab cannot settle its operation', async ({ skip }) => {
    skip(name === 'firefox', 'Firefox keeps no page that holds a lock');
    const cart = newCart();
    await arm('hang', { times: 1 });
    const [first, second] = [await tabs.open(`${shop.url}/`), await tabs.open(`${shop.url}/`)];
    await press(first, cart);
    await expect.poll(() => phase(first, cart)).toBe('sending');
    await first.go(`${shop.url}/api/health`);
    await arm('hang-after-commit', { times: 1 });
    await first.back();
    await expect.poll(() => charges(cart).length).toBe(1);
    expect(await first.evaluate('page.restored')).toBe(true);
    expect(await second.evaluate(`page.settleAsNone('${cart}')`)).toBe('ERR_ONCE_BUSY');
    await press(second, cart);
    expect(await told(second)).toMatchObject({ effect: 'done' });
    expect(await told(first)).toMatchObject({ effect: 'done' });
    expect(charges(cart)).toHaveLength(1);
    await Promise.all([first.close(), second.close()]);
  });

  test('a second tab waits while the first tab hangs in the middle of its payment, then completes the payment under the same key', async ({ skip }) => {
    skip(name === 'firefox', 'Firefox may run both tabs in one process, where both would hang');
    const cart = newCart();
    const [first, second] = [await tabs.open(`${shop.url}/`), await tabs.open(`${shop.url}/`)];
    await arm('hang-after-commit', { times: 1 });
    await press(first, cart);
    await expect.poll(() => charges(cart).length).toBe(1);
    await first.evaluate('page.hang(12_000)');
    await press(second, cart);
    await expect.poll(() => phase(second, cart)).toBe('waiting');
    const [charge] = charges(cart);
    expect(await told(second)).toMatchObject({ effect: 'done', type: 'replayed', key: charge?.key, charge: charge?.id });
    // When the first tab runs again, it gets the same result.
    expect(await told(first)).toMatchObject({ effect: 'done', key: charge?.key });
    expect(charges(cart)).toHaveLength(1);
  });

  test('a network outage shorter than offlineWaitMs: the same press pays once when the network is back', async ({ skip }) => {
    skip(!tabs.offline, 'WebKitGTK cannot be told to go offline');
    const cart = newCart();
    const tab = await tabs.open(`${shop.url}/`);
    await tabs.offline?.(true);
    await press(tab, cart);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(await tab.evaluate('page.told ?? null')).toBeNull();
    await tabs.offline?.(false);
    expect(await told(tab)).toMatchObject({ effect: 'done' });
    expect(charges(cart)).toHaveLength(1);
    await tab.close();
  });

  test('a longer outage: the customer is told unknown long before the call would end, and the next press pays once under the same key', async ({ skip }) => {
    skip(!tabs.offline, 'WebKitGTK cannot be told to go offline');
    const cart = newCart();
    const tab = await tabs.open(`${shop.url}/`);
    await tabs.offline?.(true);
    const pressed = performance.now();
    await press(tab, cart);
    const { key, ...offline } = await told(tab);
    expect(offline).toMatchObject({ effect: 'unknown', type: 'ERR_ONCE_UNKNOWN' });
    expect(performance.now() - pressed).toBeLessThan(15_000);
    expect(charges(cart)).toHaveLength(0);
    await tabs.offline?.(false);
    await press(tab, cart);
    expect(await told(tab)).toMatchObject({ effect: 'done', key });
    expect(charges(cart)).toHaveLength(1);
    await tab.close();
  });

  test('an insecure origin has no Web Crypto and no Web Locks: still one charge through a reload and a second tab', async () => {
    const proxy = await startProxy(Number(new URL(shop.url).port));
    try {
      const insecure = await start({ proxy: proxy.address });
      const tab = await insecure.open('http://shop.test/');
      expect(await tab.evaluate('[isSecureContext, typeof crypto.subtle, typeof navigator.locks, typeof crypto.randomUUID].join()')).toBe(
        'false,undefined,undefined,undefined',
      );
      const cart = newCart();
      await arm('hang-after-commit', { times: 1 });
      await press(tab, cart);
      await expect.poll(() => charges(cart).length).toBe(1);
      await tab.reload();
      await expect.poll(() => tab.evaluate('typeof page')).toBe('object');
      const second = await insecure.open('http://shop.test/');
      await Promise.all([press(tab, cart), press(second, cart)]);
      expect((await Promise.all([told(tab), told(second)])).map(({ effect }) => effect)).toEqual(['done', 'done']);
      expect(charges(cart)).toHaveLength(1);
      expect(shop.query('SELECT DISTINCT key FROM idempotency_keys WHERE cart = ?', cart)).toHaveLength(1);
    } finally {
      await proxy.stop();
    }
  });
});
