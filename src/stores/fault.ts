/** The one error that stores reject with. */
import type { StoreFaultReason } from '../ports.js';

/** A store could not do its work. `cause` is what the platform said, where it said anything. */
export class StoreFault extends Error {
  readonly reason: StoreFaultReason;

  /** @param cause - `null` counts as absent: IndexedDB gives it where it has no reason. */
  constructor(reason: StoreFaultReason, says: string, cause?: unknown) {
    super(`once: ${says}`, cause == null ? undefined : { cause });
    this.name = 'StoreFault';
    this.reason = reason;
  }
}

/** What the platform threw, as a {@link StoreFault}. Judged by its name alone: messages differ by browser and language. */
export function faultOf(scope: string, cause: unknown): StoreFault {
  if (cause instanceof StoreFault) return cause;
  const { name, message } = Object(cause) as Partial<Error>;
  // Firefox's localStorage says NS_ERROR_DOM_QUOTA_REACHED.
  const reason = /quota/i.test(`${name}`) ? 'quota' : name === 'SecurityError' ? 'denied' : 'io';
  return new StoreFault(reason, `${scope}: ${message || 'failed without a reason'}`, cause);
}
