/** A stand-in for Stripe's library whose card is always declined. */
import { show } from '../support/stage.js';

export const stripe = {
  paymentIntents: {
    async create(_: { amount: number; currency: string }, __: { idempotencyKey: string }): Promise<{ id: string }> {
      throw Object.assign(new Error('Your card was declined.'), { statusCode: 402, rawType: 'card_error', code: 'card_declined', headers: {} });
    },
  },
};
export { show };
