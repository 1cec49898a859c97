/**
 * Goal: the server that docs/server.md shows in fifty lines does everything that the page says. Method: runs the page's
 * code in its own process under `serverContract`, which also kills it while it works. The test reads the database
 * directly.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serverContract } from '../../src/testing/server-contract.js';
import { fencesOf, readPage, root } from '../docs/support/markdown.js';

const made = join(root, '.tmp');
mkdirSync(made, { recursive: true });
const folder = mkdtempSync(join(made, 'own-server-'));
const [main, file] = [join(folder, 'main.ts'), join(folder, 'shop.db')];

/** The parts that the page leaves to its reader: a file, a log-in, a bank. */
const AROUND = `
const file = ${JSON.stringify(file)};
const accountOf = ({ headers }) => /^Bearer (ann|bob)$/.exec(headers.authorization ?? '')?.[1];
const failed = new Set();
async function askTheBank(body, key) {
  await new Promise((resolve) => setTimeout(resolve, 60));
  const { card } = JSON.parse(body);
  if (card === 'fails-once' && !failed.has(key)) {
    failed.add(key);
    throw new Error('the bank does not answer');
  }
  return card !== 'declined';
}
`;
const LISTEN = `server.listen(0, '127.0.0.1', () => process.send(server.address().port));\n`;

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

const code = fencesOf(readPage('docs/server.md')).find(({ wants }) => wants.get('id')?.[0] === 'server')?.code ?? '';

beforeAll(async () => {
  writeFileSync(main, AROUND + code + LISTEN);
  await start();
});
afterAll(async () => {
  await kill();
  rmSync(folder, { recursive: true, force: true });
});

const CARDS = { usual: 'good', changed: 'another', refused: 'declined', 'fails-once': 'fails-once' };
const LOGINS = { own: 'ann', other: 'bob', refused: 'nobody' };

const report = serverContract({
  name: 'the fifty-line server',
  test,
  url: () => `http://127.0.0.1:${port}/payments`,
  elsewhere: () => `http://127.0.0.1:${port}/refunds`,
  send: ({ url, key, operation, payload, login }) =>
    fetch(url, {
      method: 'POST',
      headers: { 'idempotency-key': key, authorization: `Bearer ${LOGINS[login]}` },
      body: JSON.stringify({ cart: operation, card: CARDS[payload] }),
    }),
  count: () => {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    try {
      return Number(db.prepare('SELECT count(*) AS n FROM charges').get()?.['n']);
    } finally {
      db.close();
    }
  },
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
    // The replay is marked only if the kill came after the commit.
    killed: expect.stringMatching(/^replays/),
    refusal: 'refusal-kept',
    'passing-fault': 'fault-released',
    'changed-after-fault': 'refuses-payload',
    'refused-login': 'login-first',
    'other-path': 'refuses-path',
    'other-account': 'per-account',
    'after-wait': 'remembers',
    preflight: 'cors-allows',
  });
});

test('the server has about fifty lines', () => {
  const body = code.slice(code.indexOf('async function answer'));
  expect(body.trim().split('\n').length).toBeLessThanOrEqual(55);
});
