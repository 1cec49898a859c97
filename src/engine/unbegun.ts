/** How a call ends that never began: what it may claim about the operation, and how it shares the end of one under way. */
import { type Outcome, unknown, unsent } from '../core/outcome.js';
import type { UnreplayableBody } from '../http/request.js';
import { idsOf, isSamePerson } from './address.js';
import type { Client, OperationAddress, OperationRun } from './client.js';
import { busyError, failed, failure, storeError } from './failure.js';
import { abortReason, type Ended, type InFlightOperation, noteUnderReason } from './in-flight.js';
import { nothingSent } from './record-access.js';
import { limit } from './wait.js';

/** A call that has not begun its operation yet. */
export type Unbegun = OperationAddress & Pick<OperationRun, 'client' | 'settings' | 'deadline'>;

/**
 * Whether nothing was sent of the operation, for a call that ends before it began. If another context holds the lock (`elsewhere`), that
 * context may send at any moment. A missing record proves nothing if the call has waited or the user has changed: the operation may have
 * been sent, and its record moved or cleared. It also proves nothing if the key is not random: the key may have been sent before the
 * record was lost.
 * Rejects if the store can't be read, or if the page can't make the digest for the record's id.
 */
const leftClean = async (job: Unbegun, elsewhere?: boolean, waited?: boolean): Promise<boolean> =>
  !elsewhere && nothingSent({ ...job, ...(await idsOf(job.client, job)) }, !waited && job.settings.key === undefined && isSamePerson(job));

/** The end of a call that was given up before it began. */
export async function leftBefore(job: Unbegun, elsewhere?: boolean, waited?: boolean): Promise<Ended> {
  const clean = await leftClean(job, elsewhere, waited).catch(() => false);
  return failed(job, clean ? unsent('aborted') : unknown('aborted'));
}

/** The error for a body that can't be sent twice. It looks at the record first, so that "nothing was sent" is true of the operation, not only of this call. */
export async function bodyError(job: Unbegun, cause: UnreplayableBody, elsewhere?: boolean): Promise<unknown> {
  try {
    const clean = await leftClean(job, elsewhere);
    const more = { cause, says: cause.message.replace('once: ', '') };
    return failure(job, clean ? unsent('unreplayable-body') : unknown('record'), more, 'ERR_ONCE_BODY');
  } catch (error) {
    return storeError(job, error);
  }
}

/** Notes the outcome of a caller that has aborted. Gives the reason to reject it with. */
export function notedReason({ registry }: Client, signal: AbortSignal, left: Outcome): unknown {
  const reason = abortReason(signal);
  noteUnderReason(registry, reason, left);
  return reason;
}

/** Shares the answer of the operation in flight. Rejects with ERR_ONCE_BUSY if that has not ended at this call's own deadline. */
export function joinInTime(flight: InFlightOperation, caller: Parameters<InFlightOperation['join']>[0], operation: Unbegun): Promise<unknown> {
  const { client, deadline } = operation;
  if (flight.deadline <= deadline) return flight.join(caller);
  // The other call ends later: it began while this one waited, or before the clock was set back.
  const { clock } = client.platform;
  const { over, off } = limit(clock, deadline - clock.now(), []);
  return flight.join({ ...caller, late: over.then(() => busyError(operation)) }).finally(off);
}
