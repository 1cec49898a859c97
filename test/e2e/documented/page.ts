/** What a snippet finds on its page: a customer, a cart, a screen and, if it makes none, a client. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import Cookies from 'js-cookie';
import { createElement, type ReactNode } from 'react';
import { refresh } from '../../../src/entries/index.js';
import { createOnce, isOnceError, type OnceOptions, outcomeOf, requests } from './oncefetch.js';

const queries = new QueryClient();
export const session = {
  /** The user who is logged in; empty if nobody is. */
  get userId(): string {
    return Cookies.get('user') ?? '';
  },
  set userId(user: string) {
    Cookies.set('user', user);
  },
};
export const cart = { id: 'c-42', total: 4200, card: '4242424242424242' };
const options: OnceOptions = { use: [requests()], namespace: () => session.userId, keep: { request: true } };
export const once = createOnce(options);
/** The provider that an app has around all its screens. */
export const Queries = ({ children }: { children: ReactNode }) => createElement(QueryClientProvider, { client: queries, children });
const lines: string[] = [];
export const show = (...what: readonly unknown[]): void =>
  void lines.push(what.map((one) => (typeof one === 'object' && one !== null ? JSON.stringify(one) : String(one))).join(' '));
export { isOnceError, outcomeOf };

let runs = 0;

/** The functions by which the test drives the page. */
const stage = {
  /** Runs a snippet. Returns what it shows, and how it ends: 'well', the effect of its error, or another error; `outcome` is the full outcome. */
  async run(path: string): Promise<{ shown: readonly string[]; ends: string; outcome?: string }> {
    lines.length = 0;
    const end = await import(`${path}?${++runs}`).then(
      () => ({ ends: 'well' }),
      (error: unknown) => ({ ends: outcomeOf(error)?.effect ?? String(error), outcome: JSON.stringify(outcomeOf(error)) }),
    );
    return { shown: [...lines], ...end };
  },
  /** Begins a payment, as another page of the shop would. */
  async open(): Promise<void> {
    const init = { method: 'POST', body: JSON.stringify(cart), once: { operation: ['pay', cart.id], meta: { total: '€42.00' } } } as const;
    await once.fetch('/api/payments', init).catch((error: unknown) => outcomeOf(error) ?? Promise.reject(error));
  },
  logIn(user: string): void {
    session.userId = user;
    refresh(once);
  },
};
export type Stage = typeof stage;
Object.assign(globalThis, { stage });
