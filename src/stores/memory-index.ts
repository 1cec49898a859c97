/** Which records in memory a scan may want, so that it looks at these and at no others: a server holds a million. */
import type { ScanQuery, Stored } from '../ports.js';
import { isStored } from './base.js';

export interface MemoryIndex {
  /** A record is stored. */
  enter(record: unknown): void;
  /** It is there no more. */
  leave(record: unknown): void;
  /** All that the query asks for, and more. */
  of(query: ScanQuery): readonly Stored[];
}

/** Records that are forgotten within the same span are looked through together, ms. */
const SPAN_MS = 600_000;

/** The index of `records`, which tells it of each change. */
export function memoryIndex(_records: ReadonlyMap<string, unknown>): MemoryIndex {
  const byState = new Map<string, Group>();
  const bySpan = new Map<number, Group>();
  const stateOf = ({ ns, state }: Pick<Stored, 'ns' | 'state'>) => `${state} ${ns}`;
  const regroup = (record: unknown, move: typeof leave) => {
    if (!isStored(record)) return;
    move(byState, stateOf(record), record);
    move(bySpan, Math.floor(record.forgetAt / SPAN_MS), record);
  };
  return {
    enter: (record) => regroup(record, enter),
    leave: (record) => regroup(record, leave),
    of: (query) =>
      'before' in query ? [...bySpan].flatMap(([span, group]) => (span * SPAN_MS < query.before ? [...group] : [])) : [...(byState.get(stateOf(query)) ?? [])],
  };
}

/** Records that have something in common. */
type Group = Set<Stored>;

function enter<Key>(groups: Map<Key, Group>, key: Key, record: Stored): void {
  groups.set(key, (groups.get(key) ?? new Set()).add(record));
}

function leave<Key>(groups: Map<Key, Group>, key: Key, record: Stored): void {
  const group = groups.get(key);
  group?.delete(record);
  if (!group?.size) groups.delete(key);
}
