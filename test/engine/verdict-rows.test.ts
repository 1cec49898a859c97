/**
 * Goal: the rules behind docs/verdicts.md, through the real engine: what the caller gets, what the record becomes, and which key goes out next, both clean and
 * after an attempt whose end is unknown. Method: each row's evidence is the first answer, or the answer after a lost one; a second call then shows which key
 * is in force.
 */
import { describe, expect, test } from 'vitest';
import type { Verdict } from '../../src/entries/index.js';
import { answers, charged, cut, type Entry, hangs, idle, lost, replays, shaped, unreachable } from '../support/server.js';
import { newWorld, pay } from '../support/world.js';

/** `in-use`: retired, and the next call sends the same key. */
type Record_ = 'pending' | 'settled' | 'retired' | 'in-use' | 'none';

interface Told {
  readonly effect: 'done' | 'none' | 'unknown';
  readonly reason?: string;
  /** How many attempts the call makes. The last one meets this row's evidence. */
  readonly attempts: number;
  readonly record: Record_;
}

interface Row {
  readonly row: number | string;
  readonly evidence: string;
  /** What each attempt meets, however many the call makes. */
  readonly entry: Entry;
  readonly clean: Told;
  readonly after: Told;
}

const stop = (reason: string): Pick<Row, 'clean' | 'after'> => ({
  clean: { effect: 'unknown', reason, attempts: 1, record: 'pending' },
  after: { effect: 'unknown', reason, attempts: 2, record: 'pending' },
});
const retried = (reason: string): Pick<Row, 'clean' | 'after'> => ({
  clean: { effect: 'unknown', reason, attempts: 3, record: 'pending' },
  after: { effect: 'unknown', reason, attempts: 3, record: 'pending' },
});
const refused: Pick<Row, 'clean' | 'after'> = {
  clean: { effect: 'none', attempts: 1, record: 'in-use' },
  after: { effect: 'unknown', reason: 'refused-after-ambiguity', attempts: 2, record: 'pending' },
};
const declined: Pick<Row, 'clean' | 'after'> = { ...refused, clean: { ...refused.clean, record: 'retired' } };
const done: Pick<Row, 'clean' | 'after'> = {
  clean: { effect: 'done', attempts: 1, record: 'settled' },
  after: { effect: 'done', attempts: 2, record: 'settled' },
};

const HTML = { 'content-type': 'text/html' };
const ROWS: Row[] = [
  {
    row: 1,
    evidence: 'never sent',
    entry: unreachable(),
    clean: { effect: 'none', attempts: 3, record: 'none' },
    after: { effect: 'unknown', reason: 'no-answer', attempts: 3, record: 'pending' },
  },
  { row: 2, evidence: 'a rejected fetch', entry: lost(), ...retried('no-answer') },
  { row: 2, evidence: 'a timeout', entry: hangs(), ...retried('no-answer') },
  { row: 2, evidence: 'a cut body', entry: cut(201), ...retried('no-answer') },
  ...(
    [
      ['an opaque answer', shaped(answers(200), { status: 0, type: 'opaque' })],
      ['an opaque redirect', shaped(answers(200), { status: 0, type: 'opaqueredirect' })],
      ['status 0', shaped(answers(200), { status: 0 })],
      ["fetch's error response", () => Response.error()],
      ['an unfollowed 302', answers(302, '', { location: '/login' })],
      ['an unfollowed 303', answers(303, '', { location: '/receipt' })],
      ['a 304', answers(304)],
      ['a followed redirect', shaped(answers(200, { ok: 1 }), { redirected: true })],
      ['a followed redirect to a login page', shaped(answers(200, '<h1>Log in</h1>', HTML), { redirected: true })],
      ['HTML, as of a captive portal', answers(200, '<p>', HTML)],
      ['XHTML, as of an offline page', answers(200, '<html/>', { 'content-type': 'application/xhtml+xml' })],
    ] as const
  ).map(([evidence, entry]): Row => ({ row: 4, evidence, entry, ...stop('not-a-verdict') })),
  { row: 6, evidence: 'a replayed 2xx', entry: charged(replays(201)), ...done },
  {
    row: 6,
    evidence: 'a replayed 4xx',
    entry: replays(402),
    clean: { effect: 'none', attempts: 1, record: 'retired' },
    after: { effect: 'none', attempts: 2, record: 'retired' },
  },
  { row: 6, evidence: 'a replayed 5xx', entry: replays(500), ...stop('burnt') },
  {
    row: 7,
    evidence: 'a mismatch on a key that has no other payload',
    entry: answers(422, { title: 'Idempotency-Key was used with another payload' }),
    ...refused,
  },
  {
    row: 7,
    evidence: 'a new key that the server has seen, in a copy that a gateway sent',
    entry: answers(422, { title: 'Idempotency-Key is already used' }),
    clean: { effect: 'unknown', reason: 'refused', attempts: 1, record: 'pending' },
    after: refused.after,
  },
  { row: 9, evidence: 'a 412', entry: answers(412), ...refused },
  {
    row: 10,
    evidence: 'work in progress for ever',
    entry: answers(409, '', { 'retry-after': '40' }),
    clean: { effect: 'unknown', reason: 'in-progress', attempts: 2, record: 'pending' },
    after: { effect: 'unknown', reason: 'in-progress', attempts: 3, record: 'pending' },
  },
  { row: 11, evidence: 'a 5xx with x-should-retry: false', entry: answers(500, '', { 'x-should-retry': 'false' }), ...stop('burnt') },
  { row: 11, evidence: 'a 4xx with x-should-retry: false', entry: answers(429, '', { 'x-should-retry': 'false' }), ...refused },
  {
    row: 11,
    evidence: 'a 4xx with x-should-retry: true',
    entry: answers(400, '', { 'x-should-retry': 'true' }),
    clean: { effect: 'none', attempts: 3, record: 'in-use' },
    after: { effect: 'unknown', reason: 'unavailable', attempts: 3, record: 'pending' },
  },
  { row: 12, evidence: 'a 200', entry: answers(200, { id: 1 }), ...done },
  { row: 12, evidence: 'a 204', entry: answers(204), ...done },
  { row: 12, evidence: 'a 205', entry: answers(205), ...done },
  {
    row: 12,
    evidence: 'a 202',
    entry: answers(202, '', { 'retry-after': '40' }),
    clean: done.clean,
    after: { effect: 'unknown', reason: 'in-progress', attempts: 3, record: 'pending' },
  },
  ...[500, 502, 503, 504, 507, 511, 408, 460, 499].map(
    (status): Row => ({ row: 13, evidence: `a ${status}`, entry: answers(status), ...retried('unavailable') }),
  ),
  ...[425, 429, 421].map(
    (status): Row => ({
      row: 13,
      evidence: `a ${status}`,
      entry: answers(status),
      clean: { effect: 'none', attempts: 3, record: 'in-use' },
      after: { effect: 'unknown', reason: 'unavailable', attempts: 3, record: 'pending' },
    }),
  ),
  { row: 14, evidence: 'a 402', entry: answers(402), ...declined },
  ...[400, 401, 403, 404, 405, 407, 410, 413, 415, 417, 422, 451, 501, 505].map(
    (status): Row => ({ row: 14, evidence: `a ${status}`, entry: answers(status), ...refused }),
  ),
  { row: 14, evidence: 'a 409 with a code of its own', entry: answers(409, { code: 'email_taken' }), ...refused },
];

