/** Checks that need no I/O, made before an attempt and again right before it leaves, because hooks and stores take time. */
import type { UnknownReason, UnsentReason } from '../core/codes.js';
import { stop } from '../core/decide.js';
import { isStill } from '../core/ownership.js';
import type { OnceRecord } from '../core/record.js';
import { clockWentBack, pastWindow } from '../core/retention.js';
import { isSamePerson } from './address.js';
import type { OperationRun } from './client.js';
import type { Stopped } from './stopped.js';

/** Why nothing may be sent under this record's key now; `undefined`: it may. */
export function reasonToHalt(job: OperationRun, record: OnceRecord, ambiguous: boolean): UnknownReason | undefined {
  const { client, stop, namespace, deadline } = job;
  const now = client.platform.clock.now();
  if (stop.aborted || client.closing.aborted) return 'aborted';
  if (!isSamePerson(client, namespace)) return 'identity';
  if (now >= deadline) return 'no-answer';
  return ambiguous && (windowIsOver(job, record) || clockWentBack(record, now + Math.max(0, job.aheadMs))) ? 'key-expired' : undefined;
}

/** Whether the server may have forgotten this record's key by the end of an attempt that leaves now. */
export const windowIsOver = ({ client, settings: { limits }, aheadMs }: OperationRun, record: OnceRecord): boolean =>
  pastWindow(record, { windowMs: limits.keyWindowMs, marginMs: limits.attemptMs }, client.platform.clock.now() + aheadMs);

/** Whether another context has changed the record since this driver saw it; if so, how the drive stops. */
export function takenOver(found: OnceRecord | undefined, known: OnceRecord): Stopped | undefined {
  const sameKey = found?.key === known.key;
  if (found?.state === 'pending' && sameKey && isStill(known, found)) return undefined;
  const lost: Stopped = { decision: stop('busy', false), lost: true };
  return found && found.state !== 'pending' && found.ending?.effect !== 'unknown' && sameKey ? { ...lost, ended: found } : lost;
}

const UNSENT: Readonly<Partial<Record<UnknownReason, UnsentReason>>> = { aborted: 'aborted', offline: 'offline', store: 'store-write' };

/** The reason of `unsent`, when a drive stops for this reason before its first attempt. */
export const reasonUnsent = (reason: UnknownReason): UnsentReason => UNSENT[reason] ?? 'unreachable';
