/** For each test: an element to render into, a server with faults, and a client of it. */
import { createOnce, type Once } from 'oncefetch';
import { type IdempotentServer, idempotentServer } from 'oncefetch/testing';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach } from 'vitest';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

/** A new server for each test, because a late request of an earlier test must neither use up the faults of this one nor be counted. */
export let server: IdempotentServer;
export let root: Root;
export let place: HTMLElement;
export let cart = '';
let carts = 0;

/** Call it once in a file. */
export function onStage(): void {
  beforeEach(() => {
    server = idempotentServer({ url: '/api/payments', retryAfter: 0 });
    cart = `cart-${Date.now()}-${carts++}`;
    place = document.createElement('div');
    document.body.append(place);
    root = createRoot(place);
  });
  afterEach(async () => {
    await act(() => root.unmount());
    place.remove();
    server.reset();
  });
}

export const client = (options: Parameters<typeof createOnce>[0] = {}): Once =>
  createOnce({ namespace: 'ann', fetch: server.fetch, retry: { minDelayMs: 1, maxDelayMs: 5 }, ...options });

export const body = { method: 'POST', body: '{"total":42}', headers: { 'content-type': 'application/json' } };
export const shown = (selector: string): string => place.querySelector(selector)?.textContent ?? '';
export const click = (selector = 'button'): Promise<void> => act(async () => (place.querySelector(selector) as HTMLElement).click());

/** React renders updates only when `act` ends, so each check runs in its own `act`. */
export async function settled(check: () => void): Promise<void> {
  for (let look = 0; ; look++) {
    await act(() => new Promise((resolve) => setTimeout(resolve, 20)));
    try {
      return check();
    } catch (error) {
      if (look > 200) throw error;
    }
  }
}
