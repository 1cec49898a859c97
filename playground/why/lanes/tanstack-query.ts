/** A mutation of TanStack Query with `retry`. Its key is made when the customer presses, and stays the same across retries. */
import { MutationObserver, QueryClient } from '@tanstack/query-core';
import { bodyOf, HEADERS, type Order, type Pay, URL_ } from './lane.ts';

const queries = new QueryClient();

async function post({ key, order }: { readonly key: string; readonly order: Order }): Promise<unknown> {
  const response = await fetch(URL_, { method: 'POST', headers: { ...HEADERS, 'idempotency-key': key }, body: bodyOf(order) });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return response.json();
}

export const tanstackQuery: Pay = (order) => {
  const mutation = new MutationObserver(queries, { mutationFn: post, retry: 3, retryDelay: (failures) => 500 * 2 ** failures });
  return mutation.mutate({ key: crypto.randomUUID(), order }).then(
    () => 'done' as const,
    () => 'none' as const,
  );
};
