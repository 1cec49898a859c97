/** A server process with a payment provider that takes idempotency keys. */
import * as oncefetch from 'oncefetch';
import { shop, show } from '../support/stage.js';

export const order = { id: 'o-42', total: 4200 };
export const once = oncefetch.createOnce({ namespace: 'billing', store: oncefetch.memoryStore() });
export const provider = {
  async charge(params: { amount: number }, options: { idempotencyKey: string }): Promise<{ id: string }> {
    const response = await fetch(`${shop().origin}/v1/charges`, {
      method: 'POST',
      body: JSON.stringify(params),
      headers: { 'idempotency-key': options.idempotencyKey },
    });
    if (!response.ok) throw Object.assign(new Error(`provider: ${response.status}`), { status: response.status });
    return (await response.json()) as { id: string };
  },
};
export { show };
