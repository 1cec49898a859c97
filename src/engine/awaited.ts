/** A forgotten `await`, which types tell and plain JavaScript does not. */

/** Throws a TypeError if what has no outcome is a promise. The small build, for pages in production, does not check. */
export function refusePromise(given: unknown): void {
  let then: unknown;
  try {
    ({ then } = Object(given) as { then?: unknown });
  } catch {
    // A getter of a foreign object may throw.
  }
  if (typeof then === 'function') throw new TypeError('once: outcomeOf got a promise: await the call first');
}
