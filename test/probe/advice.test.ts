/**
 * Goal: the dialect that the probe prints reads this server's answers as what they are, so that it can be copied. Method: a server over
 * real HTTP that says everything in a 200, the printed definition as a dialect, and the answers that the server really gives.
 */
import { expect, test } from 'vitest';
import type { Dialect } from '../../src/core/dialect.js';
import { defineDialect } from '../../src/dialects/define.js';
import { generic } from '../../src/dialects/generic.js';
import { inHeader } from '../../src/dialects/key-location.js';
import { kindOf } from '../../src/probe/answers.js';
import { textOf } from '../../src/probe/cli/print.js';
import type { Evidence } from '../../src/probe/evidence.js';
import type { ProbeFinding } from '../../src/probe/findings.js';
import { fittingDialect } from '../../src/probe/fit.js';
import { openProbe, playAll } from '../../src/probe/probe.js';
import { type ProbeRow, rowOf } from '../../src/probe/row.js';
import { type ProbeRowName, ROW_NAMES } from '../../src/probe/rows.js';
import { answer } from '../servers/support/http.js';
import { TIMES } from './support/probed.js';
import { type Parts, startByParts, WORK_MS } from './support/server-by-parts.js';

// Tests with a server mostly wait, so they run concurrently.

/** Runs the code that the probe printed. */
const made = (code: string): Dialect => new Function('defineDialect', 'inHeader', `return ${code}`)(defineDialect, inHeader) as Dialect;

async function advised(parts: Partial<Parts>, counted = true) {
  await using server = await startByParts(parts);
  const probe = await openProbe(
    {
      url: () => `${server.origin}/payments`,
      send: ({ url, key, operation, payload, login }) =>
        payload === 'fails-once' || login !== 'own'
          ? undefined
          : fetch(url, { method: 'POST', headers: { 'idempotency-key': key, authorization: login }, body: JSON.stringify({ order: operation, payload }) }),
      ...(counted && { count: () => server.effects }),
    },
    { ...TIMES, patienceMs: 3 * WORK_MS, afterMs: undefined },
    generic(),
  );
  const rows = await playAll(probe).finally(probe.close);
  return { rows, code: fittingDialect(rows, probe.evidence, generic().carrier, probe.seen)?.code ?? '' };
}

const read = (code: string, body: unknown, ambiguous = false) =>
  kindOf({ status: 200, headers: new Headers(), text: JSON.stringify(body) }, made(code), 'k-1', ambiguous);

/** Does the work, and says so as GraphQL does. */
const paid: Parts['work'] = ({ order }, effect) => {
  effect();
  return answer(200, { data: { pay: { id: order } } });
};
const INSIDE = {
  declined: { data: null, errors: [{ message: 'card declined' }] },
  busy: { errors: [{ message: 'in progress' }] },
  mismatch: { errors: [{ message: 'requestId was used with other input' }] },
};

test.concurrent('errors inside a 200 that have no code: a success is no mismatch', async () => {
  const { code } = await advised({
    work: (asked, effect) => (asked.payload === 'refused' ? answer(200, INSIDE.declined) : paid(asked, effect)),
    busy: () => answer(200, INSIDE.busy),
    again: (stored, asked, first) => (asked.payload === first.payload ? stored : answer(200, INSIDE.mismatch)),
  });
  expect(read(code, { data: { pay: { id: 'o-1' } } })).toBe('fresh');
  expect(read(code, INSIDE.mismatch, true)).toBe('mismatch');
  expect(read(code, INSIDE.declined)).toBe('refused');
  expect(read(code, INSIDE.busy, true)).toBe('in-progress');
});

test.concurrent('errors inside a 200 in which nothing tells one from another: no rule, and a line that says what is missing', async () => {
  const { code } = await advised({ work: paid, again: (stored, asked, first) => (asked.payload === first.payload ? stored : answer(200, { errors: [{}] })) });
  expect(read(code, { data: { pay: { id: 'o-1' } } })).toBe('fresh');
  expect(code).toContain("    // a 200 can also mean 'mismatch': add a rule with what such an answer has and a success has not");
});

