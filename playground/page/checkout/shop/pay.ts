/** Pays a cart, and says what the customer is to be told. */
import { type Outcome, outcomeOf, resumeOne } from 'oncefetch';
import { type Cart, totalOf } from './cart.ts';
import { once } from './client.ts';

/** Why the customer is back at the form; empty when they are not. */
export type Problem =
  | ''
  | 'Your card was declined. Nothing was charged.'
  | 'Nothing was sent, and nothing was charged. Are you online?'
  | 'The shop refused. Nothing was charged.';

export async function pay(cart: Cart, card: string): Promise<Problem> {
  const amount = totalOf(cart);
  const call = once.fetch('/api/payments', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ cart: cart.id, amount, card }),
    once: { operation: ['pay', cart.id], meta: { amount } },
  });
  return problemOf(call);
}

/** Goes on with what is stored, under its key: nothing is charged twice. */
export const check = (cartId: string): Promise<Problem> => problemOf(resumeOne(once, ['pay', cartId]));

/** The same for whoever has no screen of the payment: whether it was made. */
export async function effectOf(cartId: string): Promise<Outcome['effect']> {
  const answer: unknown = await resumeOne(once, ['pay', cartId]).catch((error: unknown) => error);
  const outcome = outcomeOf(answer);
  if (!outcome) throw answer; // a bug
  return outcome.effect;
}

/** `done` and `unknown` have screens of their own, which follow the operation's state. */
async function problemOf(call: Promise<Response>): Promise<Problem> {
  const answer: unknown = await call.catch((error: unknown) => error);
  const outcome = outcomeOf(answer);
  if (!outcome) throw answer; // a bug
  if (outcome.effect !== 'none') return '';
  if (!(answer instanceof Response)) return 'Nothing was sent, and nothing was charged. Are you online?';
  return answer.status === 402 ? 'Your card was declined. Nothing was charged.' : 'The shop refused. Nothing was charged.';
}
