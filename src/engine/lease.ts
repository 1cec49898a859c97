/**
 * Leases replace locks where contexts share no lock manager: each is a member of the record, timed by the store's clock. There they only save
 * work; safety rests on the key. If a driver dies, with or without a lock, its lease tells until when its last attempt may be on its way.
 */
import { see } from '../core/ownership.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import { CLOCK_BACK_MS, MOVED, OUTLIVED, seenAt } from '../core/retention.js';
import type { Client, Driver, OperationRun } from './client.js';
import { busyError } from './failure.js';
import { tellWait } from './observe.js';
import { freeFromDeadOwner } from './owner.js';
import { heldElsewhere, readStored, storeTimeOf, updateStored } from './record-access.js';
import type { Unbegun } from './unbegun.js';
import { isAbandoned, limit } from './wait.js';

/** How often a lease is renewed within its length. */
const BEATS = 3;
const LOOK_MS_MAX = 1000;

/** Renews a driver's lease, if the driver still has it. Gives what was stored before. */
export function renew({ job, record: own }: Pick<Driver, 'job' | 'record'>): Promise<unknown> {
  const change = (stored: unknown, now: number) => {
    const record = readRecord(stored);
    // Somebody may have set this machine's clock since the call began.
    job.seen.aheadMs = now - job.client.platform.clock.now();
    // Do not compare the revision: a log-out raises it, but until this driver has stopped, one of its attempts may be under way. Compare the
    // owner: a move may have left its own lease in the record, which belongs to no driver and must run out.
    const mine = record?.state === 'pending' && record.key === own.key && record.lease?.owner === job.client.owner && record.lease;
    return { value: stored, ...(mine && { next: { ...record, lease: { ...mine, until: now + job.settings.limits.leaseMs } } }) };
  };
  // A full store does not stop a driver: it looks, and leaves the lease as it is.
  return updateStored(job, change).catch((cause) => (cause?.reason === 'quota' ? readStored(job) : Promise.reject(cause)));
}

/** Holds the lease while `work` goes on. */
export function holdingLease<T>(drive: Driver, work: () => Promise<T>): Promise<T> {
  if (!drive.record.lease || drive.record.lease.locked) return work();
  const { client, settings } = drive.job;
  let cancel: () => void;
  const beat = (): void => {
    cancel = client.platform.clock.timer(settings.limits.leaseMs / BEATS, () => {
      beat();
      // If a renewal fails, the next one makes up for it. If none succeeds in time, the lease runs out, and another driver may go on with the key.
      renew(drive).catch(() => {});
    });
  };
  beat();
  return work().finally(() => cancel());
}

/**
 * The lease that a call leaves in the record because a function of `run` goes on after it, and may still act. It keeps no driver out, but until the function
 * has ended ({@link giveBack}), or this time is over, no other context may say that there was no effect.
 */
export function outlives({ job, record: { key, lease }, start }: Pick<Driver, 'job' | 'record' | 'start'>): OnceRecord['lease'] {
  const { client, settings } = job;
  const { registry } = client;
  const { leaseMs, totalMs } = settings.limits;
  if (!lease || !registry.running?.has(key)) return undefined;
  // By the name of the first client that left one, all clients of this realm know that such a function runs here.
  registry.outlived ??= OUTLIVED + client.owner + OUTLIVED;
  const owner = client.owner + registry.outlived;
  const found = start.found?.lease;
  // What an earlier call of this realm has left is for functions that are counted here again, so keep only what it had found.
  const { earlier } = found?.owner.endsWith(registry.outlived) ? found : lease;
  return { ...lease, owner, earlier, until: storeTimeOf(job) + leaseMs + totalMs, locked: true };
}

/** Gives back the lease that {@link outlives} left, when no function of this key goes on any more. Never rejects. */
export async function giveBack({ client, operationKey, id }: OperationRun, key: OnceRecord['key']): Promise<void> {
  const { flights, running, outlived } = client.registry;
  // The call may just be storing its end.
  await flights.get(operationKey)?.landed;
  const change = (stored: unknown) => {
    const record = readRecord(stored);
    const mine = outlived && record?.key === key && !running?.has(key) && record.lease?.owner.endsWith(outlived);
    // An earlier driver, which this lease counts too, may still have an attempt on its way.
    return { value: undefined, ...(mine && !record.lease?.earlier && { next: { ...record, lease: undefined } }) };
  };
  // If the store fails, the lease runs out.
  await updateStored({ client, operationKey, id }, change).catch(() => {});
}

/** What a call needs to wait for another driver. */
type Waiting = Unbegun & Pick<OperationRun, 'id' | 'stop' | 'seen'>;

/** Waits until the other driver has ended or its lease is over (`ms` from now). Rejects with ERR_ONCE_BUSY at this call's deadline. */
export async function awaitLease(job: Waiting, ms: number): Promise<void> {
  const { client, settings, stop, deadline } = job;
  const { clock } = client.platform;
  if (await freeFromDeadOwner(job)) return;
  if (settings.whenBusy === 'reject') throw busyError(job);
  const until = clock.now() + ms;
  tellWait(job, '', 0, until, 'another-context');
  for (let look = 20; clock.now() < until; look = Math.min(look * 2, LOOK_MS_MAX)) {
    // The second check: if the clock was set back by hours, the call would otherwise wait for hours.
    if (clock.now() >= deadline || clock.now() < deadline - settings.limits.totalMs - CLOCK_BACK_MS) throw busyError(job);
    await limit(clock, Math.min(look, until - clock.now(), deadline - clock.now()), [stop, client.closing]).over;
    if (isAbandoned(job)) return;
    const askedAt = clock.now();
    // `null`: the read failed. An absent record is `undefined`.
    const stored = await readStored(job).catch(() => null);
    // Go on if the record has ended, is gone, or has no lease any more.
    const record = readRecord(stored);
    if (stored === undefined || (record && (record.state !== 'pending' || !record.lease))) return;
    if (record) see(job.seen, record, seenAt(record, askedAt));
    if (await freeFromDeadOwner(job)) return;
  }
}

/**
 * Whether another driver has the lease. Nobody drives a record that was moved: its lease only keeps the app from settling while the guest's attempt
 * may be on its way.
 */
export const isDriven = (client: Client, record: OnceRecord | undefined, now: number): boolean =>
  record?.lease?.owner !== MOVED && heldElsewhere(client, record, now);

/** Waits until no other driver has the lease. Gives whether the last one that had it was a `resume`. Rejects like {@link awaitLease}. */
export async function awaitNoLease(job: Waiting): Promise<boolean> {
  let resumes = false;
  const look = (stored: unknown, now: number) => ({ value: { record: readRecord(stored), now } });
  for (;;) {
    const { record, now } = await updateStored(job, look);
    if (!isDriven(job.client, record, now) || isAbandoned(job)) return resumes;
    resumes = record?.lease?.resumes === true;
    await awaitLease(job, (record?.lease?.until ?? now) - now);
  }
}
