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

/** What a call has seen of its operation, and of its store's clock. All copies of an `OperationRun` share this object, so all know what one has seen. */
export interface Seen {
  /**
   * Since when the record may have been removed unseen, ms since 1970: since the call read its request, or saw the record while another context drove.
   * `Infinity` before that, and after an end without an effect. `-Infinity` once something may have been sent, here or there: then a record that is
   * missing was removed, and that does not mean that nothing was sent.
   */
  at: number;
  /**
   * By how much the store's clock is ahead of this device's, ms; unknown (0, or that of the call before) until the claim. It can't be set once and for
   * all: somebody may set this device's clock during the call, which shows when the lease is renewed.
   */
  aheadMs: number;
  record?: OnceRecord | undefined;
  /** The call may send nothing any more, because of what {@link see} saw. */
  over?: boolean | undefined;
}

/**
 * Notes the record that a call finds. The call is over if something may have been sent for the record that it has seen before, and `found` is of an
 * operation that began after somebody had removed that one. Then `found` has another key, and no higher revision: while a record is there, its revision
 * only rises. The one exception is an ended record that comes back in place of the one that had replaced it.
 */
export function see(seen: Seen, found: OnceRecord | undefined, at = seen.at): void {
  const { record } = seen;
  seen.over ||= seen.at < 0 && record && found && record.key !== found.key && record.revision >= found.revision && record.previous?.key !== found.key;
  seen.at = at;
  seen.record = found ?? record;
}
