/** The same payment through oncefetch: one stored key per cart, and one of three results to tell the customer. */
import ky, { HTTPError } from 'ky';
import { createOnce, insecureOrigins, outcomeOf, reconciling, requests, resumeOne } from 'oncefetch';
import { withOnce } from 'oncefetch/ky';
import { customer, type Order } from '../cart.ts';
import { type Receipt, receiptOf } from '../shop.ts';
import { onceFetch as fetch } from '../timeline/wire.ts';
import type { Seen } from './lane.ts';

export const once = createOnce({
  // `insecureOrigins`: a phone on the same network opens this page over http://. `reconciling`: the order page may know
  // what an answer left open.
  use: [insecureOrigins(), reconciling(), requests()],
  namespace: customer,
  keep: { request: true }, // so that "Check" can go on after a reload
  limits: { attempts: 4, attemptMs: 3000, totalMs: 30_000, inProgressMs: 10_000 },
  retry: { minDelayMs: 400, maxDelayMs: 2000 },
  // If the server's answer cannot tell, the order page may know.
  reconcile: async ({ operation }) => ((await receiptOf('oncefetch', String(operation[1]))) ? 'done' : 'unknown'),
  fetch,
});
const api = withOnce(ky.create({ prefix: '/api' }), once);

export async function pay(order: Order, signal: AbortSignal): Promise<Seen | undefined> {
  try {
    const receipt = await api
      .post('payments', { json: order, signal, once: { operation: ['pay', order.cart], meta: { amount: order.amount } } })
      .json<Receipt>();
    return { is: 'paid', receipt };
  } catch (error) {
    return signal.aborted ? undefined : whatHappened(error, order.cart);
  }
}

/** Continues a payment whose result nobody knows, even after a reload. */
export async function check(cart: string): Promise<Seen> {
  try {
    const response = await resumeOne(once, ['pay', cart]);
    return response.ok ? { is: 'paid', receipt: await response.json() } : whatHappened(response, cart);
  } catch (error) {
    return whatHappened(error, cart);
  }
}

async function whatHappened(of: unknown, cart: string): Promise<Seen> {
  const status = of instanceof Response ? of.status : of instanceof HTTPError ? of.response.status : undefined;
  switch (outcomeOf(of)?.effect) {
    case 'done': // an earlier attempt did it, maybe in another tab, maybe for the cart before it was edited
      return { is: 'paid', receipt: await receiptOf('oncefetch', cart) };
    case 'none':
      return status === 402 ? { is: 'declined' } : status ? { is: 'refused', status } : { is: 'unsent' };
    case 'unknown':
      return { is: 'unsure', found: false };
    default:
      throw of; // a bug
  }
}
