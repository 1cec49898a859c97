/** Removes records that nobody needs any more: a limited number at a time, in the background, so that no call waits for it. */

import type { Namespace } from '../core/ids.js';
import { decodeName } from '../core/name.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import { afterSweep, leaseHolds } from '../core/retention.js';
import type { Changed, Store } from '../ports.js';
import type { Client } from './client.js';
import { emit } from './observe.js';
import { timed, updateStored } from './record-access.js';

/** How many damaged records a sweep reads past at most. */
const DAMAGED_MAX = 10_000;

/** A client sweeps once for this many settled operations, so that a sweep costs little beside them. */
const SWEEP_EVERY = 100;
/** How long a client does not sweep after a sweep that found little. No record becomes due sooner than this after it was written. */
const SWEEP_REST_MS = 60_000;

/**
 * Sweeps after the first settle of this client, then after one settle in each round of {@link SWEEP_EVERY}; but not for {@link SWEEP_REST_MS}
 * after a sweep that found little. Which settle of a round it is, is random: processes that started together would otherwise always sweep at
 * the same time and find the same records.
 */
export function sweepNowAndThen(client: Client): void {
  const { platform, sweeps } = client;
  if (sweeps.left--) return;
  const place = Math.floor(platform.randomness.random() * SWEEP_EVERY);
  sweeps.left = SWEEP_EVERY - 1 - sweeps.place + place;
  sweeps.place = place;
  // The absolute difference: a clock that was set back must not make the pause longer.
  if (Math.abs(platform.clock.now() - sweeps.restedAt) < SWEEP_REST_MS) return;
  void sweep(client).catch(() => {
    // Nothing depends on this sweep; the next one tries again.
  });
}

/** How many records a sweep reads for each settle. Named ones are visited twice: a first look notes them, a second one removes them. */
const VISITS = 3;

async function sweep(client: Client): Promise<void> {
  const before = client.platform.clock.now();
  const limit = SWEEP_EVERY * VISITS + client.sweeps.damaged;
  const { records } = await timed(client, client.store.scan({ before, limit }));
  let damaged = 0;
  let rests = records.length < limit;
  // All at once, so that a store can commit them together, and another process that sweeps at the same time finds few of them left.
  const visits = records.map(async (stored) => {
    const seen = readRecord(stored);
    // Keep a damaged record, because it may be a pending operation. Every scan returns it again, so later sweeps read that many more.
    if (!seen) damaged++;
    // "Early" means that the local clock is ahead of the store's: rest, or the same records would be found again.
    else if ((await visit(client, client.store, seen, before)) === 'early') rests = true;
  });
  await Promise.all(visits);
  if (rests) client.sweeps.restedAt = before;
  client.sweeps.damaged = Math.min(damaged, DAMAGED_MAX);
}

/** Removes a scanned record if it is due, or stores when it gets its second look. */
export async function visit(client: Client, store: Store, scanned: OnceRecord, before: number): Promise<'removed' | 'early' | undefined> {
  // It is due only if both clocks say so, and if nobody has changed it since the scan.
  const change = (stored: unknown, storeNow: number): Changed<'removed' | 'early' | undefined> => {
    const record = readRecord(stored);
    const changed = record?.revision !== scanned.revision || record.forgetAt !== scanned.forgetAt;
    if (changed || leaseHolds(record.lease, storeNow)) return { value: undefined };
    const earlier = Math.min(before, storeNow);
    if (record.forgetAt >= earlier) return { value: 'early' };
    const next = afterSweep(record, earlier);
    return { next, value: next ? undefined : 'removed' };
  };
  const result = await updateStored({ client, store, id: scanned.id }, change);
  const { key, label } = scanned;
  // The record tells only a digest of whose it was. No user is '', so what is not the last user's stays foreign when nobody is logged in.
  const namespace = client.ns?.digest === scanned.ns ? client.ns.of : ('' as Namespace);
  if (result === 'removed' && scanned.state === 'pending')
    emit({ client, namespace, name: decodeName(label), label }, key, { type: 'diagnostic', code: 'unsettled-forgotten' });
  return result;
}
