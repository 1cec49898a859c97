/**
 * Goal: the service that docs/services.md makes with `run` follows the rules of docs/server.md. Method: runs the page's code
 * in its own process under `serverContract`, which also kills it while it works, in front of a ledger that takes keys
 * and counts its entries.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serverContract } from '../../src/testing/server-contract.js';
import { fencesOf, readPage, root } from '../docs/support/markdown.js';

const made = join(root, '.tmp');
mkdirSync(made, { recursive: true });
const folder = mkdtempSync(join(made, 'key-server-'));
const main = join(folder, 'main.ts');

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

const code = fencesOf(readPage('docs/services.md')).find(({ wants }) => wants.get('id')?.[0] === 'key-server')?.code ?? '';
let server: ChildProcess;
let port = 0;

async function start(): Promise<void> {
  server = spawn(process.execPath, [main], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  port = await new Promise<number>((resolve, reject) => {
    server.once('message', (message) => resolve(Number(message)));
    server.once('exit', () => reject(new Error('the server ended')));
  });
}

async function kill(): Promise<void> {
  if (server.exitCode !== null) return;
  const gone = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGKILL');
  await gone;
}

beforeAll(async () => {
  await new Promise<void>((listening) => ledger.listen(0, '127.0.0.1', listening));
  // The parts that the page leaves to its reader: a file, a log-in, the ledger's address.
  const around = `
    const file = ${JSON.stringify(join(folder, 'oncefetch.db'))};
    const accountOf = ({ headers }) => /^Bearer (ann|bob)$/.exec(headers.authorization ?? '')?.[1];
    const ledger = 'http://127.0.0.1:${(ledger.address() as AddressInfo).port}';\n`;
  const listen = `server.listen(0, '127.0.0.1', () => process.send(server.address().port));\n`;
  writeFileSync(main, around + code + listen);
  await start();
});
afterAll(async () => {
  await kill();
  ledger.closeAllConnections();
  await new Promise((closed) => ledger.close(closed));
  rmSync(folder, { recursive: true, force: true });
});

const CARDS = { usual: 'good', changed: 'another', refused: 'declined', 'fails-once': 'fails-once' };
const LOGINS = { own: 'ann', other: 'bob', refused: 'nobody' };

const report = serverContract({
  name: 'the service made with run',
  test,
  url: () => `http://127.0.0.1:${port}/payments`,
  elsewhere: () => `http://127.0.0.1:${port}/refunds`,
  send: ({ url, key, operation, payload, login }) =>
    fetch(url, {
      method: 'POST',
      headers: { 'idempotency-key': key, authorization: `Bearer ${LOGINS[login]}` },
      body: JSON.stringify({ cart: operation, card: CARDS[payload] }),
    }),
  count: () => entries,
  restart: async () => {
    await kill();
    await start();
  },
  settleMs: 20,
  afterMs: 300,
});

test('the contract left out no row, and every row has the expected finding', () => {
  expect(report.left).toEqual([]);
  expect(Object.fromEntries(report.rows.map(({ row, finding }) => [row, finding]))).toEqual({
    first: 'works',
    again: 'replays-marked',
    'at-once': 'replays-marked',
    'other-payload': 'refuses-payload',
    'answer-cut': 'replays-marked',
    reset: 'replays-marked',
    // The replay is marked only if the kill came after the result was stored.
    killed: expect.stringMatching(/^replays/),
    refusal: 'refusal-kept',
    'passing-fault': 'fault-released',
    'changed-after-fault': 'refuses-payload',
    'refused-login': 'login-first',
    'other-path': 'refuses-path',
    'other-account': 'per-account',
    'after-wait': 'remembers',
    // The page says nothing of other origins: services call it.
    preflight: 'cors-refuses',
  });
});
