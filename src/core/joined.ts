/** Joins two operations under one key: a guest's, and the user's of the same name, if the app gave both the same key. */
import { type OnceRecord, type PendingRecord, seal } from './record.js';
import { type AttemptLimits, leaseOfMove, mayArrive } from './retention.js';

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

/** How likely a record stands for an effect, from least to most: ended without one, never sent, a key in use, maybe sent, done. */
export function weightOf({ state, ambiguous, keyInUse, previous }: OnceRecord): number {
  if (state === 'settled') return 4;
  if (state === 'pending' && ambiguous) return 3;
  if (keyInUse || previous?.keyInUse) return 2;
  return state === 'pending' ? 1 : 0;
}

/**
 * Whether the guest's record (`moved`) more likely stands for an effect than the user's of the same key. `left`: as it was before the move. What an
 * interrupted move has copied may have ended as none when no attempt of the guest's could arrive any more: then none took effect. If the guest has gone on
 * since, that end says nothing of it.
 */
export function outweighs(moved: OnceRecord, there: OnceRecord, left: OnceRecord, limits: AttemptLimits): boolean {
  const { random, ending, keyInUse, touchedAt } = there;
  const isOver = !moved.lease && moved.touchedAt <= touchedAt && !mayArrive({ ...moved, lease: left.lease }, limits, touchedAt);
  return moved.ambiguous && weightOf(there) < weightOf(moved) && !(random && ending?.effect === 'none' && !keyInUse && isOver);
}
