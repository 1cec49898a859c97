/**
 * Goal: what oncefetch does when a server lies is known, and said in docs/schemes/servers-that-lie.md. Method: each lie over
 * real HTTP; the page's own row says how it ends, after how many requests and effects, and is held against the ledger.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { close, createOnce, memoryStore, type OnceEvent, type OnceOptions, type OperationOptions, outcomeOf, reconciling, subscribe } from 'oncefetch';
import { expect, test } from 'vitest';
import { readPage, tableUnder } from '../docs/support/markdown.js';
import { type Liar, type Lie, startLiar } from './support/liar.js';
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
  OTHER,
  racing,
  storesFault,
  WORK_MS,
} from './support/lies.js';

interface Case {
  readonly lie: Lie;
  /** Of the first answers, so many are lost. */
  readonly lose?: number;
  readonly options?: OnceOptions;
  readonly once?: OperationOptions;
  /** Calls one after the other, or at once. */
  readonly presses?: number | 'two at once';
  readonly pauseMs?: number;
}

/** More requests than attempts: what is waited for, however often that is. */
const MANY = 4;
const found: OnceOptions['reconcile'] = async () => 'done';
const checked = (order: string): OperationOptions => ({
  verdict: ({ status, json }) => (status < 300 && (json as { order?: string }).order !== order ? 'ambiguous' : undefined),
});

const CASES: Readonly<Record<string, Case>> = {
  'ignores the key, and says nothing': { lie: ignores, lose: 1 },
  "ignores the key; with `dialect: () => 'none'`": { lie: ignores, lose: 1, options: { dialect: () => 'none' } },
  'ignores the key, and says so': { lie: ignoresAndSaysSo },
  'runs concurrent duplicates; two clicks': { lie: racing, presses: 'two at once' },
  'runs concurrent duplicates; `attemptMs` is shorter than its work': { lie: racing, options: { limits: { attempts: 2, attemptMs: 100 } } },
  'runs concurrent duplicates; `attemptMs` is longer than its work': { lie: racing, lose: 1 },
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

const LIMITS = { attempts: 4, attemptMs: 1000, totalMs: 5000, inProgressMs: 700 };

/** How the last call ended, in the words of the page. */
async function told(one: Case, liar: Liar) {
  const { options, presses = 1, pauseMs = 0 } = one;
  const events: string[] = [];
  const once = createOnce({
    use: [reconciling()],
    namespace: 'till',
    store: memoryStore(),
    retry: { minDelayMs: 5, maxDelayMs: 20 },
    ...options,
    limits: { ...LIMITS, ...options?.limits },
  });
  const hears = (event: OnceEvent) => {
    if (event.type === 'diagnostic') events.push(event.code);
    if (event.type === 'settled' || event.type === 'unknown') events.push(event.type);
  };
  subscribe(once, hears);
  const pay = () =>
    once
      .fetch(`${liar.origin}/payments`, { method: 'POST', body: '{"order":"o-1"}', once: { operation: ['pay', 'o-1'], ...one.once } })
      .catch((error: unknown) => error);
  let last: unknown;
  if (presses === 'two at once') [last] = await Promise.all([pay(), pay()]);
  else
    for (let press = 0; press < presses; press++) {
      if (press > 0) await sleep(pauseMs);
      last = await pay();
    }
  // What timed out may still be at work.
  if (one.lie === racing) await sleep(2 * WORK_MS);
  await close(once);
  const outcome = outcomeOf(last);
  const why = outcome?.type === 'unknown' ? outcome.reason : outcome?.type === 'fresh' && !outcome.certain ? 'not certain' : outcome?.type;
  const { length } = liar.requests;
  return {
    ends: `${outcome?.effect}: ${why}`,
    requests: length > MANY ? 'many' : String(length),
    effects: liar.ledger.effects.filter((key) => key !== OTHER).length,
    raises: [...new Set(events)].join(', '),
  };
}

const rows = tableUnder(readPage('docs/schemes/servers-that-lie.md'), '## What happens');

test.each(Object.entries(CASES))('a server that %s', async (name, one) => {
  await using liar = await startLiar(one.lie, one.lose ?? 0);
  const said = rows.find(([server]) => server === name);
  const [, , ends = '', requests = '', effects = '', raises = ''] = said ?? [];
  expect(await told(one, liar)).toEqual({
    ends: ends.replaceAll('`', ''),
    requests,
    effects: Number(effects),
    raises: raises.replaceAll('`', ''),
  });
});

test('the page has these rows, and no others', () => {
  expect(rows.map(([server]) => server)).toEqual(Object.keys(CASES));
});
