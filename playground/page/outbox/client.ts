/** The client of the page and of its service worker. */
import { get } from 'idb-keyval';
import { background, createOnce, type Once } from 'oncefetch';

export const LANE = 'outbox';

export const clientFor = (namespace: () => string | undefined): Once =>
  createOnce({
    use: [background()],
    namespace,
    // The shop's ledger tells the lanes apart by this header.
    keep: { headers: ['x-lane'] },
    limits: { attempts: 10, attemptMs: 5000, totalMs: 60_000 },
    retry: { minDelayMs: 300, maxDelayMs: 2000 },
  });

/** This shop has no accounts: one browser is one customer, whom its pages and its worker know. */
export const customer = (): Promise<string | undefined> => get<string>('outbox-customer');
