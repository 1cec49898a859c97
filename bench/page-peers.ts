/** Compares oncefetch in a page with the peers that survive a reload: how long until the request is safe in the store, and the first byte leaves. */
import { createOnce, indexedDbStore } from 'oncefetch';
import { answer, answered } from './lib/answers.ts';
import { elapsed, FirstByte, inTurns, type Rounds, WARM } from './lib/turns.ts';

const BODY = JSON.stringify({ amount: 1, pad: 'x'.repeat(180) });

/**
 * Workbox's queue needs a service worker's registration. Without background sync, it stores requests in the same
 * database and replays them when it starts.
 */
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

function oncefetch(): { toFirstByte: () => Promise<number>; whole: () => Promise<number> } {
  const first = new FirstByte(answer);
  const once = createOnce({ namespace: 'bench', store: indexedDbStore({ name: `peers-${Math.random()}` }), fetch: first.fetch });
  const headers = { 'content-type': 'application/json' };
  let n = 0;
  const call = async (): Promise<unknown> =>
    (await once.fetch('/api/payments', { method: 'POST', headers, body: BODY, once: ['pay', ++n, Math.random()] })).json();
  return { toFirstByte: answered(() => first.of(call)), whole: answered(() => elapsed(call)) };
}

async function peers(rounds: number, calls: number): Promise<Rounds> {
  const [offline, ours] = [await tanstack(), oncefetch()];
  return inTurns(
    {
      'workbox-background-sync: to be stored': await workbox(),
      'offline-transactions: to the first byte': offline.toFirstByte,
      'offline-transactions: whole': offline.whole,
      'oncefetch, IndexedDB: to the first byte': ours.toFirstByte,
      'oncefetch, IndexedDB: whole': ours.whole,
    },
    rounds,
    calls,
    WARM,
  );
}

Object.assign(globalThis, { benchPeers: peers });
