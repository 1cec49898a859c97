/**
 * Goal: what the shop of docs/ssr.md says is true, even if its process died halfway. Method: the shop's own code and a
 * simulated bank; a dying process is one that skips what comes next.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'once-shop-'));
let paid = 0;
let lost = 0;
const bank = createServer(async (request, response) => {
  const { card } = JSON.parse(await text(request)) as { card: string };
  if (lost-- > 0) return void response.destroy();
  const good = card !== 'declined';
  response.writeHead(good ? 201 : 402, { 'content-type': 'application/json' }).end(JSON.stringify(good ? { id: ++paid } : { code: 'card_declined' }));
});
let shop: typeof import('../frameworks/shop/payments.js');
beforeAll(async () => {
  await new Promise<void>((listening) => bank.listen(0, '127.0.0.1', listening));
  vi.stubEnv('BANK', `http://127.0.0.1:${(bank.address() as AddressInfo).port}`);
  vi.stubEnv('DATABASE', join(folder, 'shop.db'));
  shop = await import('../frameworks/shop/payments.js');
});
afterAll(() => {
  vi.unstubAllEnvs();
  bank.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The process dies after the bank's answer is stored, and before the payment is booked. */
const dieBeforeBooking = (cart: string, card: string) =>
  vi.spyOn(Response.prototype, 'json').mockImplementationOnce(() => new Promise<never>(() => {})) && void shop.charge('ann', cart, card);

test('a card is declined, and a process charges the next card but dies before it books the payment: the page does not say "not paid"', async () => {
  await shop.charge('ann', 'c-1', 'declined');
  expect(await shop.said('ann', 'c-1')).toBe('Not paid. Nothing was charged.');
  dieBeforeBooking('c-1', 'good');
  await expect.poll(() => paid).toBe(1);
  await expect.poll(() => shop.said('ann', 'c-1')).not.toContain('Not sure');
  expect(await shop.said('ann', 'c-1')).not.toContain('Not paid');

  // The next process starts with empty memory.
  delete (globalThis as { [of: symbol]: unknown })[Symbol.for('oncefetch')];
  await shop.charge('ann', 'c-1', 'good');
  expect(await shop.said('ann', 'c-1')).toBe('Paid. Receipt no. 1.');
  expect(paid).toBe(1);
});

test('the page does not say "not paid" either if `bank` makes the charge, as `formAction` does', async () => {
  await shop.charge('ann', 'c-3', 'declined');
  await shop.bank('k-3', 'c-3', 'good');
  expect(await shop.said('ann', 'c-3')).not.toContain('Not paid');
});

test('a customer who pays again with another card is told "Paid"', async () => {
  const before = paid;
  await shop.charge('ann', 'c-2', 'good');
  expect((await shop.charge('ann', 'c-2', 'another')).status).toBe(200);
  expect(await shop.said('ann', 'c-2')).toContain('Paid.');
  expect(paid).toBe(before + 1);
});

test('the answer is lost, and the next answer is a refusal: the browser gets a 504, and the page says "Not sure yet" instead of "not paid"', async () => {
  lost = 1;
  expect((await shop.charge('ann', 'c-4', 'declined')).status).toBe(504);
  expect(await shop.said('ann', 'c-4')).toContain('Not sure yet.');
});
