/** `oncefetch` as it was built. Only the waits between attempts are shorter, so that a lost payment is given up within a second. */
import { createOnce as create, type Once, type OnceOptions } from 'oncefetch';

export * from 'oncefetch';

export const createOnce = (options: OnceOptions = {}): Once => create({ retry: { minDelayMs: 5, maxDelayMs: 20 }, ...options });