test.concurrent('a decline inside a 200 gets a rule, with what tells it from a success', async () => {
  const { rows, code } = await advised({
    work: ({ order, payload }, effect) => {
      if (payload === 'refused') return answer(200, { type: 'payment', status: 'failed' });
      effect();
      return answer(200, { type: 'payment', id: order, status: 'ok' });
    },
  });
  expect(rows.find(({ row }) => row === 'refusal')?.finding).toBe('refused-inside');
  expect(code).toContain("{ status: 200, at: { status: 'failed' }, means: 'refused' }");
  expect(read(code, { type: 'payment', id: 'o-1', status: 'ok' })).toBe('fresh');
});

// Alone, because it depends on how long the server takes.
test('a connection is reset in mid-work, although the first request took longer than others do', async () => {
  await using server = await startByParts({});
  const probe = await openProbe(
    {
      url: () => server.origin,
      send: ({ url, key, operation, payload }) =>
        fetch(url, { method: 'POST', headers: { 'idempotency-key': key }, body: JSON.stringify({ order: operation, payload }) }),
    },
    TIMES,
    generic(),
    { workMs: 8 * WORK_MS, accepts: false },
  );
  await probe.play('again');
  const { cameBack } = await probe.play('reset').finally(probe.close);
  expect(cameBack).toMatch(/^none/);
});

test.concurrent('a server that is not there: the reason is told', async () => {
  const gone = await startByParts({});
  await gone[Symbol.asyncDispose]();
  const probe = await openProbe({ url: () => gone.origin, send: ({ url }) => fetch(url, { method: 'POST', body: '{}' }) }, TIMES, generic());
  const row = await probe.play('first').finally(probe.close);
  expect(row.means).toBe('No answer came: ECONNREFUSED.');
});

test.concurrent('another payload that has an effect of its own is not sent under a key that is open', async () => {
  const { code } = await advised({ scope: ({ key, payload }) => `${key} ${payload}` });
  expect(code).toContain('answersMismatch: false');
});

/** Declines inside a 200. What a success and a decline have beside the order follows from the payload, which is sent. */
const declining = (made: (payload: string, declined: boolean) => object): Partial<Parts> => ({
  work: ({ order, payload }, effect) => {
    if (payload !== 'refused') effect();
    return answer(200, { order, ...made(payload, payload === 'refused') });
  },
});
const NO_RULE = "// a 200 can also mean 'refused': add a rule";

test.concurrent.each([
  ['below an item', (payload: string, declined: boolean) => ({ item: { title: payload }, status: declined ? 'declined' : 'paid' }), 'status'],
  ['beside the state', (payload: string, declined: boolean) => ({ type: payload, state: payload, result: declined ? 'declined' : 'paid' }), 'result'],
  ['in a message', (payload: string, declined: boolean) => ({ message: `You sent ${payload}`, status: declined ? 'declined' : 'paid' }), 'status'],
] as const)('what was sent, echoed %s, is not what tells a refusal from a success', async (_, made, name) => {
  const { code } = await advised(declining(made));
  expect(code).toContain(`{ status: 200, at: { ${name}: 'declined' }, means: 'refused' }`);
  expect(read(code, { order: 'o-1', ...made('refused', false) })).toBe('fresh');
});

test.concurrent.each([
  ['the state of something in the answer', (_: string, declined: boolean) => ({ customer: { status: declined ? 'new' : 'known' }, paid: !declined })],
  ['an echo', (payload: string) => ({ state: payload })],
] as const)('%s alone makes no rule', async (_, made) => {
  const { code } = await advised(declining(made));
  expect(code).toContain(NO_RULE);
  expect(read(code, { order: 'o-1', ...made('refused', true) })).toBe('fresh');
});

