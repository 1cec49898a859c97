/**
 * Goal: a payment through another HTTP client over oncefetch takes effect once, and the caller can read its outcome.
 * Method: each client talks to a real HTTP server, through faults. The places where its outcomes can be read make the table in
 * docs/clients.md (`UPDATE_DOCS=1` writes it).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import axios from 'axios';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createOnce as createOnceOfPages } from '../../src/entries/index.js';
import { createOnce, memoryStore, type Once, type OnceOptions, type Outcome, outcomeOf } from '../../src/entries/node.js';
import { type ClientCase, clients, type Order } from './support/clients.js';
import { openShop, type Shop } from './support/shop.js';

const NAME = ['pay', 'c-42'] as const;
const ORDER: Order = { cart: 'c-42', card: 'good' };
const DECLINED: Order = { cart: 'c-42', card: 'declined' };

let shop: Shop;
beforeEach(async () => void (shop = await openShop()));
afterEach(() => shop.close());

interface Paid {
  readonly outcomes: readonly Outcome[];
  readonly end: { readonly given: unknown } | { readonly thrown: unknown };
}

const onceOf = ({ options }: ClientCase, outcomes: Outcome[], more: OnceOptions = {}): Once =>
  createOnce({
    store: memoryStore(),
    namespace: 'ann',
    retry: { minDelayMs: 1, maxDelayMs: 2 },
    limits: { attemptMs: 2000, totalMs: 10_000 },
    onOutcome: (outcome) => outcomes.push(outcome),
    ...options,
    ...more,
  });

async function pay(one: ClientCase, order: Order = ORDER, more: OnceOptions = {}): Promise<Paid> {
  const outcomes: Outcome[] = [];
  const once = onceOf(one, outcomes, more);
  const end = await one.pay({ once, origin: shop.origin, order, name: NAME }).then(
    (given) => ({ given }),
    (thrown: unknown) => ({ thrown }),
  );
  return { outcomes, end };
}

const endOf = ({ end }: Paid): unknown => ('given' in end ? end.given : end.thrown);
/** The outcome on the value itself, or on the `error` inside it: some clients return an error instead of throwing it. */
const readable = (value: unknown): Outcome | undefined => outcomeOf(value) ?? outcomeOf((value as { error?: unknown } | undefined)?.error);
const keys = () => new Set(shop.server.requests.map(({ key }) => key));

type Row = Record<'success' | 'refusal' | 'unknown', string>;
const rows = new Map<string, Row>(clients.map(({ client }) => [client, { success: '', refusal: '', unknown: '' }]));
const note = ({ client }: ClientCase, column: keyof Row, paid: Paid): void => {
  const value = endOf(paid);
  const thrown = 'thrown' in paid.end;
  const how = outcomeOf(value) ? (thrown ? 'outcomeOf(error)' : 'outcomeOf(result)') : readable(value) ? 'outcomeOf(result.error)' : undefined;
  (rows.get(client) as Row)[column] = how ? `\`${how}\`` : 'only `onOutcome`';
};

