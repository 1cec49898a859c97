/** A customer who presses Pay, and again after every error, until the client says "done" or the customer's patience runs out. */
import type { Shop } from '../start-shop.ts';
import type { Belief, Lane } from './lanes.ts';

export interface Checkout {
  readonly shop: Shop;
  /** The name of the lane in the ledger. */
  readonly lane: string;
  readonly cart: string;
  readonly amount: number;
  readonly fault: string | undefined;
  /** The number of clicks in one press. */
  readonly clicks: number;
}

export const PRESSES_AGAIN_MAX = 3;

export interface Served {
  readonly checkout: Checkout;
  /** What the client said last. */
  readonly believes: Belief;
  /** The time from the first press to the last answer of the client. */
  readonly ms: number;
}

export async function serve(checkout: Checkout, lane: Lane): Promise<Served> {
  const startedAt = performance.now();
  let believes: Belief = 'none';
  for (let press = 0; press <= PRESSES_AGAIN_MAX && believes !== 'done'; press++) {
    // Gives the customer time to read the message and press again. By then a killed server is back.
    if (press > 0) await new Promise((resolve) => setTimeout(resolve, 300));
    const words = await Promise.all(Array.from({ length: checkout.clicks }, () => lane.pay(checkout)));
    believes = words.find((word) => word === 'done') ?? words.find((word) => word === 'unknown') ?? 'none';
  }
  return { checkout, believes, ms: performance.now() - startedAt };
}
