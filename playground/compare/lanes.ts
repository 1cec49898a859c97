/** The other ways to send a payment, as applications write them, for the comparison with oncefetch. */
import type { Checkout } from './customer.ts';

/** What a client tells its customer: paid, not paid, or that it does not know. */
export type Belief = 'done' | 'none' | 'unknown';

export interface Lane {
  readonly name: string;
  /** One press of Pay. */
  pay(checkout: Checkout): Promise<Belief>;
}

/** How long any lane waits for one answer. */
export const PATIENCE_MS = 250;

export const paymentUrl = ({ shop }: Checkout): string => `${shop.url}/api/payments`;

export const paymentInit = ({ lane, cart, amount, fault }: Checkout) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-lane': lane, ...(fault !== undefined && { 'x-fault': fault }) },
  body: JSON.stringify({ cart, amount, card: '4242424242424242' }),
});

/** Sends one request and reads the whole answer. Throws if fetch throws. */
async function send(checkout: Checkout): Promise<Response> {
  const response = await fetch(paymentUrl(checkout), { ...paymentInit(checkout), signal: AbortSignal.timeout(PATIENCE_MS) });
  await response.text();
  return response;
}

/** Plain fetch: any error counts as "not paid". */
export const fetchLane: Lane = {
  name: 'plain fetch',
  pay: (checkout) =>
    send(checkout).then(
      ({ ok }) => (ok ? 'done' : 'none'),
      () => 'none',
    ),
};

/**
 * The limits that naive retry and oncefetch share, so that they differ only in their keys and in how they read answers.
 * They are long enough to outlast a restart of the server.
 */
export const ATTEMPTS_MAX = 30;
export const WAIT_MS = { first: 10, longest: 200 };

/** The retry of most code bases: it sends again after any error and any 5xx, without a key. */
export const naiveRetryLane: Lane = {
  name: 'naive retry',
  pay: async (checkout) => {
    for (let attempt = 1; ; attempt++) {
      const response = await send(checkout).catch(() => undefined);
      if (response?.ok) return 'done';
      if ((response && response.status < 500) || attempt === ATTEMPTS_MAX) return 'none';
      const waitMs = Math.random() * Math.min(WAIT_MS.longest, WAIT_MS.first * 2 ** (attempt - 1));
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  },
};
