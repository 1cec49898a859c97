/** Checks that need no I/O. They are made before an attempt, and again right before it leaves, because hooks and stores take time. */
import type { UnknownReason, UnsentReason } from '../core/codes.js';
import { stop } from '../core/decide.js';
import { isStill } from '../core/ownership.js';
import type { OnceRecord } from '../core/record.js';
import { clockWentBack, pastWindow } from '../core/retention.js';
import { isSamePerson } from './address.js';
import type { OperationRun } from './client.js';
import type { Stopped } from './stopped.js';
import { isAbandoned } from './wait.js';

/** Why nothing may be sent under this record's key now; `undefined` if it may. */
export function reasonToHalt(job: OperationRun, record: OnceRecord, ambiguous: boolean): UnknownReason | undefined {
  const { client, namespace, deadline } = job;
  const now = client.platform.clock.now();
  if (isAbandoned(job)) return 'aborted';
  if (!isSamePerson(client, namespace)) return 'identity';
  if (now >= deadline) return 'no-answer';
  // A record with a link is asked after, and nothing is sent under its key.
  return ambiguous && !record.link && (windowIsOver(job, record) || clockWentBack(record, now + Math.max(0, job.aheadMs))) ? 'key-expired' : undefined;
}

/** Whether the server may have forgotten this record's key before an attempt that leaves now has ended. */
export const windowIsOver = ({ client, settings: { limits }, aheadMs }: OperationRun, record: OnceRecord): boolean =>
  pastWindow(record, limits, client.platform.clock.now() + aheadMs);

/** How the drive stops if another context has taken over the record since this driver saw it; `undefined` if none has. */
export function takenOver(found: OnceRecord | undefined, known: OnceRecord): Stopped | undefined {
  const sameKey = found?.key === known.key;
  if (found?.state === 'pending' && sameKey && isStill(known, found)) return undefined;
  const lost: Stopped = { decision: stop('busy', false), lost: true };
  return found && found.state !== 'pending' && found.ending?.effect !== 'unknown' && sameKey ? { ...lost, ended: found } : lost;
}

const UNSENT: Readonly<Partial<Record<UnknownReason, UnsentReason>>> = { aborted: 'aborted', offline: 'offline', store: 'store-write' };

/** The reason to give for `unsent` when a drive stops before its first attempt. */
export const reasonUnsent = (reason: UnknownReason): UnsentReason => UNSENT[reason] ?? 'unreachable';
