/** Pays a cart, and returns what to tell the customer. */
import { type Outcome, outcomeOf, resumeOne } from 'oncefetch';
import { type Cart, totalOf } from './cart.ts';
import { once } from './client.ts';

/** Why the customer sees the form again; empty if there is no problem. */
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

/** Resumes the stored payment under its key, so that nothing is charged twice. */
export const check = (cartId: string): Promise<Problem> => problemOf(resumeOne(once, ['pay', cartId]));

/** Resumes a payment that has no screen of its own. Returns its effect. */
export async function effectOf(cartId: string): Promise<Outcome['effect']> {
  const answer: unknown = await resumeOne(once, ['pay', cartId]).catch((error: unknown) => error);
  const outcome = outcomeOf(answer);
  if (!outcome) throw answer; // a bug
  return outcome.effect;
}

/** `done` and `unknown` have their own screens, which follow the state of the operation. */
async function problemOf(call: Promise<Response>): Promise<Problem> {
  const answer: unknown = await call.catch((error: unknown) => error);
  const outcome = outcomeOf(answer);
  if (!outcome) throw answer; // a bug
  if (outcome.effect !== 'none') return '';
  if (!(answer instanceof Response)) return 'Nothing was sent, and nothing was charged. Are you online?';
  return answer.status === 402 ? 'Your card was declined. Nothing was charged.' : 'The shop refused. Nothing was charged.';
}
