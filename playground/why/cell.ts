/** Plays one scenario in one lane, and returns the charges in the ledger and what the customer was told. */
import type { Browser } from 'playwright';
import type { Shop } from '../start-shop.ts';
import { Customer } from './customer.ts';
import type { Word } from './lanes/lane.ts';
import type { LaneName } from './lanes/names.ts';
import type { Scenario } from './scenarios.ts';

export interface Cell {
  readonly charges: number;
  readonly told: Word;
  /** Whether the customer was told something that contradicts the ledger. */
  readonly untrue: boolean;
}

export async function cellOf(browser: Browser, shop: Shop, lane: LaneName, scenario: Scenario): Promise<Cell> {
  const customer = await Customer.arrive(browser, shop, lane, `${lane}: ${scenario.name}`);
  try {
    await scenario.play(customer);
    const cart = scenario.cart?.(customer) ?? customer.order.cart;
    await customer.settled(cart);
    const { amounts, pressed, told } = customer.facts(cart);
    // "Paid" means the order as it was at the last press.
    const untrue = { done: !amounts.includes(pressed), none: amounts.length > 0, earlier: amounts.length === 0, unknown: false }[told];
    return { charges: amounts.length, told, untrue };
  } finally {
    await customer.context.close();
  }
}
