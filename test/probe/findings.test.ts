/**
 * Goal: for each finding of the probe there is a server for which it is true. Method: an honest server over real HTTP
 * with one part replaced, and the row that must find it.
 */
import { expect, test } from 'vitest';
import { generic } from '../../src/dialects/generic.js';
import { FINDINGS, type ProbeFinding } from '../../src/probe/findings.js';
import { openProbe } from '../../src/probe/probe.js';
import { rowOf } from '../../src/probe/row.js';
import type { ProbeRowName } from '../../src/probe/rows.js';
import { verdictOf } from '../../src/probe/verdict.js';
import { readPage, tableUnder } from '../docs/support/markdown.js';
import { type Answer, answer } from '../servers/support/http.js';
import { TIMES } from './support/probed.js';
import { MISMATCH, type Parts, startByParts, WORK_MS } from './support/server-by-parts.js';

const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'content-type, idempotency-key' };
const cors = (exposed: string): Partial<Parts> => ({ preflight: answer(204, undefined, CORS), headers: { ...CORS, 'access-control-expose-headers': exposed } });
/** The server is at work until all copies that the row sends at once have arrived. */
const busy = (told: () => Answer): Earned => ({ row: 'at-once', parts: { copies: 10, busy: told } });
/** The server makes the effect, and gives this answer. */
const answers =
  (given: () => Answer): Parts['work'] =>
  (_, effect) => {
    effect();
    return given();
  };
const ignoresKeys: Partial<Parts> = { scope: () => crypto.randomUUID(), work: answers(() => answer(201, { id: crypto.randomUUID() })) };
const keyAlone: Partial<Parts> = { scope: ({ key }) => key };
const plain: Parts['again'] = (stored) => stored;

interface Earned {
  readonly row: ProbeRowName;
  readonly parts?: Partial<Parts>;
  /** The probe cannot count effects. */
  readonly uncounted?: boolean;
}

const EARNED: Readonly<Record<ProbeFinding, Earned>> = {
  works: { row: 'first' },
  'no-effect': { row: 'first', parts: { work: () => answer(201) } },
  'no-answer': { row: 'first', parts: { work: () => undefined } },
  'fault-with-effect': { row: 'first', parts: { work: answers(() => answer(500)) } },
  'refused-with-effect': { row: 'first', parts: { work: answers(() => answer(400)) } },
  'marked-first': { row: 'first', parts: { work: answers(() => answer(201, {}, { 'idempotent-replayed': 'true' })) } },
  'replays-marked': { row: 'again' },
  replays: { row: 'again', parts: { again: plain } },
  'answers-anew': { row: 'again', parts: { again: (stored) => ({ ...stored, body: { state: 'shipped' } }) } },
  'other-status': { row: 'again', parts: { again: (stored) => ({ ...stored, status: 200 }) } },
  'no-replay': { row: 'again', parts: { again: () => answer(410) } },
  'stored-fault': { row: 'again', parts: { again: () => answer(500) } },
  'busy-for-ever': { row: 'again', parts: { again: () => answer(409, undefined, { 'retry-after': '0' }) } },
  doubles: { row: 'again', parts: ignoresKeys },
  'sent-again': { row: 'first', parts: { ...ignoresKeys, delivers: 2 } },
  'called-copy': { row: 'first', parts: { delivers: 2 } },
  'refused-inside': {
    row: 'refusal',
    parts: {
      work: ({ payload }, effect) =>
        payload === 'refused' ? answer(200, { status: 'failed' }) : answers(() => answer(200, { status: 'ok' }))(undefined as never, effect),
    },
  },
  'may-double': { row: 'again', parts: ignoresKeys, uncounted: true },
  'no-retry-after': busy(() => answer(409)),
  'faults-while-busy': busy(() => answer(503)),
  'accepts-while-busy': busy(() => answer(202)),
  'early-success': busy(() => answer(200, { paid: true })),
  'false-success': { row: 'reset', parts: { onGone: () => answer(201) } },
  'never-done': { row: 'reset', parts: { onGone: () => answer(410) } },
  stuck: { row: 'reset', parts: { onGone: () => undefined } },
  'refuses-payload': { row: 'other-payload' },
  'ignores-payload': { row: 'other-payload', parts: { again: plain } },
  'refusal-kept': { row: 'refusal' },
  'refusal-released': { row: 'refusal', parts: { stores: ({ status }) => status < 300 } },
  'refusal-blocks': { row: 'refusal', parts: { scope: ({ order }) => order } },
  'fault-released': { row: 'passing-fault' },
  'fault-forgets-payload': { row: 'changed-after-fault', parts: { keepsPayload: false } },
  'login-first': { row: 'refused-login' },
  'login-burns': { row: 'refused-login', parts: { loginFirst: false } },
  'login-leaks': { row: 'refused-login', parts: { loginFirst: false, stores: ({ status }) => status < 300 } },
  'per-path': { row: 'other-path' },
  'refuses-path': { row: 'other-path', parts: { ...keyAlone, again: () => MISMATCH } },
  'ignores-path': { row: 'other-path', parts: keyAlone },
  'per-account': { row: 'other-account' },
  'refuses-account': { row: 'other-account', parts: { ...keyAlone, again: () => MISMATCH } },
  'account-leak': { row: 'other-account', parts: keyAlone },
  remembers: { row: 'after-wait' },
  forgets: { row: 'after-wait', parts: { keepsMs: 50 } },
  'cors-allows': { row: 'preflight', parts: cors('Idempotent-Replayed, Retry-After') },
  'cors-hides': { row: 'preflight', parts: cors('Retry-After') },
  'cors-refuses': { row: 'preflight' },
  'not-tried': { row: 'killed' },
};

