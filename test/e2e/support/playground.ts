/** The playground as a process, with a browser in front of it and its SQLite file behind it. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';
import { type Shop, startShop } from '../../../playground/start-shop.ts';
import { browserNamed, executableOf, headlessChromium } from '../../../scripts/browsers.mjs';
import { Tab } from './tab.ts';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Long enough for a test to act during a charge, and short enough to wait for. */
const CHARGE_MS = 300;
/** Longer than a busy machine takes from a click to the next step of a test. */
const SLOW_MS = 4000;

/** `default`: the lane of pages that name none. */
type Lane = 'plain fetch' | 'oncefetch' | 'default';

export interface Charge {
  readonly id: number;
  readonly cart: string;
  readonly amount: number;
  readonly key: string | null;
}

interface Intent {
  readonly cart: string;
  readonly ended: 'done' | 'gave-up' | 'failed' | 'refused' | null;
}

/** Turns the back-forward cache on, as customers have it: Playwright turns it off. */
export function launch(executablePath = headlessChromium()): Promise<Browser> {
  return chromium.launch({ args: ARGS, ignoreDefaultArgs: ['--disable-back-forward-cache'], ...(executablePath !== undefined && { executablePath }) });
}

export class Playground {
  readonly shop: Shop;
  readonly #browser: Browser;
  #wholeBrowser: Browser | undefined;
  readonly #contexts: BrowserContext[] = [];

  private constructor(shop: Shop, browser: Browser) {
    this.shop = shop;
    this.#browser = browser;
  }

  static async start(): Promise<Playground> {
    const [shop, browser] = await Promise.all([startShop({ public: inject('page'), 'charge-ms': CHARGE_MS }), launch()]);
    return new Playground(shop, browser);
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    await this.#wholeBrowser?.close();
    await this.shop.stop();
  }

  /** A customer with their own browser context. `Tab.another()` opens further tabs in it. */
  async customer(options: BrowserContextOptions = {}): Promise<Tab> {
    const tab = new Tab(await this.visitor('/', options));
    await tab.loaded();
    return tab;
  }

  /** Like `customer`, on any page of the shop. */
  visitor(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    return this.#visitor(this.#browser, path, options);
  }

  /** As `visitor`, in the full Chromium: headless Chromium has no back-forward cache. */
  async visitorOfWholeBrowser(path: string): Promise<Page> {
    this.#wholeBrowser ??= await launch(executableOf(browserNamed('chromium')));
    return this.#visitor(this.#wholeBrowser, path, {});
  }

  async #visitor(browser: Browser, path: string, options: BrowserContextOptions): Promise<Page> {
    // The front page starts by itself, except for visitors who want less motion.
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(40_000);
    this.#contexts.push(context);
    const page = await context.newPage();
    // A page with an uncaught error is broken, whatever it shows.
    page.on('pageerror', (error) => {
      throw error;
    });
    await page.goto(this.shop.url + path);
    return page;
  }

  /** Closes the browser of every customer and empties the shop. */
  async clear(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
    await this.emptyShop();
  }

  /** Empties the shop and this customer's storage. Faster than a new customer. */
  async startOver(tab: Tab): Promise<void> {
    await this.calm();
    await Promise.all([tab.page.waitForEvent('load'), tab.button('Start over').click()]);
    await tab.loaded();
  }

  async emptyShop(): Promise<void> {
    await this.calm();
    await fetch(`${this.shop.url}/api/reset`, { method: 'POST' });
  }

  /** Resolves when the shop is idle: a request that its client has given up may still be charged. */
  async calm(): Promise<void> {
    const deadline = Date.now() + 30_000;
    while ((await this.shop.health().catch(() => ({ busy: 1 }))).busy > 0) {
      if (Date.now() > deadline) throw new Error('the shop is still busy');
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Sets a fault without the panel: for the next `times` requests of the lane, or for all of them. */
  async breakNetwork(fault: string, times?: number, lane: Lane = 'oncefetch'): Promise<void> {
    await this.mendNetwork();
    await fetch(`${this.shop.url}/api/faults`, { method: 'POST', body: JSON.stringify({ lane, fault, times, ms: 5000 }) });
  }

  async mendNetwork(): Promise<void> {
    await fetch(`${this.shop.url}/api/faults`, { method: 'DELETE' });
  }

  charges(lane: Lane): readonly Charge[] {
    return this.shop.query<Charge>('SELECT id, cart, amount, key FROM charges WHERE lane = ? ORDER BY id', lane);
  }

  /** Makes the next payment of each lane so slow that a test can act in the middle of it. */
  async chargeSlowly(): Promise<void> {
    await this.mendNetwork();
    for (const lane of ['oncefetch', 'plain fetch']) {
      await fetch(`${this.shop.url}/api/faults`, { method: 'POST', body: JSON.stringify({ lane, fault: 'slow', times: 1, ms: SLOW_MS }) });
    }
  }

  /** Waits until a payment is in progress: its key is stored, without an answer. */
  async charging(lane: Lane): Promise<void> {
    const taken = () => this.shop.query('SELECT 1 FROM idempotency_keys WHERE lane = ? AND answer IS NULL', lane).length;
    await expect.poll(taken, { interval: 5 }).toBeGreaterThan(0);
  }

  async charged(lane: Lane, count: number): Promise<void> {
    await expect.poll(() => this.charges(lane).length, { timeout: 20_000, interval: 10 }).toBe(count);
  }

  /** The judge: in the oncefetch lane each cart has one charge, or none if it was refused. Returns the charges. */
  async exactlyOnce(): Promise<readonly Charge[]> {
    await this.calm();
    const intents = (): Intent[] => this.shop.query<Intent & Record<string, unknown>>("SELECT cart, ended FROM intents WHERE lane = 'oncefetch'");
    // The page tells the ledger how a cart ended after it has told the customer.
    await expect.poll(() => intents().length, { timeout: 20_000 }).toBeGreaterThan(0);
    await expect.poll(() => intents().filter(({ ended }) => ended === null), { timeout: 20_000 }).toEqual([]);
    const charges = this.charges('oncefetch');
    const carts = charges.map(({ cart }) => cart);
    const wanted = intents().filter(({ ended }) => ended !== 'refused');
    expect([...carts].sort(), 'one charge per intention').toEqual(wanted.map(({ cart }) => cart).sort());
    expect(new Set(carts).size, 'no duplicate').toBe(carts.length);
    return charges;
  }
}

export let playground: Playground;

/** Starts a playground for the tests of a file. Call it once. With `keep`, the tests share their customer, too. */
export function inPlayground({ keep = false } = {}): void {
  beforeAll(async () => void (playground = await Playground.start()));
  afterAll(() => playground?.stop());
  afterEach(async () => {
    if (!keep) await playground.clear();
  });
}
