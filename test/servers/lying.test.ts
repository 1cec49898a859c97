/**
 * Goal: docs/schemes/servers-that-lie.md says truly what oncefetch does when a server lies. Method: plays each lie over
 * real HTTP. The row of the page says how the call ends, and after how many requests and effects; the test compares it
 * with the server's ledger.
 */
import type { OnceOptions, OperationOptions } from 'oncefetch';
import { expect, test } from 'vitest';
import { readPage, tableUnder } from '../docs/support/markdown.js';
import { startLiar } from './support/liar.js';
import {
  anothersAnswer,
  becomesRefusal,
  busy,
  changesStatus,
  faults,
  forgets,
  ignores,
  ignoresAndSaysSo,
  mismatches,
  racing,
  racingWith,
  storesFault,
} from './support/lies.js';
import { type Case, told } from './support/told.js';

const found: OnceOptions['reconcile'] = async () => 'done';
const checked = (order: string): OperationOptions => ({
  verdict: ({ status, json }) => (status < 300 && (json as { order?: string }).order !== order ? 'ambiguous' : undefined),
});

const CASES: Readonly<Record<string, Case>> = {
  'ignores the key, and says nothing': { lie: ignores, lose: 1 },
  "ignores the key; with `dialect: 'none'`": { lie: ignores, lose: 1, options: { dialect: 'none' } },
  'ignores the key, and says so': { lie: ignoresAndSaysSo },
  'runs concurrent duplicates; two clicks': { lie: racing, settles: true, presses: 'two at once', options: { limits: { attemptMs: 8000, totalMs: 20_000 } } },
  'runs concurrent duplicates; `attemptMs` is shorter than its work': {
    lie: racingWith(2),
    settles: true,
    options: { limits: { attempts: 2, attemptMs: 250 } },
  },
  'runs concurrent duplicates; `attemptMs` is longer than its work': {
    lie: racing,
    settles: true,
    lose: 1,
    options: { limits: { attemptMs: 8000, totalMs: 20_000 } },
  },
  'replays another operation’s answer': { lie: anothersAnswer },
  'replays another operation’s answer; with a `verdict` that looks': { lie: anothersAnswer, once: checked('o-1') },
  'changes a 201 to a 200': { lie: changesStatus, lose: 1 },
  'changes a 201 to a 410': { lie: becomesRefusal, lose: 1 },
  'changes a 201 to a 410; with `reconcile`': { lie: becomesRefusal, lose: 1, options: { reconcile: found } },
  'replays a 5xx for ever, marked': { lie: storesFault },
  'replays a 5xx for ever, unmarked': { lie: faults },
  'answers 409 for ever': { lie: busy, lose: 1 },
  'answers 409 for ever; the call after': { lie: busy, lose: 1, presses: 2 },
  'answers 409 for ever; with `reconcile`': { lie: busy, lose: 1, options: { reconcile: found } },
  'forgets keys early': { lie: forgets, lose: 1, options: { limits: { attempts: 1 } }, presses: 2, pauseMs: 150 },
  'forgets keys early; with `limits.keyWindowMs`': {
    lie: forgets,
    lose: 1,
    options: { limits: { attempts: 1, attemptMs: 50, keyWindowMs: 60 } },
    presses: 2,
    pauseMs: 150,
  },
  'answers a false mismatch after success': { lie: mismatches, lose: 1 },
  'answers a false mismatch after success; with `reconcile`': { lie: mismatches, lose: 1, options: { reconcile: found } },
};

const rows = tableUnder(readPage('docs/schemes/servers-that-lie.md'), '## What happens');

test.each(Object.entries(CASES))('a server that %s', async (name, one) => {
  await using liar = await startLiar(one.lie, one.lose ?? 0);
  const said = rows.find(([server]) => server === name);
  const [, , ends = '', requests = '', effects = '', raises = ''] = said ?? [];
  expect(await told(one, liar)).toEqual({ ends: ends.replaceAll('`', ''), requests, effects: Number(effects), raises: raises.replaceAll('`', '') });
});

test('the page has a row for each of these lies, and no others', () => expect(rows.map(([server]) => server)).toEqual(Object.keys(CASES)));
