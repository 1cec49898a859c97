/**
 * Goal: a rule that the probe writes names what tells an answer from others with its status, never what was sent, and there is no rule where nothing
 * tells. Method: answers whose meaning is known, as a table.
 */
import { describe, expect, test } from 'vitest';
import { waitsInside } from '../../src/probe/answers.js';
import type { Evidence } from '../../src/probe/evidence.js';
import { rulesFor } from '../../src/probe/rule.js';

type Seen = readonly [means: Evidence['means'], status: number, body: unknown, sent?: string | undefined];

const evidenceOf = ([means, status, body, sent]: Seen): Evidence => ({
  key: 'k',
  means,
  came: { status, headers: new Headers(), text: typeof body === 'string' ? body : JSON.stringify(body), sent },
});
/** The rule for the first answer, beside the others. */
const ruleOf = (...seen: readonly Seen[]): string | undefined => {
  const all = seen.map(evidenceOf);
  return rulesFor(all.slice(0, 1), all)[0];
};
const rule = (status: number, at: string, means = 'in-progress') => `{ status: ${status}${at && `, at: { ${at} }`}, means: '${means}' },`;
const none = (status: number, means = 'in-progress') =>
  `// a ${status} can also mean '${means}': add a rule with what such an answer has and ${status >= 200 && status < 300 ? 'a success' : 'others'} has not`;

const nested = (names: readonly string[], value: unknown): unknown => names.reduceRight((inner, name) => ({ [name]: inner }), value);

describe('a refusal', () => {
  test.each<[string, unknown, at: string]>([
    ['a code', { code: 'in_use' }, "code: 'in_use'"],
    ['a code below an error', { error: { code: 'in_use', message: 'words' } }, "'error.code': 'in_use'"],
    ['an error of its own', { id: 'x', error: 'in_use' }, "error: 'in_use'"],
    ['a type', { type: 'in_use' }, "type: 'in_use'"],
    ['an errorCode', { errorCode: 'in_use' }, "errorCode: 'in_use'"],
    ['an error_code', { error_code: 'in_use' }, "error_code: 'in_use'"],
    ['a title, where the type says nothing', { type: 'about:blank', title: 'In use' }, "title: 'In use'"],
    ['the first element of a list', { errors: [{ code: 'in_use' }] }, "'errors.*.code': 'in_use'"],
    ['the eleventh element of a list', { errors: [...Array(10).fill({ id: 'x' }), { code: 'in_use' }] }, "'errors.*.code': 'in_use'"],
    ['a name that begins with a digit', nested(['1a', 'code'], 'in_use'), "'1a.code': 'in_use'"],
    ['a name that ends with a digit', nested(['a1', 'code'], 'in_use'), "'a1.code': 'in_use'"],
    ['a code five names deep', nested(['a', 'b', 'c', 'd', 'code'], 'in_use'), "'a.b.c.d.code': 'in_use'"],
    ['a code six names deep, which is not read', nested(['a', 'b', 'c', 'd', 'e', 'code'], 'in_use'), ''],
    ['a code below a name with a dot, which no path can have', { 'a.b': { code: 'in_use' } }, ''],
    ['a code that is a number', { code: 7 }, ''],
    ['a code that is nothing', { code: null }, ''],
    ['a yes', { error: true }, "error: 'true'"],
    ['names that only look like codes', { xcode: 'a', codes: 'b', status: 'c', message: 'd' }, ''],
    ['no JSON', 'in use', ''],
    ['null', 'null', ''],
    ['a text', '"code"', ''],
    ['quotes', { code: `it's "x"\n` }, `code: 'it\\'s "x"\\n'`],
  ])('with %s', (_, body, at) => {
    expect(ruleOf(['in-progress', 409, body])).toBe(rule(409, at));
  });

  test.each<[string, sent: string | undefined, code: string, found: boolean]>([
    ['the same word', 'pay alpha', 'alpha', false],
    ['the same word in other letters', '{"note":"Alpha"}', 'ALPHA', false],
    ['the same words', '{"note":"card_declined, now"}', 'Card declined', false],
    ['words in another order', 'declined card', 'card declined', true],
    ['a part of a word', 'alphabet', 'alpha', true],
    ['nothing', undefined, 'alpha', true],
    ['nothing but signs', 'x', '---', false],
    ['letters of any script', 'x', 'Änderung', true],
    ['digits', 'x', '42', true],
    ['an order of the probe', 'x', 'order probe-0123abcd', false],
    ['hardly an order of the probe', 'x', 'probe-0123', true],
    ['true', 'true', 'true', true],
    ['false', 'false', 'false', true],
    ['untrue', 'untrue', 'untrue', false],
    ['trueish', 'trueish', 'trueish', false],
  ])('whose code the request had, too (%s)', (_, sent, code, found) => {
    expect(ruleOf(['in-progress', 409, { code }, sent])).toBe(rule(409, found ? `code: '${code}'` : ''));
  });

  test.each<[string, readonly Seen[], string]>([
    ['another code', [['mismatch', 409, { code: 'other' }]], rule(409, "code: 'in_use'")],
    ['the same code', [['mismatch', 409, { code: 'in_use' }]], none(409)],
    ['the same code, and a type of its own', [['mismatch', 409, { code: 'in_use', type: 'other' }]], none(409)],
    ['the same code under another status', [['mismatch', 422, { code: 'in_use' }]], rule(409, "code: 'in_use'")],
    ['the same code for what is done already, which is waited for alike', [['done-before', 409, { code: 'in_use' }]], rule(409, "code: 'in_use'")],
    ['the same code for the same', [['in-progress', 409, { code: 'in_use' }]], rule(409, "code: 'in_use'")],
  ])('beside one that has %s', (_, others, expected) => {
    expect(ruleOf(['in-progress', 409, { code: 'in_use' }], ...others)).toBe(expected);
  });

  test('beside one with the same code, but another type: the type tells', () => {
    expect(ruleOf(['mismatch', 409, { code: 'used', type: 'changed' }], ['in-progress', 409, { code: 'used', type: 'busy' }])).toBe(
      rule(409, "type: 'changed'", 'mismatch'),
    );
  });

  test('beside one of another meaning, with nothing to tell them apart', () => {
    expect(ruleOf(['done-before', 409, {}], ['refused', 409, {}])).toBe(none(409, 'open'));
    expect(ruleOf(['refused', 400, {}], ['done-before', 400, {}])).toBe(none(400, 'refused'));
    expect(ruleOf(['mismatch', 300, {}], ['in-progress', 300, {}])).toBe(none(300, 'mismatch'));
    expect(ruleOf(['mismatch', 199, {}], ['in-progress', 199, {}])).toBe(none(199, 'mismatch'));
  });
});

