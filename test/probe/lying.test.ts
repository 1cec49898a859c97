/**
 * Goal: no lying server passes the probe. Method: plays each lie of docs/schemes/servers-that-lie.md over real HTTP.
 * This file names the row that finds each lie. An honest server is accused of none.
 */
import { expect, test } from 'vitest';
import type { ProbeFinding } from '../../src/probe/findings.js';
import type { ProbeRowName } from '../../src/probe/rows.js';
import { exitStatusOf, verdictOf } from '../../src/probe/verdict.js';
import type { Answer } from '../servers/support/http.js';
import { type Asked, type Ledger, type Lie, startLiar } from '../servers/support/liar.js';
import * as lies from '../servers/support/lies.js';
import { findingsOf, probed, TIMES } from './support/probed.js';

const probeLie = async (lie: Lie, times = TIMES) => {
  await using liar = await startLiar(lie, 0);
  return await probed(
    {
      url: () => `${liar.origin}/payments`,
      send: ({ url, key, operation, payload, login }) =>
        payload === 'refused' || payload === 'fails-once' || login !== 'own'
          ? undefined
          : fetch(url, { method: 'POST', headers: { 'idempotency-key': key }, body: JSON.stringify({ order: operation, changed: payload }) }),
      count: () => liar.ledger.effects.length,
    },
    { times },
  );
};

/** By lie: the row that finds it, and its finding. */
const FOUND: readonly (readonly [says: string, lie: Lie, row: ProbeRowName, finding: ProbeFinding, exit: 0 | 1])[] = [
  ['ignores the key, and says nothing', lies.ignores, 'again', 'doubles', 1],
  ['ignores the key, and says so', lies.ignoresAndSaysSo, 'again', 'doubles', 1],
  ['runs concurrent duplicates', lies.racing, 'at-once', 'doubles', 1],
  ['replays another operation’s answer', lies.anothersAnswer, 'first', 'marked-first', 1],
  ['changes a 201 to a 200', lies.changesStatus, 'again', 'other-status', 0],
  ['changes a 201 to a 410', lies.becomesRefusal, 'again', 'no-replay', 0],
  ['replays a 5xx for ever, marked', lies.storesFault, 'first', 'fault-with-effect', 1],
  ['replays a 5xx for ever, unmarked', lies.faults, 'first', 'fault-with-effect', 1],
  ['answers 409 for ever', lies.busy, 'first', 'busy-for-ever', 1],
  ['forgets keys early', lies.forgets, 'after-wait', 'forgets', 1],
  ['answers a false mismatch after success', lies.mismatches, 'again', 'no-replay', 0],
];

// These tests mostly wait, so they run concurrently.
test.concurrent('a server that runs concurrent copies is given no key to resend', async () =>
  expect((await probeLie(lies.racing)).dialect?.code).toBe("'none'"));

test.concurrent.each(FOUND)('the probe finds out a server that %s', async (_, lie, row, finding, exit) => {
  const { rows } = await probeLie(lie);
  expect(findingsOf(rows)[row]).toBe(finding);
  expect(verdictOf(rows)).not.toBe('One effect under every fault that was played.');
  expect(exitStatusOf(rows)).toBe(exit);
});

test('the probe does not accuse an honest server', async () => {
  const { rows, dialect } = await probeLie((asked, ledger) => ledger.honest(asked));
  expect(findingsOf(rows)).toEqual({
    first: 'works',
    again: 'replays-marked',
    'at-once': 'replays-marked',
    'other-payload': 'ignores-payload',
    'answer-cut': 'replays-marked',
    reset: 'replays-marked',
    'after-wait': 'remembers',
    preflight: 'cors-refuses',
  });
  expect(dialect?.code).toBe("defineDialect({\n  name: 'mine',\n  place: inHeader('Idempotency-Key'),\n  replays: true,\n  answersMismatch: false,\n})");
  expect(exitStatusOf(rows)).toBe(0);
});

test('an answer that never comes is not waited for longer than told: the probe asks again', async () => {
  const silentOnce = (asked: Asked, ledger: Ledger): Answer | Promise<Answer> => {
    const given = ledger.honest(asked);
    return asked.number === 2 ? new Promise(() => {}) : given;
  };
  const { rows } = await probeLie(silentOnce, { ...TIMES, answerMs: 500 });
  expect(findingsOf(rows)).toMatchObject({ first: 'works', again: 'replays-marked', 'answer-cut': 'replays-marked' });
});
