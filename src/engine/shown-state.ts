/** What a screen shows for a stored record. */
import type { OperationKey } from '../core/ids.js';
import { decodeName } from '../core/name.js';
import { readRecord } from '../core/record.js';
import type { Client } from './client.js';
import { endOf, withFacts } from './failure.js';
import { pendingOf } from './observe.js';
import type { OperationState } from './observed.js';
import { recordLeftOpen } from './registry.js';

/** What a screen shows for the stored record. An end without an effect is shown only if it has `justEnded`. */
export function stateOf(client: Client, operationKey: OperationKey, stored: unknown, justEnded = false): OperationState {
  const found = readRecord(stored);
  // This page may know that it is done although the store did not take that, or has lost it.
  const known = recordLeftOpen({ client, operationKey }, client.platform.clock.now(), stored);
  const record = known?.ending ? known : found;
  if (record?.state === 'pending') return { phase: 'unsettled', pending: pendingOf(client, operationKey, record) };
  return record?.ending && (record.state === 'settled' || (justEnded && record.ending.effect === 'none'))
    ? { phase: 'settled', outcome: withFacts({ client, operationKey, name: decodeName(record.label) }, endOf(record, record.ending, false)) }
    : // A new object each time, so that a screen whose read is under way can tell whether the state was set meanwhile.
      { phase: 'idle' };
}