describe('an answer inside a 2xx', () => {
  const OK = { id: 'ok', status: 'paid', success: true };

  test.each<[string, unknown, at: string]>([
    ['its state', { id: 'x', status: 'failed' }, "status: 'failed'"],
    ['a state with another name', { id: 'x', state: 'failed' }, "state: 'failed'"],
    ['a result', { id: 'x', result: 'failed' }, "result: 'failed'"],
    ['a resultCode', { id: 'x', resultCode: 'failed' }, "resultCode: 'failed'"],
    ['a no', { id: 'x', success: false }, "success: 'false'"],
    ['another no', { id: 'x', ok: false }, "ok: 'false'"],
    ['an error before its state', { id: 'x', status: 'failed', error: 'declined' }, "error: 'declined'"],
    ['a state before words', { message: 'Declined', id: 'x', status: 'failed' }, "status: 'failed'"],
    ['words, where there is nothing else', { id: 'x', message: 'Declined' }, "message: 'Declined'"],
    ['the code of an error before all', { status: 'failed', errors: [{ message: 'no', code: 'declined' }] }, "'errors.*.code': 'declined'"],
    ['the words of an error before its own', { message: 'Words', errors: [{ message: 'no' }] }, "'errors.*.message': 'no'"],
    ['an error deep inside', { a: { b: { userErrors: [{ status: 'failed' }] } }, id: 'x' }, "'a.b.userErrors.*.status': 'failed'"],
    ['a state inside of wrappers', { data: { pay: { status: 'failed', id: 'x' } } }, "'data.pay.status': 'failed'"],
    ['the outer one of two states', { data: { pay: { order: { status: 'closed' }, status: 'failed' } } }, "'data.pay.status': 'failed'"],
    ['a state beside what is nothing', { data: null, status: 'failed' }, "status: 'failed'"],
  ])('is told by %s', (_, body, at) => {
    expect(ruleOf(['refused', 200, body], ['first', 200, OK])).toBe(rule(200, at, 'refused'));
  });

  test.each<[string, unknown]>([
    ['the state of something inside of it', { id: 'x', order: { status: 'failed' } }],
    ['the state of something inside of it, which comes first', { order: { status: 'failed' }, id: 'x' }],
    ['the error of something inside of it', { id: 'x', order: { error: 'declined' } }],
    ['the state of an element of a list', [{ status: 'failed' }]],
    ['the state of a success', { id: 'x', status: 'paid' }],
    ['a code that is not of an error', { id: 'x', code: 'declined', type: 'y', title: 'z' }],
    ['a name that only looks like a state', { id: 'x', statuses: 'failed', mystate: 'failed', messages: 'no', anerror: 'y', errors: 'z' }],
    ['null', null],
    ['a wrapper around nothing', { data: null }],
    ['a wrapper around a number', { data: 7 }],
  ])('is not told by %s', (_, body) => {
    expect(ruleOf(['refused', 200, body], ['first', 200, OK])).toBe(none(200, 'refused'));
  });

  test('gets no rule before a success of its status is known', () => {
    const failed: Seen = ['refused', 200, { id: 'x', status: 'failed' }];
    expect(ruleOf(failed)).toBe(none(200, 'refused'));
    expect(ruleOf(failed, ['first', 201, OK])).toBe(none(200, 'refused'));
    expect(ruleOf(failed, ['mismatch', 200, { errors: [{ message: 'x' }] }])).toBe(none(200, 'refused'));
    expect(ruleOf(failed, ['again', 200, OK])).toBe(rule(200, "status: 'failed'", 'refused'));
    expect(ruleOf(failed, ['done', 200, OK])).toBe(rule(200, "status: 'failed'", 'refused'));
  });

  test.each<[string, Seen, string]>([
    ['a 202, which says by itself that the work goes on', ['in-progress', 202, {}], rule(202, '')],
    ['a 202 that says more', ['in-progress', 202, { status: 'working' }], rule(202, "status: 'working'")],
    ['a 202 that means something else', ['refused', 202, {}], none(202, 'refused')],
    ['a 201', ['in-progress', 201, {}], none(201)],
    ['a 299', ['in-progress', 299, {}], none(299)],
    ['a success', ['first', 200, OK], none(200, 'fresh')],
    ['a success that is repeated', ['again', 200, OK], none(200, 'fresh')],
    ['a success that may be repeated', ['done', 200, OK], none(200, 'fresh')],
  ])('alone: %s', (_, seen, expected) => {
    expect(ruleOf(seen)).toBe(expected);
  });

  test('a 202 beside a success with its status needs what tells them apart', () => {
    expect(ruleOf(['in-progress', 202, { status: 'working' }], ['first', 202, OK])).toBe(rule(202, "status: 'working'"));
    expect(ruleOf(['in-progress', 202, {}], ['first', 202, OK])).toBe(none(202));
  });
});

