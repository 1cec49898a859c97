/** A key for each cart, kept in the page, and three tries: the first thing that teams write. */
import { bodyOf, HEADERS, type Pay, sleep, URL_ } from './lane.ts';

const keys = new Map<string, string>();

export const keyInAMap: Pay = async (order) => {
  const key = keys.get(order.name) ?? crypto.randomUUID();
  keys.set(order.name, key);
  for (let attempt = 1; attempt <= 3; attempt++) {
    if (attempt > 1) await sleep(500 * 2 ** (attempt - 2));
    try {
      const response = await fetch(URL_, { method: 'POST', headers: { ...HEADERS, 'idempotency-key': key }, body: bodyOf(order) });
      if (response.ok) return 'done';
      if (response.status < 500 && response.status !== 409) return 'none';
    } catch {
      // Nothing to do: the next attempt uses the same key.
    }
  }
  return 'none';
};
