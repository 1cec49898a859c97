/** Joins two operations under one key: a guest's, and the user's of the same name, if the app gave both the same key. */
import { type OnceRecord, type PendingRecord, seal } from './record.js';
import { type AttemptLimits, leaseOfMove } from './retention.js';

/**
 * The user's record (`there`) once the guest's has moved to it. Attempts of either may be on their way, an answer under the key may be the answer to
 * either payload, the server has known the key since the earlier attempt, and what it refused to one says nothing about the other. So a driver of the
 * user's stops, as that of the guest's does. Nothing changes if one of them has ended, or if nothing of the guest's was sent. After a move that was
 * interrupted, `there` may be a copy of the guest's record, which has gone on since under the same random key.
 */
export function joined(there: OnceRecord, moved: OnceRecord, limits: AttemptLimits, now: number): { readonly next?: PendingRecord } {
  if (there.state !== 'pending' || moved.state !== 'pending' || !moved.ambiguous) return {};
  const lease = leaseOfMove(there, true, limits, now);
  return {
    next: seal({
      ...there,
      revision: there.revision + 1,
      payloads: [...moved.payloads.filter((one) => !there.payloads.includes(one)), ...there.payloads],
      lease: (lease?.until ?? 0) < (moved.lease?.until ?? 0) ? moved.lease : lease,
      firstSentAt: Math.min(there.firstSentAt ?? there.createdAt, moved.firstSentAt ?? moved.createdAt),
      windowEndsAt: Math.min(there.windowEndsAt ?? Infinity, moved.windowEndsAt ?? Infinity),
      refusal: undefined,
      refusedOnly: undefined,
    }),
  };
}
