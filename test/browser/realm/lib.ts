/** What the functions of a test find in another realm: the package, bundled into this copy. */
import { answers, createOnce as create, hooks, type Once, type OnceOptions, requests, unnamed } from '../../../src/entries/index.js';

export { devtools } from '../../../src/entries/devtools.js';
export { defineDialect, inHeader } from '../../../src/entries/dialects.js';
export { defineOnceForm } from '../../../src/entries/form.js';
export * from '../../../src/entries/index.js';

/** `createOnce` with a number for each call of fetch in a header: a browser may put several copies of one call on the wire. */
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

/** Values that one call of `run` leaves here for a later one. */
export const shelf: Record<string, unknown> = {};
