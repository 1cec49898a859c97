/**
 * Goal: a user can prove "one click, one charge" in ten lines, those of the example at `idempotentServer`. Method: run that
 * example; then the same proof must fail for a client without keys.
 */
import { http } from 'msw';
import { setupServer } from 'msw/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createOnce, memoryStore, outcomeOf } from '../../src/entries/index.js';
import { idempotentServer } from '../../src/testing/idempotent-server.js';
import { seededRandom } from '../../src/testing/seeded-random.js';

const server = idempotentServer({ url: '/api/payments', retryAfter: 0 });
const network = setupServer(...server.handlers(http));
beforeEach(() => network.listen({ onUnhandledFrame: 'error' }));
afterEach(() => {
  network.close();
  server.reset();
});

const quick = { store: memoryStore(), retry: { minDelayMs: 1, maxDelayMs: 5 }, limits: { attempts: 10 } };
const once = createOnce(quick);
const checkout = ({ cart }: { cart: string }, client = once) =>
  client.fetch('http://shop.example/api/payments', { method: 'POST', body: JSON.stringify({ cart }), once: ['pay', cart] });

test('one click, one charge', async () => {
  server.faults.next('lose-response', 'unavailable-after-commit', 'truncate');
  await checkout({ cart: 'c-42' });
  expect(server.requests).toHaveLength(4);
  expect(server.effects).toHaveLength(1);
});

test('the same proof fails for a fetch that retries without a key', async () => {
  server.faults.next('lose-response', 'unavailable-after-commit', 'truncate');
  const attempt = async () => {
    const response = await fetch('http://shop.example/api/payments', { method: 'POST', body: '{"cart":"c-42"}' });
    await response.text();
    return response.ok;
  };
  while (!(await attempt().catch(() => false)));
  expect(server.effects).toHaveLength(4);
});

test('two clicks in one tick are one charge, and both get its answer', async () => {
  const [first, second] = await Promise.all([checkout({ cart: 'c-43' }), checkout({ cart: 'c-43' })]);
  expect(await first.json()).toEqual(await second.json());
  expect(server.effects).toHaveLength(1);
});

describe.each(['over MSW', 'over server.fetch'] as const)('%s, under random faults', (way) => {
  const client = way === 'over MSW' ? once : createOnce({ ...quick, fetch: server.fetch });

  test('each of 60 carts is charged once, and every outcome is true', async () => {
    const random = seededRandom(60);
    for (const fault of ['lose-request', 'lose-response', 'truncate', 'unavailable', 'unavailable-after-commit', 'duplicate', 'in-progress'] as const)
      server.faults.rate(fault === 'in-progress' ? { name: fault, retryAfter: 0 } : fault, 0.08, random);
    const carts = Array.from({ length: 60 }, (_, index) => `${way} ${index}`);
    const ends = await Promise.all(carts.map((cart) => checkout({ cart }, client).then(outcomeOf, outcomeOf)));
    expect(server.requests.filter(({ fate }) => fate !== 'none').length).toBeGreaterThan(20);
    expect(new Set(ends.map((outcome) => outcome?.effect))).toEqual(new Set(['done']));
    expect(server.effects.map(({ body }) => (body as { cart: string }).cart).sort()).toEqual([...carts].sort());
  });
});
