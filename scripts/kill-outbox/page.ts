/** The page that is closed in the middle of a payment. It has one button, which the script presses from outside. */
import { set } from 'idb-keyval';
import { clear, operation as operationOf, outcomeOf } from 'oncefetch';
import type { Order } from '../kill-pages/page.ts';
import { clientFor } from './client.ts';

export interface OutboxPage {
  /** Logs `user` in. Resolves when the service worker is ready. */
  begin(user: string): Promise<void>;
  /**
   * Presses Pay; the result appears in `told`. Without `untilMs`, the payment does not continue after the page is gone.
   * With `counted`, the shop counts its requests.
   */
  press(order: Order, untilMs?: number, counted?: boolean): void;
  told: { readonly effect: string; readonly key: string | undefined } | undefined;
  /** The phase of this page's call for a cart. */
  phase(cart: string): string;
  /** What the browser's store knows about a cart, without a request. */
  knows(cart: string): Promise<string>;
  /** From now on, adds each phase of a cart that this page shows to `shown`. */
  follow(cart: string): void;
  readonly shown: string[];
  /** Starts the worker if it has stopped. With `goOn`, a worker that is still running also resumes its payments. */
  wake(goOn?: boolean): Promise<void>;
  leave(): Promise<void>;
}

let user: string | undefined;
const once = clientFor(() => user);

const page: OutboxPage = {
  async begin(who) {
    user = who;
    await set('user', who);
    await navigator.serviceWorker.register('/worker.js');
    await navigator.serviceWorker.ready;
  },
  press(order, untilMs, counted) {
    page.told = undefined;
    const headers = { 'content-type': 'application/json', 'x-lane': 'oncefetch', ...(counted && { 'x-fault': 'delay; ms=1; times=1000000' }) };
    const agreed = untilMs === undefined ? {} : { background: { untilMs } };
    once
      .fetch('/api/payments', {
        method: 'POST',
        headers,
        body: JSON.stringify(order),
        once: { operation: ['pay', order.cart], ...agreed, keep: { headers: ['x-lane', 'x-fault'] } },
      })
      .then(
        (response) => {
          const { effect = 'nothing', key } = outcomeOf(response) ?? {};
          page.told = { effect, key };
        },
        (error: unknown) => {
          const { effect = String(error), key } = outcomeOf(error) ?? {};
          page.told = { effect, key };
        },
      );
  },
  told: undefined,
  phase: (cart) => operationOf(once, ['pay', cart]).state.phase,
  async knows(cart) {
    const operation = operationOf(once, ['pay', cart]);
    for (let n = 0; n < 400; n++) {
      const { state } = operation;
      if (state.phase === 'settled') return state.outcome.effect;
      if (state.phase === 'unsettled' || state.phase === 'idle') return state.phase;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`the store gave no state for ${cart}`);
  },
  shown: [],
  follow(cart) {
    const operation = operationOf(once, ['pay', cart]);
    const look = (): void => {
      const { phase } = operation.state;
      if (page.shown.at(-1) !== phase) page.shown.push(phase);
    };
    operation.subscribe(look);
    look();
  },
  async wake(goOn) {
    (await navigator.serviceWorker.ready).active?.postMessage(goOn ? 'go on' : 'wake');
  },
  async leave() {
    await clear(once);
    await set('user', undefined);
    user = undefined;
  },
};

Object.assign(globalThis, { page });
