/** Checks that need no I/O. They are made before an attempt, and again right before it leaves, because hooks and stores take time. */
import type { UnknownReason } from '../core/codes.js';
import { stop } from '../core/decide.js';
import { isStill } from '../core/ownership.js';
import type { OnceRecord } from '../core/record.js';
import { CLOCK_BACK_MS, isKeyTooOld } from '../core/retention.js';
import { isSamePerson } from './address.js';
import type { OperationRun } from './client.js';
import type { Stopped } from './stopped.js';
import { isAbandoned } from './wait.js';

/** Why nothing may be sent under this record's key now; `undefined` if it may. `used`: the server may know the key, so that its age counts. */
export function reasonToStop(job: OperationRun, record: OnceRecord, used: boolean | undefined): UnknownReason | undefined {
  const { client, deadline, settings, seen } = job;
  const now = client.platform.clock.now();
  if (isAbandoned(job)) return 'aborted';
  if (!isSamePerson(job)) return 'identity';
  if (now >= deadline) return 'no-answer';
  if (used && isKeyTooOld(record, settings.limits, now, now + seen.aheadMs)) return 'key-expired';
  // If the clock was set back by hours, the call would otherwise go on for hours. Polling ends by the monotonic clock.
  return !record.link && now < deadline - settings.limits.totalMs - CLOCK_BACK_MS ? 'no-answer' : undefined;
}

/** How the drive stops if another context has taken over the record since this driver saw it; `undefined` if none has. */
export function takenOver(found: OnceRecord | undefined, known: OnceRecord): Stopped | undefined {
  const lost: Stopped = { decision: stop('busy', false), lost: true };
  if (found?.key !== known.key) return lost;
  if (found.state === 'pending') return isStill(known, found) ? undefined : lost;
  return found.ending?.effect === 'unknown' ? lost : { ...lost, ended: found };
}
