/** The one error that stores reject with. */
import type { StoreFaultReason } from '../ports.js';

/** A store could not do its work. `cause` is what the platform said, where it said anything. */
export class StoreFault extends Error {
  readonly reason: StoreFaultReason;

  constructor(reason: StoreFaultReason, says: string, cause?: unknown) {
    super(`once: ${says}`, { cause });
    this.name = 'StoreFault';
    this.reason = reason;
  }
}

/** Whether the platform said it. IndexedDB says `null` where it has no reason. Anything else was thrown by our own code. */
export const isPlatforms = (error: unknown): boolean => !error || (typeof DOMException === 'function' && error instanceof DOMException);

/** What the platform threw, as a {@link StoreFault}. Judged by its name: messages differ by browser and language. */
export function faultOf(scope: string, error: unknown): unknown {
  if (!isPlatforms(error)) return error;
  const { name, message } = (error ?? { name: '', message: 'it did not say why' }) as DOMException;
  // Firefox's localStorage says NS_ERROR_DOM_QUOTA_REACHED.
  return new StoreFault(/quota/i.test(name) ? 'quota' : name === 'SecurityError' ? 'denied' : 'io', `${scope} failed: ${message}`, error);
}
