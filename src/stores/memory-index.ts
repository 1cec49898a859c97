/** An index of the records in memory, so that a scan reads only those that it may want: a server may hold a million. */
import type { ScanQuery, Stored } from '../ports.js';
import { isStored } from './base.js';

export interface MemoryIndex {
  /** Adds a record that was stored. */
  enter(record: unknown): void;
  /** Removes a record that is no longer stored. */
  leave(record: unknown): void;
  /** All records that the query asks for, and perhaps others. */
  of(query: ScanQuery): readonly Stored[];
}

/** Records that may be forgotten within the same span of this length are in one group, ms. */
const SPAN_MS = 600_000;

/** An index of `records`; whoever changes those must call `enter` and `leave`. */
export function memoryIndex(_records: ReadonlyMap<string, unknown>): MemoryIndex {
  // One map by namespace for each state: a key that joins the two would be a new text at each write, and would have to be hashed.
  const byState = { pending: new Map<string, Group>(), settled: new Map<string, Group>(), retired: new Map<string, Group>() };
  const bySpan = new Map<number, Group>();
  const regroup = (record: unknown, move: typeof leave) => {
    if (!isStored(record)) return;
    // No query asks for a damaged state, so such a record needs no entry here.
    if (Object.hasOwn(byState, record.state)) move(byState[record.state], record.ns, record);
    move(bySpan, Math.floor(record.forgetAt / SPAN_MS), record);
  };
  return {
    enter: (record) => regroup(record, enter),
    leave: (record) => regroup(record, leave),
    of: (query) =>
      'before' in query
        ? [...bySpan].flatMap(([span, group]) => (span * SPAN_MS < query.before ? [...group] : []))
        : [...(byState[query.state].get(query.ns) ?? [])],
  };
}

/** Records that have something in common. */
type Group = Set<Stored>;

function enter<Key>(groups: Map<Key, Group>, key: Key, record: Stored): void {
  const group = groups.get(key);
  if (group) group.add(record);
  else groups.set(key, new Set([record]));
}

function leave<Key>(groups: Map<Key, Group>, key: Key, record: Stored): void {
  const group = groups.get(key);
  group?.delete(record);
  if (!group?.size) groups.delete(key);
}
