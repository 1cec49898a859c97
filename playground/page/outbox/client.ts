/** The client of the page and of its service worker. */
import { get } from 'idb-keyval';
import { background, createOnce, type Once } from 'oncefetch';

export const LANE = 'outbox';

export const clientFor = (namespace: () => string | undefined): Once =>
  createOnce({
    use: [background()],
    namespace,
    // The shop's ledger uses this header to tell the lanes apart.
    keep: { headers: ['x-lane'] },
    limits: { attempts: 10, attemptMs: 5000, totalMs: 60_000 },
    retry: { minDelayMs: 300, maxDelayMs: 2000 },
  });

/** This shop has no accounts. One browser is one customer, and both its pages and its worker can read who that is. */
export const customer = (): Promise<string | undefined> => get<string>('outbox-customer');
