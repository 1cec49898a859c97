/**
 * Goal: a key makes one charge, whenever a SIGKILL comes. Method: kills the real process from outside. A fault holds
 * the server at a chosen moment, which the test recognises in the SQLite file: the row of the key is there (before the
 * commit), or the charge is (after it).
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Shop, startShop } from '../../playground/start-shop.ts';
import { seededRandom } from '../../src/testing/seeded-random.js';

// Long enough for two attempts to overlap on a busy machine.
const CHARGE_MS = 600;
let shop: Shop;
beforeAll(async () => void (shop = await startShop({ 'charge-ms': CHARGE_MS })));
afterAll(() => shop.stop());
beforeEach(() => fetch(`${shop.url}/api/reset`, { method: 'POST' }));

const pay = (key: string, cart = 'c1', { amount = 4200, url = shop.url, fault = undefined as string | undefined } = {}) =>
  fetch(`${url}/api/payments`, {
    method: 'POST',
    body: JSON.stringify({ cart, amount, card: '4242' }),
    headers: { 'Idempotency-Key': key, ...(fault && { 'x-fault': fault }) },
  });
const charges = () => shop.query('SELECT key FROM charges');
const taken = () => shop.query('SELECT answer FROM idempotency_keys');
const replayed = (response: Response) => response.headers.get('Idempotent-Replayed');

/** Kills the server during a payment, as soon as its file has the rows of `moment`. A fault keeps the server from getting any further. */
async function killedAt(moment: () => readonly unknown[]): Promise<void> {
  const fault = moment === taken ? 'slow; ms=60000' : 'hang-after-commit';
  const { pid, boot } = await shop.health();
  const paying = expect(pay('k1', 'c1', { fault })).rejects.toThrow();
  await expect.poll(moment, { interval: 5 }).toHaveLength(1);
  process.kill(pid, 'SIGKILL');
  await paying;
  await shop.restarted(boot);
}

describe('a SIGKILL', () => {
  test('before the commit leaves a key without an answer and no charge; the next attempt takes it over', async () => {
    await killedAt(taken);
    expect([charges(), taken()]).toEqual([[], [{ answer: null }]]);
    expect(await (await fetch(`${shop.url}/api/orders/by-cart/c1`)).json()).toMatchObject({ state: 'processing' });
    // Of two attempts that find the abandoned key, only one takes it over.
    const answers = await Promise.all([pay('k1'), pay('k1')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(answers.map(replayed)).toEqual([null, null]);
    expect(charges()).toHaveLength(1);
  });

  test('after the commit leaves the charge with its answer, which is replayed', async () => {
    await killedAt(charges);
    expect(charges()).toHaveLength(1);
    const next = await pay('k1');
    expect([next.status, replayed(next)]).toEqual([201, 'true']);
    expect(charges()).toHaveLength(1);
  });

  test('does not let another payload take the abandoned key over', async () => {
    await killedAt(taken);
    expect((await pay('k1', 'c1', { amount: 1 })).status).toBe(422);
    expect(charges()).toEqual([]);
  });

  test('ten times while 20 customers pay leaves each with exactly one charge', { timeout: 240_000 }, async () => {
    const CUSTOMERS = 20;
    const quick = await startShop({ 'charge-ms': 60 });
    const random = seededRandom(20);
    const customer = async (cart: string) => {
      while ((await pay(cart, cart, { url: quick.url }).catch(() => undefined))?.status !== 201) await new Promise((resolve) => setTimeout(resolve, 30));
    };
    // The customers pay one after another, so that each kill catches them at different points.
    const customers = Promise.all(
      Array.from({ length: CUSTOMERS }, async (_, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * 150));
        await customer(`c${index}`);
      }),
    );
    for (let count = 0; count < 10; count++) {
      await new Promise((resolve) => setTimeout(resolve, random() * 120));
      await quick.kill();
    }
    await customers;
    expect(quick.query('SELECT cart FROM charges')).toHaveLength(CUSTOMERS);
    expect(quick.query('SELECT DISTINCT cart FROM charges')).toHaveLength(CUSTOMERS);
    await quick.stop();
  });
});
