/** An app between real Chromium and a bank. The proxy in front of the app and the bank behind it lose answers on demand. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright';
import { expect } from 'vitest';
import { type Shop as Bank, startShop } from '../../../playground/start-shop.ts';
import { launch } from '../../e2e/support/playground.ts';
import { type App, freePort, type Running, start } from './apps.ts';
import { type FaultyProxy, startProxy } from './proxy.ts';

const PATIENCE = { timeout: 20_000 };

export class World {
  readonly bank: Bank;
  readonly proxy: FaultyProxy;
  readonly server: Running;
  readonly #browser: Browser;
  readonly #folder: string;
  readonly #contexts: BrowserContext[] = [];
  #cart = 0;

  private constructor(bank: Bank, proxy: FaultyProxy, server: Running, browser: Browser, folder: string) {
    this.bank = bank;
    this.proxy = proxy;
    this.server = server;
    this.#browser = browser;
    this.#folder = folder;
  }

  static async start(app: App): Promise<World> {
    const folder = mkdtempSync(join(tmpdir(), 'oncefetch-frameworks-'));
    const port = await freePort();
    const [bank, proxy, browser] = await Promise.all([startShop({ 'charge-ms': 50 }), startProxy(port), launch()]);
    const server = await start(app, port, { BANK: bank.url, DATABASE: join(folder, 'shop.db') });
    return new World(bank, proxy, server, browser, folder);
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await this.server.stop();
    await this.proxy.stop();
    await this.bank.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Closes the browsers of all customers and empties the bank. */
  async clear(): Promise<void> {
    this.proxy.lose(0);
    for (const context of this.#contexts.splice(0)) await context.close();
    await fetch(`${this.bank.url}/api/reset`, { method: 'POST' });
  }

  /** Opens the page for a new customer with a new cart. */
  async customer(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext(options);
    context.setDefaultTimeout(PATIENCE.timeout);
    this.#contexts.push(context);
    await context.addCookies([{ name: 'user', value: 'ann', url: this.proxy.url }]);
    const page = await context.newPage();
    await page.goto(`${this.proxy.url}${path}?cart=c-${++this.#cart}`);
    if (options.javaScriptEnabled !== false) await hydrated(page);
    return page;
  }

  /** From now on the bank charges, but its answers are lost. */
  async bankLoses(): Promise<void> {
    await fetch(`${this.bank.url}/api/faults`, { method: 'POST', body: JSON.stringify({ lane: 'default', fault: 'lose-response' }) });
  }

  async bankIsWell(): Promise<void> {
    await fetch(`${this.bank.url}/api/faults`, { method: 'DELETE' });
  }

  /** The charges in the bank's database. */
  charges(): readonly { cart: string; amount: number }[] {
    return this.bank.query('SELECT cart, amount FROM charges');
  }

  async charged(): Promise<void> {
    await expect.poll(() => this.charges().length, PATIENCE).toBeGreaterThan(0);
  }

  async answerLost(): Promise<void> {
    await expect.poll(() => this.proxy.lost, PATIENCE).toBeGreaterThan(0);
  }

  /** Waits until the bank is idle, and expects one charge for the current cart. */
  async chargedOnce(): Promise<void> {
    await expect.poll(async () => (await this.bank.health()).busy, PATIENCE).toBe(0);
    expect(this.charges()).toEqual([{ cart: `c-${this.#cart}`, amount: 4200 }]);
  }
}

/** Waits until the page's scripts are loaded and idle. */
export async function hydrated(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => new Promise((idle) => requestIdleCallback(idle)));
}