const WORDS: Record<Verdict, Pick<Row, 'clean' | 'after'>> = {
  fresh: done,
  replayed: done,
  rejected: declined,
  'rejected-for-good': { clean: { effect: 'none', attempts: 1, record: 'retired' }, after: { effect: 'none', attempts: 2, record: 'retired' } },
  'not-sent': { clean: { effect: 'none', attempts: 3, record: 'in-use' }, after: { effect: 'unknown', reason: 'unavailable', attempts: 3, record: 'pending' } },
  ambiguous: retried('unavailable'),
  'in-progress': {
    clean: { effect: 'unknown', reason: 'in-progress', attempts: 2, record: 'pending' },
    after: { effect: 'unknown', reason: 'in-progress', attempts: 3, record: 'pending' },
  },
  transient: retried('unavailable'),
};

async function play(entry: Entry, when: 'clean' | 'after', told: Told, verdict?: () => Verdict): Promise<void> {
  const { world, tab, once } = newWorld().open({ limits: { attempts: 3, inProgressMs: 60_000 } });
  if (when === 'after') world.server.plays(lost());
  world.server.otherwise = entry;
  // The hook reads only the answers of the row: the lost attempt before them has no answer.
  const end = await world.end(tab, pay(once, { verdict }));
  world.server.otherwise = undefined;
  const { effect, reason, attempts, record } = told;
  expect(end.outcome).toMatchObject({ effect, attempts, ...(reason && { reason }) });
  if (effect === 'none' && record !== 'none') expect(end.outcome).toMatchObject({ type: 'rejected', sent: 'yes' });
  expect(world.record()?.keyInUse ? 'in-use' : (world.record()?.state ?? 'none')).toBe(record);
  if (record === 'pending') expect(world.record()?.ambiguous).toBe(true);
  // An unknown outcome never comes with an ok response.
  if (effect === 'unknown') expect(end.response?.ok ?? false).toBe(false);
  // The next call shows which key is in force.
  if (record === 'settled') return;
  const next = await world.end(tab, pay(once), answers(201));
  expect(next).toMatchObject({ status: 201, outcome: { type: 'fresh', effect: 'done' } });
  expect(next.outcome?.key === end.outcome?.key).toBe(record === 'pending' || record === 'in-use');
}

describe.each(['clean', 'after'] as const)('%s', (when) => {
  test.each(ROWS.map((row) => [row.row, row.evidence, row] as const))('row %s: %s', (_, __, row) => play(row.entry, when, row[when]));

  test.each(Object.entries(WORDS))("the verdict hook says '%s' of a 200", (word, told) => {
    const answer = answers(200, { maybe: true }, { 'retry-after': word === 'in-progress' ? '40' : '1' });
    return play(/^(fresh|replayed)$/.test(word) ? answer : idle(answer), when, told[when], () => word as Verdict);
  });
});
