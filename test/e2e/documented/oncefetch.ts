/** The built `oncefetch`, with shorter waits between attempts, so that a client gives a lost payment up within a second. */
import { createOnce as create, type Once, type OnceOptions } from 'oncefetch';

export * from 'oncefetch';

export const createOnce = (options: OnceOptions = {}): Once => create({ retry: { minDelayMs: 5, maxDelayMs: 20 }, ...options });
