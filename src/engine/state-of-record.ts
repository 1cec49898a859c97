/** The state that a screen shows for a stored record, and what lists say of one that is pending. */

import type { OperationKey } from '../core/ids.js';
import { decodeName } from '../core/name.js';
import { type OnceRecord, readRecord } from '../core/record.js';
import type { Json } from '../option-types.js';
import { keyedOperationOf } from './address.js';
import type { Client } from './client.js';
import { endOf, withFacts } from './failure.js';
import { lastKnownOf } from './last-known.js';
import type { OperationState, PendingOperation } from './shown-state.js';

export const pendingOf = ({ registry, parts, settings }: Client, operationKey: OperationKey, record: OnceRecord, inFlight = false): PendingOperation => ({
  name: decodeName(record.label),
  key: record.key,
  createdAt: record.createdAt,
  firstSentAt: record.firstSentAt,
  sent: record.ambiguous ? 'maybe' : 'no',
  expiresAt: (!record.link && record.windowEndsAt) || record.forgetAt,
  retryAt: record.retryAt,
  // What a `dialect` function gives for the request shows when it is resumed.
  resumable:
    (!!settings.dialectOf || settings.dialect.name === record.dialect) &&
    (registry.payloads.has(keyedOperationOf(operationKey, record.key)) || !!(record.request && parts.requests)),
  inFlight,
  meta: record.meta as Json | undefined,
  cursor: JSON.stringify([record.label, record.id]),
});

/** What a screen shows for the stored record. An end without an effect is shown only if it has `justEnded`. */
export function stateOf(client: Client, operationKey: OperationKey, stored: unknown, justEnded = false): OperationState {
  const found = readRecord(stored);
  // This page may know that it is done although the store did not take that, or has lost it. What is open, a log-out may have removed; but a damaged record
  // is there, and may have taken effect.
  const known = lastKnownOf({ client, operationKey }, client.platform.clock.now(), stored);
  const record = known?.ending || stored ? (known ?? found) : undefined;
  if (record?.state === 'pending') {
    const pending = pendingOf(client, operationKey, record);
    // What only this page knows, because the record is damaged, no `resume` finds.
    return { phase: 'unsettled', pending: found ? pending : { ...pending, resumable: false } };
  }
  return record?.ending && (record.state === 'settled' || (justEnded && record.ending.effect === 'none'))
    ? { phase: 'settled', outcome: withFacts({ client, operationKey, name: decodeName(record.label) }, endOf(record, record.ending, false)) }
    : // A new object each time, so that a screen whose read is under way can tell whether the state was set meanwhile.
      { phase: 'idle' };
}
