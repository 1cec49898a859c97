/** The rows of the list: operations that are stored, that this page drives, or that it has heard of. */
import type { OperationName, OperationState } from 'oncefetch';
import type { Label, Namespace, OperationKey } from '../core/ids.js';
import type { OnceRecord } from '../core/record.js';
import { leaseHolds } from '../core/retention.js';
import { addressOf } from '../engine/address.js';
import type { Client, OperationAddress } from '../engine/client.js';
import type { Stored, StoredIn } from './stored.js';
import { type Step, type Timeline, trackOf } from './timeline.js';

/** `sending`, `waiting`: this page drives it. `elsewhere`: another tab, worker or process does. `gone`: it has ended, and nothing of it is stored. */
export type Status = 'sending' | 'waiting' | 'elsewhere' | 'unsettled' | 'done' | 'none' | 'forgotten' | 'gone';

export interface Row {
  readonly id: string;
  readonly operation: OperationName;
  /** The name as it is shown. */
  readonly name: string;
  readonly status: Status;
  readonly key: string;
  readonly track: string;
  readonly state: OperationState | undefined;
  readonly record: OnceRecord | undefined;
  readonly storedIn: StoredIn | undefined;
  /** When the operation was last heard of; wall clock, ms. */
  readonly at: number;
}

/** What a button acts on: one operation of one user, and whether it has ended or may have been sent. */
export const stampOf = (id: string, record: OnceRecord | undefined): string => JSON.stringify([id, record?.key, record?.state, record?.ambiguous]);

/** The headings of the list, and the statuses under each. */
export const GROUPS: readonly (readonly [heading: string, statuses: readonly Status[]])[] = [
  ['Under way', ['sending', 'elsewhere']],
  ['Waiting', ['waiting']],
  ['Unsettled', ['unsettled']],
  ['Settled', ['done', 'none', 'forgotten', 'gone']],
];

/** A name in readable form. */
const shownName = (operation: OperationName): string => (operation.length ? operation.join(' / ') : 'without a name');

const ENDS: Readonly<Record<'settled' | 'retired', (record: OnceRecord) => Status>> = {
  settled: () => 'done',
  retired: ({ ending }) => (ending?.effect === 'none' ? 'none' : 'forgotten'),
};

/** The status if this page drives the operation; otherwise `undefined`. */
function ownStatus(client: Client, id: OperationKey, state: OperationState | undefined): Status | undefined {
  if (!client.registry.flights.has(id)) return undefined;
  if (state?.phase !== 'waiting') return 'sending';
  return state.why === 'another-context' ? 'elsewhere' : 'waiting';
}

/** The time of the last step; 0 if there is none. */
const lastAt = (steps: readonly Step[]): number => steps.at(-1)?.at ?? 0;

export function rowsOf(client: Client, stored: Stored, timeline: Timeline): readonly Row[] {
  if (stored.namespace === undefined) return [];
  const namespace = stored.namespace as Namespace;
  const { states, flights } = client.registry;
  const rows = new Map<string, Row>();
  const tracks = new Set<string>();
  const add = (
    { operationKey: id, label, name: operation }: OperationAddress,
    rest: Pick<Row, 'key' | 'record' | 'storedIn'> & { status: Status; at: number },
  ): void => {
    const state = states.get(id)?.state;
    const track = trackOf(label, rest.key);
    const at = Math.max(rest.at, lastAt(timeline.of(track)));
    tracks.add(track);
    rows.set(id, { ...rest, id, operation, name: shownName(operation), track, state, at, status: ownStatus(client, id, state) ?? rest.status });
  };
  for (const { record, storedIn } of stored.found) {
    const { label, key, state, lease, touchedAt: at } = record;
    const address = addressOf(client, label, namespace, record);
    const busy = stored.held?.some(({ name }) => name === address.lock) || (leaseHolds(lease, client.platform.clock.now()) && lease.owner !== client.owner);
    const status = state === 'pending' ? (busy ? 'elsewhere' : 'unsettled') : ENDS[state](record);
    add(address, { record, storedIn, key, status, at });
  }
  for (const id of flights.keys()) {
    const [scope, of, label, key] = JSON.parse(id) as [string, string, Label, string];
    if (scope !== client.store.scope || of !== namespace || rows.has(id)) continue;
    add(addressOf(client, label, namespace, { key }), { record: undefined, storedIn: undefined, key, status: 'sending', at: client.platform.clock.now() });
  }
  for (const track of timeline.tracks) {
    const steps = timeline.of(track);
    if (tracks.has(track) || steps.every(({ is }) => is === 'diagnostic')) continue;
    const label = (track.startsWith('~') ? '~' : track) as Label;
    const { key } = steps.at(-1) as Step;
    add(addressOf(client, label, namespace, { key }), { record: undefined, storedIn: undefined, key, status: 'gone', at: 0 });
  }
  return [...rows.values()].sort((a, b) => b.at - a.at);
}
