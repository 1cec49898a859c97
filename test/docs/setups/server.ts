/** A server process with a payment provider that takes idempotency keys. */

import type { OnceEvent } from 'oncefetch';
import * as oncefetch from 'oncefetch';
import { DECLINED } from '../support/shop.js';
import { shop, show } from '../support/stage.js';

export type { OnceEvent };
export const { outcomeOf } = oncefetch;
export const order = { id: 'o-42', total: 4200 };
export const ledger = shop().origin;
export const once = oncefetch.createOnce({ namespace: 'billing', store: oncefetch.memoryStore() });
/** An amount that the bank refuses. */
export const declinedAmount = 666;
export const provider = {
  async charge({ amount }: { amount: number }, options: { idempotencyKey: string }): Promise<{ id: string }> {
    const body = JSON.stringify({ amount, card: amount === declinedAmount ? DECLINED : '4242424242424242' });
    const response = await fetch(`${ledger}/v1/charges`, { method: 'POST', body, headers: { 'idempotency-key': options.idempotencyKey } });
    if (!response.ok) throw Object.assign(new Error(`provider: ${response.status}`), { status: response.status });
    return (await response.json()) as { id: string };
  },
};
export { show };
