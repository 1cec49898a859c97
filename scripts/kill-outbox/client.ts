/** The client of the page and of its service worker: the same options, the same store. */
import { get } from 'idb-keyval';
import { background, createOnce, type Once } from 'oncefetch';

export const clientFor = (namespace: () => string | undefined): Once =>
  createOnce({ use: [background()], namespace, retry: { minDelayMs: 20, maxDelayMs: 200 }, limits: { attempts: 20, attemptMs: 4000, totalMs: 25_000 } });

/** The user who is logged in, read from where a page and a worker can both read it. */
export const whoIsHere = (): Promise<string | undefined> => get<string>('user');
