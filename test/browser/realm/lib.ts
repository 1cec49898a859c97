/** What a test's functions find in a realm of their own: the package, as bundled into this copy. */
import { answers, createOnce as create, hooks, type Once, type OnceOptions, requests, unnamed } from '../../../src/entries/index.js';

export { devtools } from '../../../src/entries/devtools.js';
export { defineDialect, inHeader } from '../../../src/entries/dialects.js';
export { defineOnceForm } from '../../../src/entries/form.js';
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

/** Limits that a test can wait for, and the features that tests need. */
export const SOON = {
  use: [answers(), hooks(), requests(), unnamed()],
  retry: { minDelayMs: 10, maxDelayMs: 20 },
  limits: { attemptMs: 15_000, totalMs: 40_000 },
} as const;

/** What one call hands to the next. */
export const shelf: Record<string, unknown> = {};