async function found({ row, parts = {}, uncounted }: Earned): Promise<ProbeFinding> {
  await using server = await startByParts(parts);
  const probe = await openProbe(
    {
      url: () => `${server.origin}/payments`,
      elsewhere: () => `${server.origin}/refunds`,
      send: ({ url, key, operation, payload, login }) =>
        fetch(url, { method: 'POST', headers: { 'idempotency-key': key, authorization: login }, body: JSON.stringify({ order: operation, payload }) }),
      ...(!uncounted && { count: () => server.effects }),
    },
    TIMES,
    generic(),
    { workMs: WORK_MS / 3, accepts: false },
  );
  try {
    return (await probe.play(row)).finding;
  } finally {
    await probe.close();
  }
}

test.concurrent.each(Object.entries(EARNED))('%s', async (finding, earned) => expect(await found(earned)).toBe(finding));

test('a server that takes the keys of another origin for new keys makes a second effect', async () => {
  expect(await found({ row: 'preflight', parts: { ...cors('*'), scope: ({ key, origin }) => `${key} ${origin}` } })).toBe('doubles');
});

test('for the honest server, every finding is fine', async () => {
  const fine = Object.entries(EARNED).filter(([, { parts, row }]) => !parts && row !== 'killed' && row !== 'preflight');
  expect(fine.map(([finding]) => FINDINGS[finding as ProbeFinding].severity)).toEqual(fine.map(() => 'fine'));
});

test('docs/probe.md says what to do about each finding that is not as it should be', () => {
  const listed = tableUnder(readPage('docs/probe.md'), '## What to do about each finding').flatMap(([cell = '']) => cell.match(/[a-z-]+/g));
  const amiss = Object.entries(FINDINGS).filter(([, { severity }]) => severity !== 'fine' && severity !== 'not-tried');
  expect(listed.sort()).toEqual(amiss.map(([finding]) => finding).sort());
});

test('the verdict names every row with the worst finding, and claims no effect of a row that had none', () => {
  const row = (name: ProbeRowName, finding: ProbeFinding, effects: number) => rowOf(name, { answers: [], effects, finding });
  const rows = [row('first', 'works', 1), row('again', 'replays-marked', 1), row('at-once', 'stored-fault', 0), row('reset', 'stored-fault', 0)];
  expect(verdictOf(rows)).toBe(
    'No key had two effects; but ten copies at once; the connection reset while the work goes on, then the same key again: this key is answered 5xx for good, whatever happened.',
  );
});
