/** A server process with a payment provider that takes idempotency keys. */

import type { OnceEvent } from 'oncefetch';
import * as oncefetch from 'oncefetch';
import { DECLINED_AMOUNT } from '../support/shop.js';
import { shop, show } from '../support/stage.js';

export type { OnceEvent };
export const order = { id: 'o-42', total: 4200 };
export const ledger = shop().origin;
export const once = oncefetch.createOnce({ namespace: 'billing', store: oncefetch.memoryStore() });
export const declinedAmount = DECLINED_AMOUNT;
export const provider = {
  async charge({ amount }: { amount: number }, options: { idempotencyKey: string }): Promise<{ id: string }> {
    const response = await fetch(`${ledger}/v1/charges`, {
      method: 'POST',
      body: JSON.stringify({ amount }),
      headers: { 'idempotency-key': options.idempotencyKey },
    });
    if (!response.ok) throw Object.assign(new Error(`provider: ${response.status}`), { status: response.status });
    return (await response.json()) as { id: string };
  },
};
export { show };
