/**
 * A payment as most apps write it: a flag in the state, one retry after a network error, and a `catch` that shows one
 * message for almost every error.
 */
import type { Order } from '../cart.ts';
import type { Receipt } from '../shop.ts';
import { plainFetch as fetch } from '../timeline/wire.ts';
import type { Seen } from './lane.ts';

const PATIENCE_MS = 3000;

/** One checkout form; `pay` is what its button calls. */
export function checkout(show: (seen: Seen) => void): (order: Order) => Promise<void> {
  let busy = false;
  return async function pay(order) {
    if (busy) return;
    busy = true;
    show({ is: 'paying' });
    try {
      show({ is: 'paid', receipt: await postWithRetry(order) });
    } catch (error) {
      const declined = error instanceof HttpError && error.status === 402;
      show({ is: declined ? 'declined' : 'failed' });
    } finally {
      busy = false;
    }
  };
}

async function postWithRetry(order: Order): Promise<Receipt> {
  try {
    return await post(order);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    return post(order); // the network failed, so it tries once more
  }
}

async function post(order: Order): Promise<Receipt> {
  const response = await fetch('/api/payments', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (!response.ok) throw new HttpError(response.status);
  return response.json();
}

class HttpError extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`HTTP ${status}`);
    this.status = status;
  }
}