test('an answer that is nested a hundred thousand times is read without an overflow', () => {
  const deep = (open: string, close: string) => open.repeat(100_000) + close.repeat(100_000);
  for (const text of [deep('{"a":', '}').replace(':}', ':1}'), deep('[', ']'), deep('[{"a":', '}]').replace(':}', ':1}')]) {
    expect(ruleOf(['refused', 200, text], ['first', 200, { id: 'x' }])).toBe(none(200, 'refused'));
    expect(ruleOf(['refused', 409, text])).toBe(rule(409, '', 'refused'));
    const { came } = evidenceOf(['refused', 200, `{"errors":[${text}]}`]);
    expect(waitsInside(came)).toBe(false);
    expect(waitsInside({ ...came, text: `{"errors":[${text},"in progress"]}` })).toBe(true);
  }
});

test('each condition has one rule, of the first answer; rules without a member come last', () => {
  const seen: readonly Seen[] = [
    ['in-progress', 409, {}],
    ['mismatch', 422, { code: 'changed' }],
    ['in-progress', 422, { code: 'changed' }],
    ['refused', 400, { code: 'no' }],
    ['in-progress', 409, {}],
  ];
  const misread = seen.map(evidenceOf);
  expect(rulesFor(misread, [])).toEqual([rule(422, "code: 'changed'", 'mismatch'), rule(400, "code: 'no'", 'refused'), rule(409, '')]);
  expect(rulesFor([], misread)).toEqual([]);
  // Two notes about one status differ in what they say.
  expect(rulesFor(misread.slice(1, 3), misread)).toEqual([none(422, 'mismatch'), none(422)]);
});
