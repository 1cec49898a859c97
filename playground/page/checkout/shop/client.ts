/** The client of the whole app, made before anybody logs in. */
import { createOnce, reconciling, requests, warnOnLeave } from 'oncefetch';
import { orderOf } from './orders.ts';
import { session } from './session.ts';

export const once = createOnce({
  use: [reconciling(), requests()],
  namespace: () => session.id, // asked at every call: no user sees what another one began
  keep: { request: true }, // so that "Check" can go on after a reload
  // Where your server counts keys per account, as this one does not: dialect: generic({ perAccount: true }) of 'oncefetch/dialects'.
  limits: { attempts: 3, attemptMs: 5000, totalMs: 20_000 }, // how long a customer is kept waiting
  retry: { minDelayMs: 300, maxDelayMs: 2000 },
  // Where an answer cannot tell, the order page may.
  reconcile: async ({ operation }) => ((await orderOf(String(operation[1]))).state === 'paid' ? 'done' : 'unknown'),
});

// While a payment is sent, the browser asks before it leaves the page.
warnOnLeave(once, { prefix: ['pay'] });
