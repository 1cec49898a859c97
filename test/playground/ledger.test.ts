/** Goal: the page shows what happened. Method: the real process over HTTP, and the clean-up of keys over a real file. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../playground/server/database.ts';
import { IdempotencyKeys } from '../../playground/server/idempotency-keys.ts';
import { type Shop, startShop } from '../../playground/start-shop.ts';

const folder = mkdtempSync(join(tmpdir(), 'oncefetch-page-'));
let shop: Shop;
beforeAll(async () => {
  const page = join(folder, 'page');
  mkdirSync(join(page, 'assets'), { recursive: true });
  writeFileSync(join(page, 'index.html'), '<h1>Shop</h1>');
  writeFileSync(join(page, 'assets', 'app.js'), 'export {};');
  writeFileSync(join(folder, 'secret.txt'), 'not for the web');
  shop = await startShop({ 'charge-ms': 0, 'window-ms': 800, public: page });
});
afterAll(async () => {
  await shop.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => post('/api/reset', {}));

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(shop.url + path, { method: 'POST', body: JSON.stringify(body), headers });
const get = async (path: string) => (await fetch(shop.url + path)).json();
const pay = (lane: string, cart: string, key?: string) =>
  post('/api/payments', { cart, amount: 100, card: '4242' }, { 'x-lane': lane, ...(key !== undefined && { 'Idempotency-Key': key }) });

describe('the ledger', () => {
  test('counts wanted, made, duplicates, lost and open per lane', async () => {
    const intents = ['once', 'twice', 'believed', 'gave-up', 'trying', 'declined'].map((cart) => ({ lane: 'plain', cart }));
    await post('/api/intents', { intents: [...intents, { lane: 'once', cart: 'a' }] });
    await pay('plain', 'once');
    await pay('plain', 'twice');
    await pay('plain', 'twice');
    await pay('plain', 'nobody-asked');
    await pay('once', 'a', 'k1');
    for (const [cart, ended] of [
      ['once', 'done'],
      ['believed', 'done'],
      ['gave-up', 'gave-up'],
      ['declined', 'refused'],
    ])
      await post('/api/intents', { lane: 'plain', cart, ended });
    const ledger = await get('/api/ledger');
    expect(ledger.lanes).toEqual([
      { lane: 'once', wanted: 1, made: 1, duplicates: 0, lost: 0, open: 0 },
      { lane: 'plain', wanted: 5, made: 4, duplicates: 2, lost: 2, open: 1 },
    ]);
    expect(ledger.carts.filter((one: { lane: string }) => one.lane === 'plain')).toEqual(
      expect.arrayContaining([
        { lane: 'plain', cart: 'twice', ended: null, made: 2 },
        { lane: 'plain', cart: 'believed', ended: 'done', made: 0 },
        { lane: 'plain', cart: 'declined', ended: 'refused', made: 0 },
      ]),
    );
    expect(ledger.rows.map((row: { lane: string; cart: string; key: string | null; nth: number }) => [row.lane, row.cart, row.key, row.nth])).toEqual([
      ['once', 'a', 'k1', 1],
      ['plain', 'nobody-asked', null, 1],
      ['plain', 'twice', null, 2],
      ['plain', 'twice', null, 1],
      ['plain', 'once', null, 1],
    ]);
  });

  test('refuses an unknown end of a cart', async () => expect((await post('/api/intents', { lane: 'plain', cart: 'c', ended: 'perhaps' })).status).toBe(400));

  test('shows an order as open, then as paid, in its own lane only', async () => {
    expect((await get('/api/orders/by-cart/c%201')).state).toBe('open');
    await pay('plain', 'c 1', 'k1');
    expect(await get('/api/orders/by-cart/c%201')).toMatchObject({ state: 'paid', charges: [{ amount: 100 }] });
    expect((await get('/api/orders/by-cart/c%201?lane=once')).state).toBe('open');
  });

  test('is empty after a reset', async () => {
    await pay('plain', 'c1', 'k1');
    await post('/api/reset', {});
    expect(await get('/api/ledger')).toEqual({ lanes: [], carts: [], rows: [] });
  });
});

describe('the key window', () => {
  test('ends: then the key charges again, and both charges are there', async () => {
    await pay('plain', 'c1', 'k1');
    expect((await pay('plain', 'c1', 'k1')).headers.get('Idempotent-Replayed')).toBe('true');
    await new Promise((resolve) => setTimeout(resolve, 820));
    expect((await pay('plain', 'c1', 'k1')).headers.get('Idempotent-Replayed')).toBeNull();
    expect(shop.query('SELECT key FROM charges')).toEqual([{ key: 'k1' }, { key: 'k1' }]);
  });

  test('ends: old keys are removed in batches, but not a key with work under way', () => {
    const db = openDatabase(join(folder, 'keys.db'));
    const keys = new IdempotencyKeys(db, { boot: 'now', windowMs: 1000 });
    const insert = db.prepare(`INSERT INTO idempotency_keys VALUES (?, 'f', ?, 'c', 'l', ?, ?)`);
    const old = Date.now() - 1000;
    for (let count = 0; count < 25; count++) insert.run(`old-${count}`, 'before', old, '{}');
    insert.run('young', 'before', Date.now(), '{}');
    insert.run('under-way', 'now', old, null);
    insert.run('abandoned', 'before', old, null);
    expect([keys.cleanUp(10), keys.cleanUp(10), keys.cleanUp(10), keys.cleanUp(10)]).toEqual([10, 10, 6, 0]);
    expect(db.prepare('SELECT key FROM idempotency_keys ORDER BY key').all()).toEqual([{ key: 'under-way' }, { key: 'young' }]);
    db.close();
  });

  test('a key that another process took over cannot be settled, so that the late process rolls its charge back', () => {
    const db = openDatabase(join(folder, 'takeover.db'));
    const request = { key: 'k1', method: 'POST', path: '/p', body: '{}', lane: 'l', cart: 'c' };
    const before = new IdempotencyKeys(db, { boot: 'before', windowMs: 1000 });
    const now = new IdempotencyKeys(db, { boot: 'now', windowMs: 1000 });
    expect([before.take(request), now.take(request)]).toEqual([undefined, undefined]);
    expect(() => before.settle('k1', { status: 201, headers: {}, body: 'late' })).toThrow(/taken over/);
    before.release('k1');
    now.settle('k1', { status: 201, headers: {}, body: 'mine' });
    expect(before.take(request)?.body).toBe('mine');
    db.close();
  });
});

describe('the page', () => {
  test('is served beside the API, with its content types', async () => {
    const page = await fetch(`${shop.url}/`);
    expect([page.headers.get('content-type'), await page.text()]).toEqual(['text/html; charset=utf-8', '<h1>Shop</h1>']);
    expect((await fetch(`${shop.url}/assets/app.js`)).headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect((await fetch(`${shop.url}/missing.js`)).status).toBe(404);
  });

  test.each(['/..%2fsecret.txt', '/%2e%2e/secret.txt', '/assets/..%2f..%2fsecret.txt', '/%00', '/%E0%A4%A', '/assets'])('does not serve %s', async (path) => {
    expect((await fetch(shop.url + path)).status).toBe(404);
  });
});

test('a supervisor whose server cannot start gives up instead of starting it forever', async () => {
  await expect(startShop({ db: join(folder, 'no', 'such', 'folder.db') })).rejects.toThrow('the shop did not start');
});
