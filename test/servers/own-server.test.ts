/**
 * Goal: the server that docs/server.md shows in fifty lines does everything that the page says. Method: runs the page's
 * code in its own process under `serverContract`, which also kills it while it works. The test reads the database
 * directly.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serverContract } from '../../src/testing/server-contract.js';
import { FINDINGS, LOG_IN, serverOfPage } from './support/server-of-page.js';

const server = serverOfPage('docs/server.md', 'server');
const file = join(server.folder, 'shop.db');

/** The parts that the page leaves to its reader: a file, a log-in, a bank. */
const AROUND = `
const file = ${JSON.stringify(file)};
${LOG_IN}const failed = new Set();
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
beforeAll(() => server.start(AROUND));
afterAll(() => server.end());

const report = serverContract({
  name: 'the fifty-line server',
  test,
  ...server.contract,
  count: () => {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
    try {
      return Number(db.prepare('SELECT count(*) AS n FROM charges').get()?.['n']);
    } finally {
      db.close();
    }
  },
});

test('the contract left out no row, and every row has the expected finding', () => {
  expect(report.left).toEqual([]);
  expect(Object.fromEntries(report.rows.map(({ row, finding }) => [row, finding]))).toEqual({ ...FINDINGS, preflight: 'cors-allows' });
});

test('the server has about fifty lines', () => {
  const body = server.code.slice(server.code.indexOf('async function answer'));
  expect(body.trim().split('\n').length).toBeLessThanOrEqual(55);
});
