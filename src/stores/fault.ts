/** The error that stores reject with. */
import type { StoreFaultReason } from '../ports.js';

/** A store could not do its work. `cause` is the platform's own error, if it gave one. */
export class StoreFault extends Error {
  readonly reason: StoreFaultReason;

  constructor(reason: StoreFaultReason, says: string, cause?: unknown) {
    super(`once: ${says}`, { cause });
    // An assignment to the name would throw where a page has frozen `Error.prototype`.
    Object.defineProperty(this, 'name', { value: 'StoreFault', writable: true });
    this.reason = reason;
  }
}

/** Whether an error came from the platform. IndexedDB may give `null` as the error. Anything else was thrown by our own code. */
export const isPlatforms = (error: unknown): boolean => !error || (typeof DOMException === 'function' && error instanceof DOMException);

/** The platform's error as a {@link StoreFault}. It is classified by its name, because messages differ by browser and language. */
export function faultOf(scope: string, error: unknown): unknown {
  if (!isPlatforms(error)) return error;
  const { name, message } = (error ?? { message: 'no reason' }) as DOMException;
  // Firefox's localStorage gives NS_ERROR_DOM_QUOTA_REACHED.
  return new StoreFault(/quota/i.test(name) ? 'quota' : name === 'SecurityError' ? 'denied' : 'io', `${scope} failed: ${message}`, error);
}
