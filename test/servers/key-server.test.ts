/**
 * Goal: the service that docs/services.md makes with `run` follows the rules of docs/server.md. Method: runs the page's code
 * in its own process under `serverContract`, which also kills it while it works, in front of a ledger that takes keys
 * and counts its entries.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serverContract } from '../../src/testing/server-contract.js';
import { FINDINGS, LOG_IN, serverOfPage } from './support/server-of-page.js';

const service = serverOfPage('docs/services.md', 'key-server');

/** The ledger's answers by key. It works on each key once. */
const answers = new Map<string, Promise<{ readonly status: number; readonly id?: number }>>();
const refusedLogins = new Set<string>();
let entries = 0;

async function enter(card: string): Promise<{ readonly status: number; readonly id?: number }> {
  await new Promise((resolve) => setTimeout(resolve, 60));
  return card === 'declined' ? { status: 402 } : { status: 201, id: ++entries };
}

const ledger = createServer((request, response) => {
  void text(request).then(async (body) => {
    const [key, { card }] = [String(request.headers['idempotency-key']), JSON.parse(body) as { card: string }];
    // The service's own login has expired: a fault that passes.
    if (card === 'fails-once' && !refusedLogins.has(key)) {
      refusedLogins.add(key);
      return void response.writeHead(401).end('{}');
    }
    const known = answers.has(key);
    const making = answers.get(key) ?? enter(card);
    answers.set(key, making);
    const told = await making;
    response.writeHead(told.status, { 'content-type': 'application/json', ...(known && { 'idempotent-replayed': 'true' }) }).end(JSON.stringify(told));
  });
});

beforeAll(async () => {
  await new Promise<void>((listening) => ledger.listen(0, '127.0.0.1', listening));
  // The parts that the page leaves to its reader: a file, a log-in, the ledger's address.
  const { port } = ledger.address() as AddressInfo;
  await service.start(`
    const file = ${JSON.stringify(join(service.folder, 'oncefetch.db'))};
    ${LOG_IN}
    const ledger = 'http://127.0.0.1:${port}';\n`);
});
afterAll(async () => {
  await service.end();
  ledger.closeAllConnections();
  await new Promise((closed) => ledger.close(closed));
});

const report = serverContract({ name: 'the service made with run', test, ...service.contract, count: () => entries });

test('the contract left out no row, and every row has the expected finding', () => {
  expect(report.left).toEqual([]);
  // The page says nothing of other origins: services call it.
  expect(Object.fromEntries(report.rows.map(({ row, finding }) => [row, finding]))).toEqual({ ...FINDINGS, preflight: 'cors-refuses' });
});
