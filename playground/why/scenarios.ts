/** What happens to a customer between the press and the receipt. */
import { DatabaseSync } from 'node:sqlite';
import type { Customer } from './customer.ts';
import type { Order } from './lanes/lane.ts';

export interface Scenario {
  readonly name: string;
  readonly play: (customer: Customer) => Promise<void>;
  /** The cart by which the scenario is judged, if there are several. @default the customer's cart */
  readonly cart?: ((customer: Customer) => string) | undefined;
}

const DECLINED = '4000000000000002';
const DAY_AND_AN_HOUR_MS = 25 * 3_600_000;
const TUNNEL_MS = 2000;

/** The shop charges, and the page gets no answer. */
async function chargedInSilence(customer: Customer): Promise<void> {
  await customer.meets('hang-after-commit', 1);
  customer.leave();
  await customer.charged();
}

/** Makes the clock of all pages that are opened from now on run ahead. */
const aheadBy = (customer: Customer, ms: number): Promise<unknown> =>
  customer.context.addInitScript((ahead) => {
    const { now } = Date;
    Date.now = () => now() + ahead;
  }, ms);

async function fillStorage(customer: Customer): Promise<void> {
  await customer.page.evaluate(() => {
    for (let size = 5_000_000; size > 0; size >>= 1)
      try {
        for (;;) localStorage.setItem(`filler ${localStorage.length}`, 'x'.repeat(size));
      } catch {
        // The storage is full for this size, so the next try is half as large.
      }
  });
  const cdp = await customer.context.newCDPSession(customer.page);
  await cdp.send('Storage.overrideQuotaForOrigin', { origin: customer.shop.url, quotaSize: 1 });
}

async function clearStorage(customer: Customer): Promise<void> {
  const cdp = await customer.context.newCDPSession(customer.page);
  await cdp.send('Storage.clearDataForOrigin', { origin: customer.shop.url, storageTypes: 'all' });
}

function forgetKeys(customer: Customer): void {
  const db = new DatabaseSync(customer.shop.file, { timeout: 5000 });
  db.prepare('DELETE FROM idempotency_keys WHERE cart = ?').run(customer.order.cart);
  db.close();
}

const bobs = ({ order }: Customer): Partial<Order> => ({ user: `bob of ${order.cart}`, cart: `${order.cart}-bob` });

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'A double click',
    play: async (customer) => {
      customer.leave();
      await customer.insist();
    },
  },
  {
    name: 'The answer is lost',
    play: async (customer) => {
      await customer.meets('lose-response', 1);
      await customer.insist();
    },
  },
  {
    name: 'The page is reloaded while the server works (`409`)',
    play: async (customer) => {
      await customer.pressUntilItArrived();
      await customer.dies();
      await customer.insist();
    },
  },
  {
    name: 'The page dies between the answer and the screen',
    play: async (customer) => {
      await customer.press();
      await customer.dies();
      await customer.insist();
    },
  },
  {
    name: 'Two tabs at once',
    play: async (customer) => {
      const tab = await customer.another();
      await Promise.all([customer.press({}, tab), customer.insist()]);
    },
  },
  {
    name: 'A tunnel after the press',
    play: async (customer) => {
      const pressed = await customer.pressUntilItArrived();
      await customer.context.setOffline(true);
      await customer.waits(TUNNEL_MS);
      await customer.context.setOffline(false);
      await pressed.over;
      await customer.insist();
    },
  },
  {
    name: 'A declined card, then another one',
    play: async (customer) => {
      await customer.press({ card: DECLINED });
      await customer.insist();
    },
  },
  {
    name: 'The cart is edited after a lost answer',
    play: async (customer) => {
      await chargedInSilence(customer);
      await customer.dies();
      await customer.insist({ amount: customer.order.amount + 200 });
    },
  },
  {
    name: 'A log-out, and another user',
    play: async (customer) => {
      await chargedInSilence(customer);
      await customer.insist(bobs(customer));
    },
    cart: (customer) => bobs(customer).cart as string,
  },
  {
    name: 'The storage is full',
    play: async (customer) => {
      await fillStorage(customer);
      await customer.meets('lose-response', 1);
      await customer.insist();
    },
  },
  {
    name: 'The storage is cleared after a lost answer',
    play: async (customer) => {
      await chargedInSilence(customer);
      await clearStorage(customer);
      await customer.dies();
      await customer.insist();
    },
  },
  {
    name: 'The clock is set a day ahead after a lost answer',
    play: async (customer) => {
      await chargedInSilence(customer);
      await aheadBy(customer, DAY_AND_AN_HOUR_MS);
      await customer.dies();
      await customer.insist();
    },
  },
  {
    name: 'A day later the server has forgotten the key',
    play: async (customer) => {
      await chargedInSilence(customer);
      await aheadBy(customer, DAY_AND_AN_HOUR_MS);
      await customer.dies();
      forgetKeys(customer);
      await customer.insist();
    },
  },
  {
    name: 'A server without keys, and a `503` after the charge',
    play: async (customer) => {
      await customer.meets('unavailable-after-commit', 1);
      await customer.losesKeys();
      await customer.insist({ withoutKeys: true });
    },
  },
  {
    name: 'A refusal in front of the server, after a silent copy of the browser',
    play: async (customer) => {
      await customer.isCopiedAndRefused();
      await customer.insist();
    },
  },
];
