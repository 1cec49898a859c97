/** Records in memory, with an index, so that a scan reads only those that it may want: a server may hold a million. */
import type { ScanQuery, Stored } from '../ports.js';
import { isStored } from './base.js';

export interface MemoryRecords {
  get(id: string): unknown;
  /** Stores a frozen copy of any value, or the value itself if it is frozen; `null` removes the record. */
  set(id: string, value: unknown): void;
  /** All records that the query asks for, and perhaps others. */
  of(query: ScanQuery): readonly Stored[];
}

/** Records that may be forgotten within the same span of this length are in one group, ms. */
const SPAN_MS = 600_000;

export function memoryRecords(): MemoryRecords {
  const records = new Map<string, unknown>();
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
    get: (id) => records.get(id),
    set(id, value) {
      regroup(records.get(id), leave);
      records.delete(id);
      if (value === null) return;
      const copy = frozenCopy(value);
      records.set(id, copy);
      regroup(copy, enter);
    },
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

/** A frozen copy, so that reading needs no copy. A frozen value is not copied: the engine's records are frozen, and nobody changes what is in them. */
function frozenCopy(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return (value as Uint8Array).slice();
  if (typeof value !== 'object' || !value || Object.isFrozen(value)) return value;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  for (const key of Object.keys(copy)) if (typeof copy[key] === 'object') copy[key] = frozenCopy(copy[key]);
  return Object.freeze(copy);
}
