/**
 * Goal: an ended record lists the payload that took effect, or every payload that may have. With `repeat: 'if-changed'` a listed payload is
 * not sent again, and one that is not listed is. Method: `payloadsOf` alone, as a table.
 */
import { expect, test } from 'vitest';
import { fresh, rejected, replayed } from '../../src/core/outcome.js';
import { payloadsOf } from '../../src/core/payloads.js';
import type { PendingRecord } from '../../src/core/record.js';
import type { Start } from '../../src/engine/stopped.js';
import { aRecord, type LooseRecord } from '../support/record.js';

const pending = (more: LooseRecord = {}) => aRecord({ payloads: ['A', 'B'], ...more }) as PendingRecord;
const record = pending();
/** The same key was refused for the payload `R` before this operation began. */
const reused = pending({ refusedBefore: true, previous: aRecord({ state: 'retired', payloads: ['R'] }) });
/** An earlier operation under another key. */
const follows = pending({ refusedBefore: true, previous: aRecord({ state: 'retired', key: 'other' as never, payloads: ['R'] }) });

test.each<[string, Parameters<typeof payloadsOf>[1], Parameters<typeof payloadsOf>[2], Partial<Start>, string]>([
  ['a refusal', rejected(), {}, {}, 'AB'],
  ['a certain 2xx', fresh(true, true), {}, {}, 'B'],
  ['a 2xx of either payload', fresh(false, true), {}, {}, 'AB'],
  ['a replay to one payload', replayed('server'), {}, {}, 'B'],
  ["the app's word", replayed('reconcile'), {}, {}, 'AB'],
  ["another server's word", replayed('elsewhere'), {}, {}, 'AB'],
  ["the app's word, after refusals of all earlier payloads", replayed('reconcile'), {}, { refusedOnly: true }, 'B'],
  ['a marked 2xx of either payload, after refusals of all earlier ones', fresh(false, true), { marked: true }, { refusedOnly: true }, 'AB'],
  ['an earlier payload', replayed('server'), { earlier: true }, {}, 'A'],
  ['a 2xx of either payload, or of one that was refused under the key before', fresh(false, true), {}, { record: reused }, 'RAB'],
  ['an earlier payload, perhaps one that was refused under the key before', replayed('server'), { earlier: true }, { record: reused }, 'RA'],
  ['a 2xx that no other payload changes', fresh(false, false), {}, { record: reused }, 'AB'],
  ['a 2xx of either payload, after a refusal under another key', fresh(false, true), {}, { record: follows }, 'AB'],
])('%s', (_, ending, how, start, lists) => expect(payloadsOf(record, ending, how, { refusedOnly: undefined, record, ...start }).join('')).toBe(lists));
