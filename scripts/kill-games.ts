/** What the games `kill-pages` and `kill-outbox` share: the faults of the shop, its ledger, and the wait until it is idle. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Shop } from '../playground/start-shop.ts';

const LANE = 'oncefetch';

/** The faults, each with its probability for a request. */
const FAULTS = {
  'lose-response': 0.12,
  'unavailable-after-commit': 0.08,
  'lose-request': 0.08,
  truncate: 0.06,
  duplicate: 0.05,
  'kill-after-commit': 0.01,
  kill: 0.01,
};

/** Makes the shop inject the faults from now on. */
export async function injectFaults(shop: Shop): Promise<void> {
  for (const [fault, rate] of Object.entries(FAULTS)) {
    const answer = await fetch(`${shop.url}/api/faults`, { method: 'POST', body: JSON.stringify({ lane: LANE, fault, rate }) });
    if (!answer.ok) throw new Error(`/api/faults: ${answer.status} ${await answer.text()}`);
  }
}

/** Waits until the server is idle in `looks` looks, one every `everyMs`: it may still charge for a request that the client gave up on. */
export async function calm(shop: Shop, looks: number, everyMs: number): Promise<void> {
  for (let quiet = 0; quiet < looks; ) {
    const { busy } = await shop.health().catch(() => ({ busy: 1 }));
    quiet = busy === 0 ? quiet + 1 : 0;
    await sleep(everyMs);
  }
}

export const chargesOf = (shop: Shop, cart: string): readonly { readonly id: number }[] =>
  shop.query<{ id: number }>('SELECT id FROM charges WHERE lane = ? AND cart = ?', LANE, cart);

export const keysOf = (shop: Shop, cart: string): readonly unknown[] => shop.query('SELECT key FROM idempotency_keys WHERE lane = ? AND cart = ?', LANE, cart);