test.concurrent('a path that would not find its own member makes no rule', async () => {
  const { code } = await advised({
    work: ({ payload }, effect) => {
      if (payload === 'refused') return answer(200, { 'pay.v1': { status: 'declined' } });
      effect();
      return answer(200, { 'pay.v1': { status: 'paid' } });
    },
  });
  expect(code).toContain(NO_RULE);
});

test.concurrent('behind something that delivers twice, without a count: a success is no mismatch', async () => {
  const again: Parts['again'] = (stored, asked, first) => (asked.payload === first.payload ? stored : answer(200, { errors: [{}] }));
  const { rows, code } = await advised({ work: paid, delivers: 2, busy: () => answer(200, INSIDE.busy), again }, false);
  expect(rows[0]?.finding).toBe('called-copy');
  expect(code).toContain("// a 200 can also mean 'mismatch': add a rule");
  expect(read(code, { data: { pay: { id: 'o-1' } } })).toBe('fresh');
});

const came = (status: number, body: unknown) => ({ status, headers: new Headers(), text: JSON.stringify(body) });
const known = (means: Evidence['means'], status: number, body: unknown): Evidence => ({ key: 'k-1', came: came(status, body), means });
const PLACE = generic().carrier;

test('no rule for a 2xx as long as no success of that status is known', () => {
  const code = fittingDialect([], [known('mismatch', 200, INSIDE.mismatch), known('first', 201, { id: 'a' })], PLACE)?.code;
  expect(code).toContain("// a 200 can also mean 'mismatch': add a rule");
});

const WORKS = [known('first', 201, { id: 'a' })];
const row = (name: ProbeRowName, finding: ProbeFinding): ProbeRow => rowOf(name, { answers: [], effects: undefined, finding });

test.each(ROW_NAMES)('%s doubles: the default is not said to fit', (name) => {
  const code = fittingDialect([row(name, 'doubles')], WORKS, PLACE)?.code;
  expect(code).toContain(name === 'other-payload' || name === 'changed-after-fault' ? 'answersMismatch: false' : `'none'`);
});

test.each(ROW_NAMES)('%s may double: the default is not said to fit, and the output asks for a count', (name) => {
  const rows = [row(name, 'may-double')];
  const dialect = fittingDialect(rows, WORKS, PLACE);
  const out = textOf({ rows, dialect, effects: undefined, resumeAfter: undefined });
  expect(out).not.toContain('none needed');
  expect(out).toMatch(name === 'other-payload' || name === 'changed-after-fault' ? 'answersMismatch: false' : 'Dialect: give --count first');
});

test('a path with an apostrophe is valid code', () => {
  const code = fittingDialect([], [...WORKS, known('mismatch', 409, { "it's": { code: 'other' } })], PLACE)?.code ?? '';
  expect(kindOf(came(409, { "it's": { code: 'other' } }), made(code), 'k-1', true)).toBe('mismatch');
});

test('of a list, the state of an element makes no rule', () => {
  const code = fittingDialect([], [known('first', 200, { items: [{ status: 'used' }] }), known('refused', 200, { items: [{ status: 'new' }] })], PLACE)?.code;
  expect(code).toContain(NO_RULE);
});

test('equal answers that mean different things get no rule', () => {
  const evidence = [...WORKS, known('done-before', 409, { code: 'conflict' }), known('mismatch', 409, { code: 'conflict' })];
  const code = fittingDialect([], evidence, PLACE)?.code;
  expect(code).not.toContain('{ status: 409');
  expect(code).toContain("// a 409 can also mean 'open'");
  expect(code).toContain("// a 409 can also mean 'mismatch'");
});

test("the probe's own name of an operation, which no other request has, makes no rule", () => {
  const refused = known('refused', 200, { message: 'probe-1a2b3c4d is refused' });
  const code = fittingDialect([], [known('first', 200, { message: 'probe-5e6f7a8b is done' }), refused], PLACE)?.code;
  expect(code).not.toContain('probe-');
});
