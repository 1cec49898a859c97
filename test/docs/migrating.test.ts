/**
 * Goal: docs/migrating.md maps every retry option of ky and p-retry, and invents none; and what it says of stripe-node's own retries is true. Method: reads
 * their published types; calls stripe-node.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Stripe from 'stripe';
import { expect, test } from 'vitest';
import { readPage, root, tableUnder } from './support/markdown.js';
import { membersOf } from './support/public-types.js';

const rows = tableUnder(readPage('docs/migrating.md'), '<!-- table: options of others -->');
const namesIn = (column: number): readonly string[] => [
  ...new Set(rows.flatMap((row) => [...(row[column] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name))),
];
const optionsIn = (path: string): readonly string[] =>
  // Members end with a semicolon, which tells them apart from parameters.
  [...readFileSync(join(root, 'node_modules', path), 'utf8').matchAll(/^\s+(?:readonly )?(\w+)\?: .*;$/gm)].map(([, name = '']) => name);

test('every retry option of ky is there', () => {
  const options = optionsIn('ky/distribution/types/retry.d.ts');
  expect(options).toContain('limit');
  // These are options of ky itself and of its hooks, not of `retry`.
  expect([...namesIn(1)].sort()).toEqual([...options, 'timeout', 'totalTimeout', 'beforeRetry', 'signal'].sort());
});

test('every option of p-retry is there', () => {
  const options = optionsIn('p-retry/index.d.ts');
  expect(options).toContain('retries');
  expect([...namesIn(3)].sort()).toEqual([...options].sort());
});

test('the options of oncefetch that it names exist', () => {
  const ours = new Set(['OnceOptions', 'OperationOptions', 'Limits'].flatMap((type) => membersOf(type).map(({ name }) => name)));
  const named = rows.flatMap((row) => [...(row[4] ?? '').matchAll(/`(?:limits\.)?(attempts|attemptMs|totalMs|retry|headers|verdict)(?=[.`])/g)]);
  expect(named.length).toBeGreaterThan(6);
  expect(named.map(([, name = '']) => name).filter((name) => !ours.has(name))).toEqual([]);
});

test('stripe-node sends a POST up to twice again, under a key that is random for each call, as the guide says', async () => {
  const page = readPage('docs/migrating.md').text;
  expect(page).toMatch(
    /## From stripe-node's own retries\s+stripe-node sends a POST again by itself, up to twice \(`maxNetworkRetries`\), under a key that it draws for each call/,
  );
  const keys: (string | null)[] = [];
  const answers = [503, 200, 200];
  const httpClient = Stripe.createFetchHttpClient(async (_, init) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    return Response.json({ id: 'pi_1', object: 'payment_intent' }, { status: answers.shift() as number });
  });
  const stripe = new Stripe('sk_test_1', { httpClient, telemetry: false });
  expect((stripe as unknown as { getMaxNetworkRetries(): number }).getMaxNetworkRetries()).toBe(2);
  for (let call = 0; call < 2; call++) await stripe.paymentIntents.create({ amount: 4200, currency: 'eur' });
  const [first, again, second] = keys;
  expect(first).toMatch(/^stripe-node-retry-/);
  expect([again, keys.length]).toEqual([first, 3]);
  expect(second).not.toBe(first);
});
