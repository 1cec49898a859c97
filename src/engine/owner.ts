/** Names in leases, and what to do when the process behind one is gone. */
import { type OnceRecord, readRecord } from '../core/record.js';
import type { Store } from '../ports.js';
import type { Client, OperationRun } from './client.js';
import { readStored, storeForOperation, timed, updateStored } from './record-access.js';

/** Gives the client its name in leases. If the store can tell which processes are gone, the name begins with the holder's name of this process. */
export async function nameOwner(client: Client, store: Store): Promise<void> {
  if (client.owner) return;
  // Without a holder's name, others can't tell whether this process is gone, and must wait until its lease runs out.
  const holder = store.holder && (await timed(client, store.holder()).catch(() => undefined));
  const own = client.platform.randomness.uuid();
  // Another call may have set the name meanwhile and have taken a lease under it: keep that name.
  client.owner ??= holder ? `${holder}.${own}` : own;
}

/** Whether the store knows that the process which took the record's lease is gone. Never rejects. */
export async function isOwnerGone(place: Pick<OperationRun, 'client' | 'operationKey'>, { lease }: Pick<OnceRecord, 'lease'>): Promise<boolean> {
  const { client } = place;
  const store = storeForOperation(place);
  const [holder = '', own] = lease?.owner.split('.') ?? [];
  if (!store.isGone || own === undefined || lease?.owner === client.owner) return false;
  try {
    return await timed(client, store.isGone(holder));
  } catch {
    return false;
  }
}

/**
 * Ends the lease of a driver whose process is gone. `true` if that was done. Never rejects. The lease stays in the record, because the last
 * attempt of that driver may still be on its way: until it has ended, nobody may claim that none took effect.
 */
export async function freeFromDeadOwner({ client, operationKey, id }: Pick<OperationRun, 'client' | 'operationKey' | 'id'>): Promise<boolean> {
  // The deadline of a call is left out on purpose: this has the store's full time.
  const place = { client, operationKey, id };
  try {
    const found = storeForOperation(place).isGone && readRecord(await readStored(place));
    if (!found || !(await isOwnerGone(place, found))) return false;
    return await updateStored<boolean>(place, (stored, now) => {
      const record = readRecord(stored);
      if (!record?.lease || record.lease.owner !== found.lease?.owner) return { value: false };
      return { next: { ...record, lease: { ...record.lease, until: Math.min(record.lease.until, now) } }, value: true };
    });
  } catch {
    return false;
  }
}
