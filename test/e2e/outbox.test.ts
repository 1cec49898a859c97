/**
 * Goal: an operation that a customer agreed to goes on after the tab is closed: one effect, one key, and the next page knows the end.
 * Without consent, after its time, after a log-out, or for another user, nothing goes on. Method: real service workers, and the
 * playground's shop as a separate process, whose ledger is the judge. `npm run test:long:outbox` kills pages, workers and browsers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Shop, startShop } from '../../playground/start-shop.ts';
import { browsers, executablesOf } from '../../scripts/browsers.mjs';
import { buildOutbox } from '../../scripts/kill-outbox/build.ts';
import { startTabs, type Tab, type Tabs } from '../../scripts/tabs.ts';

const here = browsers.filter((browser) => executablesOf(browser) !== undefined);
const MINUTE = 60_000;
/** If a worker may send something, it does so within this time. */
const QUIET_MS = 2500;
/** A request that a closed tab has sent arrives within this time. */
const GONE_MS = 500;

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oncefetch-outbox-'));
  await buildOutbox(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let shop: Shop;
let tabs: Tabs;
beforeEach(async () => void (shop = await startShop({ public: folder, 'charge-ms': 50, 'retry-after': 0 })));
afterEach(() => shop.stop());

const enter = async (user = 'ann'): Promise<Tab> => {
  const tab = await tabs.open(`${shop.url}/`);
  await tab.evaluate(`page.begin('${user}')`);
  return tab;
};
const press = (tab: Tab, cart: string, untilMs?: number, counted = false) =>
  tab.evaluate(`page.press(${JSON.stringify({ cart, amount: 100, card: '4242424242424242' })}, ${untilMs}, ${counted})`);
const charges = () => shop.query<{ cart: string }>('SELECT cart FROM charges').map(({ cart }) => cart);
const keys = () => shop.query<{ key: string }>('SELECT key FROM idempotency_keys').map(({ key }) => key);
const arm = (fault: string) => fetch(`${shop.url}/api/faults`, { method: 'POST', body: JSON.stringify({ lane: 'oncefetch', fault, rate: 1 }) });
const disarm = () => fetch(`${shop.url}/api/faults`, { method: 'DELETE' });
/** The number of requests for payments that are `counted`. */
const met = () => shop.query<{ times: number }>('SELECT times FROM met_faults').reduce((sum, { times }) => sum + times, 0);
const inMinutes = (minutes: number) => Date.now() + minutes * MINUTE;

describe.runIf(here.some(({ name }) => name === 'chromium'))('Chromium, with background sync', () => {
  // Each test has its own shop, and so its own origin.
  beforeAll(async () => void (tabs = (await startTabs('chromium')) ?? expect.unreachable()));
  afterAll(() => tabs?.stop());

  /** Pays offline, and closes the tab while the payment waits for the network. */
  async function payOfflineAndClose(untilMs: number | undefined, tab?: Tab): Promise<void> {
    const own = tab ?? (await enter());
    await tabs.offline?.(true);
    await press(own, 'c-1', untilMs, true);
    await expect.poll(() => own.evaluate("page.phase('c-1')")).toBe('waiting');
    await own.close();
    // When the browser closes the tab, it puts the tab online again, perhaps a moment before the tab is gone.
    await sleep(GONE_MS);
  }

  test('offline pay, tab closed, network back: one effect, one key; an open page sees the end, and the next page knows it without a request', async () => {
    const other = await enter();
    await payOfflineAndClose(inMinutes(10));
    await other.evaluate("page.follow('c-1')");
    await expect.poll(() => other.evaluate('page.shown.at(-1)')).toBe('unsettled');
    await tabs.offline?.(false);
    await expect.poll(charges, { timeout: 20_000 }).toEqual(['c-1']);
    await expect.poll(() => other.evaluate('page.shown.at(-1)')).toBe('settled');
    const sent = met();
    expect(sent).toBeGreaterThan(0);
    const next = await enter();
    expect(await next.evaluate("page.knows('c-1')")).toBe('done');
    await sleep(500);
    expect(met()).toBe(sent);
    expect(keys()).toHaveLength(1);
    expect(charges()).toEqual(['c-1']);
  });

  test('a tab closed after its answer was lost: the worker goes on by itself, under the same key', async () => {
    await arm('lose-response');
    const tab = await enter();
    await press(tab, 'c-1', inMinutes(10));
    await expect.poll(charges).toEqual(['c-1']);
    await disarm();
    await tab.close();
    await sleep(QUIET_MS);
    const next = await enter();
    expect(await next.evaluate("page.knows('c-1')")).toBe('done');
    expect(keys()).toHaveLength(1);
    expect(charges()).toEqual(['c-1']);
  });

  test.each([
    ['without the consent', async () => payOfflineAndClose(undefined)],
    ['after its time', async () => payOfflineAndClose(Date.now() + 2000).then(() => sleep(2000))],
    [
      'after a log-out',
      async () => {
        const other = await enter();
        await payOfflineAndClose(inMinutes(10));
        await other.evaluate('page.leave()');
        await other.evaluate("page.begin('ann')");
      },
    ],
    [
      'for another user',
      async () => {
        const other = await enter();
        await payOfflineAndClose(inMinutes(10));
        await other.evaluate("page.begin('bert')");
      },
    ],
  ])('%s, nothing is sent, and the record stays pending', async (_, play) => {
    const watcher = await enter();
    await play();
    const before = { charges: charges(), met: met() };
    await tabs.offline?.(false);
    await watcher.evaluate('page.wake()');
    await sleep(QUIET_MS);
    expect({ charges: charges(), met: met() }).toEqual(before);
    expect(await (await enter()).evaluate("page.knows('c-1')")).toBe('unsettled');
  });
});

describe.each(here)('$name, and the worker resumes when it starts', ({ name }) => {
  beforeAll(async () => void (tabs = (await startTabs(name)) ?? expect.unreachable()));
  afterAll(() => tabs?.stop());

  test('the browser crashes in the middle of a payment, then a page is opened: one effect, one key, and the page says done', async () => {
    await arm('lose-request');
    const tab = await enter();
    await press(tab, 'c-1', inMinutes(10));
    await expect.poll(() => tab.evaluate("page.phase('c-1')")).toBe('waiting');
    await tabs.crash();
    await disarm();
    const next = await enter();
    await next.evaluate("page.follow('c-1')");
    await next.evaluate('page.wake()');
    await expect.poll(() => next.evaluate('page.shown.at(-1)'), { timeout: 20_000 }).toBe('settled');
    expect(await next.evaluate("page.knows('c-1')")).toBe('done');
    expect(keys()).toHaveLength(1);
    expect(charges()).toEqual(['c-1']);
  });
});
