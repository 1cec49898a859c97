/**
 * Goal: a call never takes the answer to another payload for its own, and no payload that may have taken effect is forgotten. Method: which payloads a
 * record lists, and how the operation ended, as tables.
 */
import { expect, test } from 'vitest';
import { type Ending, fresh, rejected, replayed, unknown } from '../../src/core/outcome.js';
import { hasOthers, payloadsOf } from '../../src/core/payloads.js';
import type { PendingRecord } from '../../src/core/record.js';
import { aRecord as anyRecord, type LooseRecord } from '../support/record.js';

const aRecord = (of: LooseRecord) => anyRecord(of) as PendingRecord;
/** `null`: nothing was refused before this operation began. */
const record = (payloads: readonly string[], refused: readonly string[] | null = null, sameKey = true) =>
  aRecord({
    payloads,
    ...(refused && { refusedBefore: true, previous: aRecord({ payloads: refused, ...(!sameKey && { key: 'another' as never }) }) as never }),
  });

test.each<[string, ReturnType<typeof record>, boolean]>([
  ['none before it', record(['a']), false],
  ['the same one, refused before', record(['a'], ['a']), false],
  ['the same one, refused before and sent after another one', record(['c', 'b', 'a'], ['a']), false],
  ['another one, refused before', record(['a'], ['b']), true],
  ['another one, refused under another key', record(['a'], ['b'], false), false],
  ['a mark of refusals, and no record of them', aRecord({ payloads: ['a'], refusedBefore: true }), false],
])('under a key went out: %s', (_, found, others) => {
  expect(hasOthers({ changed: false, record: found })).toBe(others);
  expect(hasOthers({ changed: true, record: found })).toBe(true);
});

const SENT = ['a', 'b', 'c'];
test.each<[string, Ending, Parameters<typeof payloadsOf>[2], { refusedOnly?: boolean; refused?: readonly string[] }, readonly string[]]>([
  ['refused', rejected(), {}, {}, SENT],
  ['refused, as an earlier payload', rejected(), { earlier: true }, {}, SENT],
  ['not known', unknown('no-answer'), {}, {}, SENT],
  ['done, certainly by this payload', fresh(true, true), {}, {}, ['c']],
  ['done, by one of them', fresh(false, true), {}, {}, SENT],
  ['done, by one of them, or one refused before', fresh(false, true), {}, { refused: ['z', 'a'] }, ['z', ...SENT]],
  ['done, by one of them, and none was changed', fresh(false, false), {}, { refused: ['z'] }, SENT],
  ['done, and all others were refused', fresh(false, true), {}, { refusedOnly: true }, ['c']],
  ['done, and all others were refused, but the answer is a replay', fresh(false, true), { marked: true }, { refusedOnly: true }, SENT],
  ['done, by an earlier payload', replayed('server'), { earlier: true }, {}, ['a', 'b']],
  ['done, by an earlier payload, or one refused before', replayed('server'), { earlier: true }, { refused: ['z'] }, ['z', 'a', 'b']],
  ['done, as the server repeats', replayed('server'), {}, {}, ['c']],
  ['done, as the app says', replayed('reconcile'), {}, { refused: ['z'] }, SENT],
])('%s: the record then lists the payload that took effect, or all that may have', (_, ending, how, { refusedOnly = false, refused = null }, listed) => {
  const found = record(SENT, refused);
  expect(payloadsOf(found, ending, how, { refusedOnly, record: found })).toEqual(listed);
});
