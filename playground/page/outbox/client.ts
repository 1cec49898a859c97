/** The client of the page and of its service worker. */
import { get } from 'idb-keyval';
import { background, createOnce, type Once } from 'oncefetch';

export const LANE = 'outbox';

export const clientFor = (namespace: () => string | undefined): Once =>
  createOnce({
    use: [background()],
    namespace,
    // The shop's page of all payments tells them apart by it.
    keep: { headers: ['x-lane'] },
    limits: { attempts: 10, attemptMs: 5000, totalMs: 60_000 },
    retry: { minDelayMs: 300, maxDelayMs: 2000 },
  });

/** This shop has no accounts: whoever uses this browser is one customer, known to its pages and its worker. */
export const customer = (): Promise<string | undefined> => get<string>('outbox-customer');
