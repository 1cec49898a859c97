/** The peers that survive a reload, in a page: how long until the request is safe in the store, and the first byte leaves. */
import { answer, answered } from './lib/answers.ts';
import { elapsed, FirstByte, inTurns, type Rounds } from './lib/turns.ts';

const BODY = JSON.stringify({ amount: 1, pad: 'x'.repeat(180) });

/** Its queue asks for a service worker's registration; without background sync it is kept in the same database and replayed at start. */
async function workbox(): Promise<() => Promise<number>> {
  Object.assign(globalThis, { registration: {} });
  const { Queue } = await import('workbox-background-sync' as string);
  const queue = new Queue('bench', { forceSyncFallback: true, onSync: async () => {} });
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
  return () => elapsed(() => queue.pushRequest({ request: new Request('/api/payments', { method: 'POST', headers, body: BODY }) }));
}

async function tanstack(): Promise<{ toFirstByte: () => Promise<number>; whole: () => Promise<number> }> {
  const { createCollection, localOnlyCollectionOptions } = await import('@tanstack/db' as string);
  const { startOfflineExecutor } = await import('@tanstack/offline-transactions' as string);
  const payments = createCollection(localOnlyCollectionOptions({ id: 'payments', getKey: ({ id }: { id: string }) => id }));
  const first = new FirstByte(answer);
  const offline = startOfflineExecutor({ collections: { payments }, mutationFns: { pay: () => first.fetch() } });
  await offline.waitForInit?.();
  const call = async (): Promise<void> => {
    const transaction = offline.createOfflineTransaction({ mutationFnName: 'pay', autoCommit: false });
    transaction.mutate(() => payments.insert({ id: crypto.randomUUID(), body: BODY }));
    await transaction.commit();
  };
  return { toFirstByte: answered(() => first.of(call)), whole: answered(() => elapsed(call)) };
}

async function peers(rounds: number, calls: number): Promise<Rounds> {
  const { toFirstByte, whole } = await tanstack();
  return inTurns(
    { 'workbox-background-sync: to be stored': await workbox(), 'offline-transactions: to the first byte': toFirstByte, 'offline-transactions: whole': whole },
    rounds,
    calls,
  );
}

Object.assign(globalThis, { benchPeers: peers });
