/**
 * Goal: no lying server passes `serverContract`. Method: runs the tests of the contract against each lie, as a test
 * runner would. The tests that must fail do fail, and say why.
 */
import { expect, test } from 'vitest';
import { type ServerContractOptions, serverContract } from '../../src/testing/server-contract.js';
import { type Lie, startLiar } from '../servers/support/liar.js';
import * as lies from '../servers/support/lies.js';

/** The titles of the tests that fail, with their messages. */
async function failuresOf(lie: Lie, options: Partial<ServerContractOptions> = {}) {
  await using liar = await startLiar(lie, 0);
  const tests: { title: string; run: () => Promise<void> }[] = [];
  const report = serverContract({
    name: 'shop',
    test: (title, run) => tests.push({ title, run }),
    url: () => `${liar.origin}/payments`,
    send: ({ url, key, operation, payload, login }) =>
      (payload === 'usual' || payload === 'changed') && login === 'own'
        ? fetch(url, { method: 'POST', headers: { 'idempotency-key': key }, body: JSON.stringify({ operation, payload }) })
        : undefined,
    count: () => liar.ledger.effects.length,
    patienceMs: 300,
    settleMs: 10,
    ...options,
  });
  const failures: string[] = [];
  for (const { title, run } of tests) await run().catch((error: Error) => failures.push(`${title} | ${error.message}`));
  return { failures, report };
}

test('an honest server passes, and the report lists what could not be tested', async () => {
  const { failures, report } = await failuresOf((asked, ledger) => ledger.honest(asked));
  expect(failures).toEqual([]);
  expect(report.left.map(({ because }) => because)).toEqual(
    expect.arrayContaining(['no `restart` was given', 'no `elsewhere` was given', expect.stringContaining('payload: refused')]),
  );
  expect(report.rows.length + report.left.length).toBe(15);
});

test.concurrent.each([
  ['ignores the key', lies.ignores, 'the same key twice', 'more than one effect'],
  ['replays another operation’s answer', lies.anothersAnswer, 'one request', 'the answer to something else'],
  ['refuses what it did', lies.becomesRefusal, 'the same key twice', 'its answer is not given again'],
  ['answers 409 for ever', lies.busy, 'one request', 'still called busy'],
])('a server that %s fails', async (_, lie, title, says) => {
  expect((await failuresOf(lie)).failures.find((failure) => failure.startsWith(`shop: ${title}`))).toContain(says);
});

test('a server that can only refuse second copies passes with replays: false', async () => {
  expect((await failuresOf(lies.becomesRefusal, { replays: false })).failures).toEqual([]);
});

test('a count that never changes lets no test pass', async () => {
  const { failures } = await failuresOf((asked, ledger) => ledger.honest(asked), { count: () => 7 });
  expect(failures.length).toBeGreaterThan(5);
  expect(failures[0]).toContain('No effect was seen');
});

test.each([Number.NaN, undefined, '3', 3n])('a count that gives %s, which is no number, lets no test pass', async (count) => {
  const { failures } = await failuresOf(lies.ignores, { count: () => count as number });
  expect(failures.length).toBeGreaterThan(5);
  expect(failures[0]).toContain(`count must return a number, got ${count}`);
});

test('a `send` that has no usual request lets no test pass', async () => {
  const { failures } = await failuresOf((asked, ledger) => ledger.honest(asked), { send: () => undefined });
  expect(failures.length).toBeGreaterThan(5);
  expect(failures[0]).toContain('there is no such request (payload: usual');
});
