/** Names in leases, and whether the process behind one is gone. */
import { readRecord } from '../core/record.js';
import type { Store } from '../ports.js';
import type { Client, OperationRun } from './client.js';
import { readStored, storeForOperation, timed, updateStored } from './record-access.js';

/** Gives the client its name in leases: where the store can tell which processes are gone, it begins with the name of this one. */
export async function nameOwner(client: Client, store: Store): Promise<void> {
  if (client.owner) return;
  // Without a holder's name, the lease of a dead process has to run out.
  const holder = store.holder && (await timed(client, store.holder()).catch(() => undefined));
  const own = client.platform.randomness.uuid();
  // Another call may have set a name meanwhile, and its lease bears that one: keep it.
  client.owner ??= holder ? `${holder}.${own}` : own;
}

/** Ends the lease of a driver whose process is gone; true when there is none any more. Never rejects. */
export async function freeFromTheGone({ client, operationKey, id }: Pick<OperationRun, 'client' | 'operationKey' | 'id'>): Promise<boolean> {
  // Without the deadline of a call.
  const place = { client, operationKey, id };
  try {
    const store = storeForOperation(place);
    const owner = store.isGone && readRecord(await readStored(place))?.lease?.owner;
    const [holder = '', own] = owner?.split('.') ?? [];
    if (!store.isGone || own === undefined || owner === client.owner || !(await timed(client, store.isGone(holder)))) return false;
    return await updateStored<boolean>(place, (stored) => {
      const record = readRecord(stored);
      return record && record.lease?.owner === owner ? { next: { ...record, lease: undefined }, value: true } : { value: false };
    });
  } catch {
    return false;
  }
}
