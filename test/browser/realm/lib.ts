/** What a test's functions find in a realm of their own: the package, as bundled into this copy. */
import { createOnce as create, type Once, type OnceOptions, unnamed } from '../../../src/entries/index.js';

export { devtools } from '../../../src/entries/devtools.js';
export * from '../../../src/entries/index.js';

/** `createOnce`, where each call of fetch says which one it is: browsers put several copies of one on the wire. */
export const createOnce = (options: OnceOptions = {}): Once =>
  create({
    ...options,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('x-send', crypto.getRandomValues(new Uint32Array(2)).join('-'));
      return fetch(input, { ...init, headers });
    },
  });

/** Limits that a test can wait for, and calls without a name. */
export const SOON = {
  use: [unnamed()],
  retry: { minDelayMs: 10, maxDelayMs: 20 },
  limits: { attemptMs: 15_000, totalMs: 40_000 },
} as const;

/** What one call hands to the next. */
export const shelf: Record<string, unknown> = {};
