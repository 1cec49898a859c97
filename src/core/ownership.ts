/** Whether a record still belongs to its driver. */
import type { OnceRecord } from './record.js';

/**
 * Whether no other driver has taken the record. The revision alone does not tell: after a loss of the storage, another driver may have
 * begun again under the same key and with the same revision.
 */
export const isStill = (known: OnceRecord, record: OnceRecord): boolean =>
  record.revision === known.revision && record.createdAt === known.createdAt && (!known.lease || !record.lease || holds(known, record));

/** Whether the lease of `record` is the one that the driver of `known` took. */
export const holds = ({ lease }: OnceRecord, record: OnceRecord): boolean => lease != null && record.lease?.owner === lease.owner;
