/**
 * Replaces `memory-records.ts` in production pages. A page keeps few records in memory, so a scan reads all of them. It neither copies nor
 * checks them: only the engine stores records there, and it never changes one that it has made.
 */
import type { Stored } from '../ports.js';
import type * as full from './memory-records.js';

export const memoryRecords: typeof full.memoryRecords = () => {
  const records = new Map<string, Stored>();
  return {
    get: (id) => records.get(id),
    set: (id, value) => void (value === null ? records.delete(id) : records.set(id, value as Stored)),
    of: () => [...records.values()],
  };
};
