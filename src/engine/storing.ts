/** Reads and writes of one operation's record, each within its time. */
import { readRecord, type OnceRecord } from '../core/record.js';
import { STORE_TIMEOUT_MS } from '../options.js';
import type { Changed, Durability, Store } from '../ports.js';
import type { Client, Job } from './client.js';
import { diagnose } from './observe.js';
import { within } from './wait.js';

/** Where this operation's record lives. */
export const storeOf = (client: Client, slot: string): Store => client.registry.degraded.get(slot) ?? client.store;

export const storedIn = (store: Store): 'disk' | 'session' | 'memory' => (store.survives === 'context' ? 'memory' : 'disk');

export const timed = <T>(client: Client, work: Promise<T>): Promise<T> => within(client.platform.clock, STORE_TIMEOUT_MS, work, () => new Error(`the store did not answer within ${STORE_TIMEOUT_MS} ms`));

export const readStored = (client: Client, slot: string, id: string): Promise<unknown> => timed(client, storeOf(client, slot).read(id));

export const updateStored = <T>(client: Client, slot: string, id: string, change: (stored: unknown, now: number) => Changed<T>, durability: Durability = 'relaxed'): Promise<T> =>
  timed(client, storeOf(client, slot).update(id, change, { durability }));

/**
 * Writes over the record this driver knows, if it is still that one; `false` when it is not or the store fails: a late
 * writer changes nothing. `next` gives `null` to remove.
 */
export async function commit(job: Pick<Job, 'client' | 'slot' | 'id' | 'name' | 'label'>, known: OnceRecord, next: (now: number) => OnceRecord | null): Promise<boolean> {
  const { client, slot, id } = job;
  try {
    return await updateStored<boolean>(client, slot, id, (stored) => {
      const record = stored === undefined ? undefined : readRecord(stored);
      const mine = record?.state === 'pending' && record.key === known.key && record.revision === known.revision;
      return mine ? { next: next(client.platform.clock.now()), value: true } : { value: false };
    });
  } catch (error) {
    diagnose(client, job, known.key, 'store-write', `what became of the operation could not be stored: ${String(error)}`);
    return false;
  }
}
