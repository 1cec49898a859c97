/** One customer of one lane, with a browser context of their own, and everything that this customer does. */
import type { Browser, BrowserContext, Page } from 'playwright';
import type { Shop } from '../start-shop.ts';
import type { Order, Pay, Word } from './lanes/lane.ts';
import type { LaneName } from './lanes/names.ts';

const PAYMENTS = '**/api/payments';
const GOOD_CARD = '4242424242424242';
/** How often the customer presses until told "done". A customer who reads "unknown" presses again, too. */
const PRESSES_MAX = 3;
/** How long the customer takes to read the message and press again. */
const READS_MS = 300;
/** How long a request takes to reach the shop. The shop then works several times as long. */
const ARRIVES_MS = 60;
const POLL_MS = 20;

export class Customer {
  readonly context: BrowserContext;
  readonly shop: Shop;
  readonly lane: LaneName;
  readonly order: Order;
  page: Page;
  /** For each cart, the amount of the last press, and what the customer was told. */
  readonly #last = new Map<string, { readonly pressed: number; readonly told: Word }>();

  private constructor(context: BrowserContext, page: Page, shop: Shop, lane: LaneName, cart: string) {
    this.context = context;
    this.page = page;
    this.shop = shop;
    this.lane = lane;
    this.order = { user: `ann of ${cart}`, name: 'cart', cart, amount: 1000, card: GOOD_CARD, withoutKeys: false };
  }

  static async arrive(browser: Browser, shop: Shop, lane: LaneName, cart: string): Promise<Customer> {
    const context = await browser.newContext();
    return new Customer(context, await opened(context, shop), shop, lane, cart);
  }

  /** Presses Pay in `page` and waits for the result. If the lane throws, its page is taken to say "that did not work". */
  async press(order: Partial<Order> = {}, page = this.page): Promise<Word> {
    const whole = { ...this.order, ...order };
    const word = await page.evaluate(
      async ([lane, order]) => {
        const { lanes } = globalThis as unknown as { readonly lanes: Record<LaneName, Pay> };
        return lanes[lane](order).catch(() => 'none' as const);
      },
      [this.lane, whole] as const,
    );
    this.#last.set(whole.cart, { pressed: whole.amount, told: word });
    return word;
  }

  /** Presses Pay until told "done" or out of patience. */
  async insist(order: Partial<Order> = {}): Promise<void> {
    for (let press = 1; (await this.press(order)) !== 'done' && press < PRESSES_MAX; press++) await this.waits(READS_MS);
  }

  /** Presses Pay without waiting for the result. */
  leave(order: Partial<Order> = {}): void {
    void this.press(order).catch(() => {});
  }

  /** Presses Pay, and resolves while the shop is working on the payment. */
  async pressUntilItArrived(): Promise<{ readonly over: Promise<unknown> }> {
    const sent = this.page.waitForRequest(PAYMENTS);
    const over = this.press().catch(() => {});
    await sent;
    await this.waits(ARRIVES_MS);
    return { over };
  }

  /** Opens another page of the shop in the same browser context. */
  another(): Promise<Page> {
    return opened(this.context, this.shop);
  }

  /** Closes the page while it is working, and opens the shop again. */
  async dies(): Promise<void> {
    await this.page.close();
    this.page = await this.another();
  }

  async waits(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Makes the first `times` requests for this cart meet a fault of the server. */
  async meets(fault: string, times: number): Promise<void> {
    await this.#sends((headers) => ({ ...headers, 'x-fault': `${fault}; times=${times}`, 'x-lane': this.lane }));
  }

  /** Removes the key from all requests, as if the server took no keys. */
  async losesKeys(): Promise<void> {
    await this.#sends(({ 'idempotency-key': _, ...headers }) => headers);
  }

  /**
   * Simulates a broken kept-alive connection in Chromium, which then sends a copy by itself: the first copy is charged,
   * and a gateway refuses the second.
   */
  async isCopiedAndRefused(): Promise<void> {
    let copied = false;
    await this.context.route(PAYMENTS, async (route) => {
      if (copied) return route.fallback();
      copied = true;
      await route.fetch();
      await route.fulfill({ status: 401, contentType: 'application/problem+json', body: '{"title":"Sign in again"}' });
    });
  }

  async #sends(changed: (headers: Record<string, string>) => Record<string, string>): Promise<void> {
    await this.context.route(PAYMENTS, (route) => {
      const { cart } = route.request().postDataJSON() as Order;
      return route.fallback(cart === this.order.cart ? { headers: changed(route.request().headers()) } : {});
    });
  }

  /** Waits until the server has charged. */
  async charged(): Promise<void> {
    while (this.#amounts(this.order.cart).length === 0) await this.waits(POLL_MS);
  }

  /** Waits until the server is idle: it may still charge for a payment whose page is gone. */
  async settled(cart: string): Promise<void> {
    while (this.shop.query('SELECT 1 FROM idempotency_keys WHERE cart = ? AND answer IS NULL', cart).length > 0) await this.waits(POLL_MS);
  }

  /** The charges of a cart, the amount of its last press, and what the customer was told. */
  facts(cart: string): { readonly amounts: readonly number[]; readonly pressed: number; readonly told: Word } {
    const last = this.#last.get(cart);
    if (!last) throw new Error(`nobody pressed Pay for ${cart}`);
    return { amounts: this.#amounts(cart), ...last };
  }

  #amounts(cart: string): readonly number[] {
    return this.shop.query<{ amount: number }>('SELECT amount FROM charges WHERE cart = ?', cart).map(({ amount }) => amount);
  }
}

async function opened(context: BrowserContext, shop: Shop): Promise<Page> {
  const page = await context.newPage();
  await page.goto(shop.url);
  return page;
}
