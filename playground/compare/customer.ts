/** A customer: presses Pay, and again after an error, until told that it worked or out of patience. */
import type { Shop } from '../start-shop.ts';
import type { Belief, Lane } from './lanes.ts';

export interface Checkout {
  readonly shop: Shop;
  /** As the ledger names it. */
  readonly lane: string;
  readonly cart: string;
  readonly amount: number;
  readonly fault: string | undefined;
  /** How often the customer's finger comes down for one press. */
  readonly clicks: number;
}

export const PRESSES_AGAIN_MAX = 3;

export interface Served {
  readonly checkout: Checkout;
  /** The client's last word. */
  readonly believes: Belief;
  /** From the first press to the last word. */
  readonly ms: number;
}

export async function serve(checkout: Checkout, lane: Lane): Promise<Served> {
  const startedAt = performance.now();
  let believes: Belief = 'none';
  for (let press = 0; press <= PRESSES_AGAIN_MAX && believes !== 'done'; press++) {
    // Reading the message and reaching for the button again takes a while; a server that was killed is back by then.
    if (press > 0) await new Promise((resolve) => setTimeout(resolve, 300));
    const words = await Promise.all(Array.from({ length: checkout.clicks }, () => lane.pay(checkout)));
    believes = words.find((word) => word === 'done') ?? words.find((word) => word === 'unknown') ?? 'none';
  }
  return { checkout, believes, ms: performance.now() - startedAt };
}