describe.each(clients)('$client', (one) => {
  test('an answer lost after the charge: charges once and returns the charge', async () => {
    shop.server.faults.next('lose-response');
    const paid = await pay(one);
    expect('given' in paid.end && one.charge(paid.end.given)).toBe('ch_1');
    expect([shop.server.effects.length, shop.server.requests.length, keys().size]).toEqual([1, 2, 1]);
    expect(paid.outcomes).toMatchObject([{ effect: 'done', attempts: 2 }]);
    note(one, 'success', paid);
  });

  test('a 409 "still in progress": waits and charges once', async () => {
    shop.server.faults.next({ name: 'in-progress', retryAfter: 0 });
    const paid = await pay(one);
    expect('given' in paid.end && one.charge(paid.end.given)).toBe('ch_1');
    expect([shop.server.effects.length, shop.server.requests.length, keys().size]).toEqual([1, 2, 1]);
  });

  test('a server that hangs after the charge: charges once', async () => {
    shop.server.faults.next('hang-after-commit');
    const paid = await pay(one, ORDER, { limits: { attemptMs: 700, totalMs: 10_000 } });
    expect('given' in paid.end && one.charge(paid.end.given)).toBe('ch_1');
    expect([shop.server.effects.length, shop.server.requests.length, keys().size]).toEqual([1, 2, 1]);
  });

  test('two calls at once with the same name: charge once, and both get the charge', async () => {
    const once = onceOf(one, []);
    const both = await Promise.all([1, 2].map(() => one.pay({ once, origin: shop.origin, order: ORDER, name: NAME })));
    expect(both.map(one.charge)).toEqual(['ch_1', 'ch_1']);
    expect(shop.server.effects).toHaveLength(1);
  });

  test('a refusal: charges nothing; its outcome is none, or unknown under a key that is not random', async () => {
    const paid = await pay(one, DECLINED);
    expect(shop.server.effects).toEqual([]);
    expect('given' in paid.end && paid.end.given instanceof Response === false && one.charge(paid.end.given)).toBeFalsy();
    const outcome = readable(endOf(paid));
    // A refusal under a key that is not random proves nothing: an earlier record of the same key may have been lost.
    const effect = one.name === 'its own key' ? 'unknown' : 'none';
    expect(paid.outcomes.at(-1)?.effect).toBe(effect);
    if (outcome) expect(outcome.effect).toBe(effect);
    note(one, 'refusal', paid);
  });

  test('no answer although the server charged: the outcome is unknown, and the result is no success', async () => {
    shop.server.faults.next('lose-response', 'lose-response', 'lose-response', 'lose-response', 'lose-response');
    const paid = await pay(one, ORDER, { limits: { attempts: 2 } });
    expect(paid.outcomes).toMatchObject([{ effect: 'unknown' }]);
    expect('given' in paid.end && one.charge(paid.end.given)).toBeFalsy();
    const outcome = readable(endOf(paid));
    if (outcome) expect(outcome.effect).toBe('unknown');
    expect(shop.server.effects).toHaveLength(1);
    note(one, 'unknown', paid);
  });
});

describe('axios', () => {
  const over = (once: Once) => axios.create({ adapter: 'fetch', env: { fetch: once.fetch as typeof fetch } });
  const misplaced = { once: NAME } as object;

  test('passes on what oncefetch says of a call without a name: a TypeError with the word fetch in it would be its "Network Error"', async () => {
    const http = over(createOnceOfPages({ store: memoryStore() }));
    for (const options of [{}, misplaced, { fetchOptions: { once: { operation: NAME, verdict: () => undefined } } }])
      await expect(http.post(`${shop.origin}/pay`, ORDER, options)).rejects.toThrow(/^once: .* needs .*createOnce/);
    expect(shop.server.requests).toEqual([]);
  });

  test('drops a name that is not in fetchOptions, so that with unnamed() each press has its own effect, as docs/migrating.md warns', async () => {
    const http = over(createOnce({ store: memoryStore() }));
    for (const options of [misplaced, misplaced]) await http.post(`${shop.origin}/pay`, ORDER, options);
    expect(shop.server.effects).toHaveLength(2);
  });
});

const PAGE = join(import.meta.dirname, '../../docs/clients.md');
const [BEGIN, END] = ['<!-- table: test/clients -->\n', '<!-- end of table -->'];
const HOW: Record<ClientCase['name'], string> = {
  option: '`once` per call',
  'operation()': '`operation` of the client',
  'its own key': 'the key that it sets',
  run: '`run`',
};

function table(): string {
  const cells = clients.map(({ client, name }) => {
    const row = rows.get(client) as Row;
    return [client, HOW[name], row.success, row.refusal, row.unknown];
  });
  const head = ['client', 'the name', 'outcome of a success', 'of a refusal', 'of an unknown end'];
  return `${[head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
}

afterAll(() => {
  // If only some of the tests ran, the table has gaps.
  if ([...rows.values()].some((row) => Object.values(row).includes(''))) return;
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(BEGIN);
  const [shown, after] = rest.split(END);
  if (process.env['UPDATE_DOCS']) writeFileSync(PAGE, `${before}${BEGIN}${table()}${END}${after}`);
  else expect(shown, 'docs/clients.md shows another table; UPDATE_DOCS=1 writes it').toBe(table());
});
