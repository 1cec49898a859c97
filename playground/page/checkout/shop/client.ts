/** The client of the whole app, made before anybody logs in. */
import { createOnce, reconciling, requests, warnOnLeave } from 'oncefetch';
import { generic } from 'oncefetch/dialects';
import { orderOf } from './orders.ts';
import { session } from './session.ts';

export const once = createOnce({
  use: [reconciling(), requests()],
  namespace: () => session.id, // asked at every call, so that no user sees the operations of another
  keep: { request: true }, // so that "Check" can send again after a reload
  // This server shares its keys between guests and customers, so a guest's payment goes on after the log-in. Leave this out
  // if yours does not.
  dialect: generic({ perAccount: false }),
  limits: { attempts: 3, attemptMs: 5000, totalMs: 20_000 }, // how long a customer is kept waiting
  retry: { minDelayMs: 300, maxDelayMs: 2000 },
  // If an answer proves nothing, the order page may know what happened.
  reconcile: async ({ operation }) => ((await orderOf(String(operation[1]))).state === 'paid' ? 'done' : 'unknown'),
});

// The browser asks before it leaves the page while a payment is being sent.
warnOnLeave(once, { prefix: ['pay'] });
