/** Servers that speak in their own ways, and a stand-in for Stripe's library whose card is always declined. */
import { shop, show } from '../support/stage.js';

export const api = shop().origin;
export const headersThatArrived = (): string[] =>
  shop().arrived.map((headers) => ['idempotency-key', 'x-request-id'].find((name) => name in headers) ?? 'none');
export const stripe = {
  paymentIntents: {
    async create(_: { amount: number; currency: string }, __: { idempotencyKey: string }): Promise<{ id: string }> {
      throw Object.assign(new Error('Your card was declined.'), { statusCode: 402, rawType: 'card_error', code: 'card_declined', headers: {} });
    },
  },
};
export { show };
