/**
 * Customers press Pay once, agree that the payment may continue without them, and leave. Their tabs, service workers
 * and browsers are killed at random moments, while the network and the server fail as well. Nobody presses again.
 * Afterwards the ledger is compared with what the browser knows.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright';
import { type Shop, startShop } from '../../playground/start-shop.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { calm, chargesOf, injectFaults, keysOf } from '../kill-games.ts';
import type { Order } from '../kill-pages/page.ts';
import { OutboxBrowser } from './browser.ts';
import { buildOutbox } from './build.ts';

export const KINDS = ['page', 'worker', 'browser'] as const;
export type Kind = (typeof KINDS)[number];

export interface Score {
  readonly kind: Kind;
  carts: number;
  kills: number;
  effects: number;
  /** Carts that were charged while no page was open. */
  alone: number;
  duplicates: number;
  /** Carts that were never charged although the customer had agreed to the payment. */
  lost: number;
  readonly violations: string[];
}

const USER = 'ann';
const CONSENT_MS = 3_600_000;
/** Long enough to cover everything from before the record is stored until after the answer is read. */
const MOMENT_MS_MAX = 400;
const KILLS_OF_A_CART_MAX = 3;
const ROUNDS_MAX = 20;
const ROUND_MS = 500;
const PATIENCE_MS = 10_000;
const CARD = '4242424242424242';

/** Plays one game. Resolves to `undefined` if there is no Chromium. */
export async function play({
  kills,
  seed,
  told,
}: {
  readonly kills: number;
  readonly seed: number;
  readonly told?: (scores: readonly Score[]) => void;
}): Promise<readonly Score[] | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-kill-outbox-'));
  let shop: Shop | undefined;
  let browser: OutboxBrowser | undefined;
  try {
    await buildOutbox(folder);
    shop = await startShop({ public: folder, 'charge-ms': 100, 'retry-after': 0 });
    browser = await OutboxBrowser.start();
    return browser && (await new Player(shop, browser, seed).play(kills, told));
  } finally {
    await browser?.stop();
    await shop?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Limits the wait for a page: if the worker is killed during its installation, the page waits for it forever. */
function soon<T>(work: Promise<T>): Promise<T> {
  const late = new AbortController();
  const over = sleep(PATIENCE_MS, undefined, { signal: late.signal }).then(() => Promise.reject(new Error('the page did not answer in time')));
  over.catch(() => {});
  return Promise.race([work, over]).finally(() => late.abort());
}

class Player {
  readonly #shop: Shop;
  readonly #browser: OutboxBrowser;
  readonly #random: () => number;

  constructor(shop: Shop, browser: OutboxBrowser, seed: number) {
    this.#shop = shop;
    this.#browser = browser;
    this.#random = seededRandom(seed);
  }

  /** Calls `told` after each cart. */
  async play(kills: number, told: (scores: readonly Score[]) => void = () => {}): Promise<readonly Score[]> {
    const scores = KINDS.map((kind): Score => ({ kind, carts: 0, kills: 0, effects: 0, alone: 0, duplicates: 0, lost: 0, violations: [] }));
    await injectFaults(this.#shop);
    const all = () => scores.reduce((sum, score) => sum + score.kills, 0);
    for (let n = 0; all() < kills; n++) {
      await this.#serve(n, scores[n % scores.length] as Score, kills - all());
      told(scores);
    }
    return scores;
  }

  /** One customer with one cart. */
  async #serve(n: number, score: Score, killsLeft: number): Promise<void> {
    const order: Order = { cart: `cart-${n}`, amount: 100 + n, card: CARD };
    score.carts++;
    const page = await this.#arrive();
    const offline = this.#random() < 0.25;
    if (offline) await this.#browser.offline(true);
    await page.evaluate(`page.press(${JSON.stringify(order)}, ${Date.now() + CONSENT_MS})`);
    await sleep(this.#random() * MOMENT_MS_MAX);
    // If the record never got into the store, the customer's consent is lost with the page, so no charge is expected.
    const pressed = (await page.evaluate<string>(`page.phase('${order.cart}')`)) !== 'loading';
    await this.#kill(score, page, offline);
    const killsOfIt = Math.min(killsLeft, 1 + Math.floor(this.#random() * KILLS_OF_A_CART_MAX));
    for (let kill = 1; kill < killsOfIt; kill++) {
      await sleep(this.#random() * MOMENT_MS_MAX);
      // From the second kill on there is no page: the worker continues as far as the browser lets it.
      await this.#kill(score, undefined);
    }
    await sleep(ROUND_MS);
    if (chargesOf(this.#shop, order.cart).length > 0) score.alone++;
    await this.#judge(order, score, pressed);
  }

  async #kill(score: Score, page: Page | undefined, offline = false): Promise<void> {
    if (score.kind === 'browser') {
      score.kills++;
      return this.#browser.kill();
    }
    if (page) {
      score.kills++;
      await page.close();
      // The network comes back after the tab is gone but before the worker is killed, because a stopping worker cannot be put
      // online.
      if (offline) await this.#browser.offline(false);
    }
    if (score.kind === 'worker') {
      score.kills++;
      await this.#browser.killWorkers();
    } else if (!page) {
      // Opens a page and closes it again, whatever it is doing.
      score.kills++;
      const passing = await this.#arrive();
      await sleep(this.#random() * MOMENT_MS_MAX);
      await passing.close();
    }
  }

  async #arrive(): Promise<Page> {
    for (let tries = 0; tries < 100; tries++) {
      let page: Page | undefined;
      try {
        page = await this.#browser.page(`${this.#shop.url}/`);
        await soon(page.evaluate(`page.begin('${USER}')`));
        return page;
      } catch {
        // The server is restarting, so the page cannot be loaded.
        await page?.close().catch(() => {});
      }
      await sleep(100);
    }
    throw new Error('Chromium could not open the page');
  }

  /**
   * Opens pages without pressing anything, so that the worker continues, until a page knows the outcome. Then compares
   * that outcome with the ledger.
   */
  async #judge(order: Order, score: Score, pressed: boolean): Promise<void> {
    const complain = (says: string): void => void score.violations.push(`${order.cart}: ${says}`);
    let knows = 'unsettled';
    for (let round = 0; round < ROUNDS_MAX && knows === 'unsettled'; round++) {
      const page = await this.#arrive();
      await soon(page.evaluate('page.wake(true)')).catch(() => {});
      await sleep(ROUND_MS);
      await page.reload().catch(() => {});
      knows = await soon(page.evaluate<string>(`page.begin('${USER}').then(() => page.knows('${order.cart}'))`)).catch(() => 'unsettled');
      await page.close();
    }
    await calm(this.#shop, 3, 50);
    const charges = chargesOf(this.#shop, order.cart);
    const keys = keysOf(this.#shop, order.cart);
    score.effects += charges.length;
    if (charges.length > 1) {
      score.duplicates += charges.length - 1;
      complain(`charged ${charges.length} times`);
    }
    if (keys.length > 1) complain(`${keys.length} keys`);
    if (charges.length > 0 && knows !== 'done') complain(`charged, and the browser says ${knows}`);
    if (charges.length === 0 && pressed) {
      score.lost++;
      complain(`agreed to, and not charged; the browser says ${knows}`);
    }
    if (charges.length === 0 && knows === 'done') complain('the browser says done, and it was never charged');
  }
}
