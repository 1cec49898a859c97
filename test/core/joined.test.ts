/** Goal: two records of one key become one that claims no more than both. Method: each member, whichever of the two records has the stricter value. */
import { expect, test } from 'vitest';
import { joined, outweighs } from '../../src/core/joined.js';
import { rejected, unknown } from '../../src/core/outcome.js';
import { aRecord, type LooseRecord, NOW } from '../support/record.js';

const LIMITS = { attemptMs: 30_000, totalMs: 120_000 };
const join = (there: LooseRecord, moved: LooseRecord) => joined(aRecord(there), aRecord(moved), LIMITS, NOW).next;

test.each<[string, LooseRecord, LooseRecord, LooseRecord]>([
  ['the server has known the key since the earlier attempt', { firstSentAt: NOW - 2 }, { firstSentAt: NOW - 1 }, { firstSentAt: NOW - 2 }],
  ['or since the other one', { firstSentAt: NOW - 1 }, { firstSentAt: NOW - 2 }, { firstSentAt: NOW - 2 }],
  ['a record without that time counts from its creation', { createdAt: NOW - 3, firstSentAt: undefined }, { firstSentAt: NOW - 2 }, { firstSentAt: NOW - 3 }],
  ['also the other one', { firstSentAt: NOW - 2 }, { createdAt: NOW - 3, firstSentAt: undefined }, { firstSentAt: NOW - 3 }],
  ['a later creation does not count beside it', { createdAt: NOW, firstSentAt: NOW - 3 }, { createdAt: NOW, firstSentAt: NOW - 2 }, { firstSentAt: NOW - 3 }],
  ['the key window that ends first counts', { windowEndsAt: NOW + 1 }, { windowEndsAt: NOW + 2 }, { windowEndsAt: NOW + 1 }],
  ['or that of the other one', { windowEndsAt: NOW + 2 }, { windowEndsAt: NOW + 1 }, { windowEndsAt: NOW + 1 }],
  ['also if only one has an end', { windowEndsAt: NOW + 1 }, { windowEndsAt: undefined }, { windowEndsAt: NOW + 1 }],
  ['calls that wait learn that the record has changed', { revision: 7 }, { revision: 2 }, { revision: 8 }],
  [
    "an attempt of the user's may be on its way, also from memory, where records have no lease",
    { lease: undefined },
    { lease: { owner: 'moved', until: NOW + 1 } },
    { lease: { owner: 'moved', until: NOW + LIMITS.attemptMs } },
  ],
  [
    "one of the guest's may arrive later",
    { lease: undefined },
    { lease: { owner: 'moved', until: NOW + LIMITS.attemptMs + 1 } },
    { lease: { owner: 'moved', until: NOW + LIMITS.attemptMs + 1 } },
  ],
  ["the present payload is the user's", { payloads: ['a', 'b'] }, { payloads: ['b', 'c'] }, { payloads: ['c', 'a', 'b'] }],
])('%s', (_, there, moved, expected) => {
  expect(join(there, moved)).toMatchObject(expected);
});

test.each<[string, LooseRecord, LooseRecord]>([
  ["the user's has ended", { state: 'settled' }, {}],
  ["the guest's has ended", {}, { state: 'settled' }],
  ["nothing of the guest's was sent", {}, { ambiguous: false }],
])('nothing changes if %s', (_, there, moved) => {
  expect(join(there, moved)).toBeUndefined();
});

/** The copy that an interrupted move has made, settled as none at {@link NOW}. */
const NONE: LooseRecord = { state: 'retired', ending: rejected(), touchedAt: NOW, lease: undefined };
/** The record of the guest, whose last attempt had ended before that. */
const LEFT: LooseRecord = { state: 'pending', ambiguous: true, touchedAt: NOW - 60_000, lease: undefined };

test.each<[string, boolean, LooseRecord, LooseRecord?, LooseRecord?]>([
  ['counts for the guest, too', false, {}],
  ['also if the driver of the last attempt died', false, {}, { lease: { owner: 'x', until: NOW - 30_001, ms: 30_000 } }],
  ['does not count if that attempt might still arrive then', true, {}, { lease: { owner: 'x', until: NOW - 29_999, ms: 30_000 } }],
  ['or might arrive at the move', true, {}, {}, { lease: { owner: 'moved', until: NOW + 1 } }],
  ['or was made after that', true, {}, { touchedAt: NOW + 1 }],
  ['does not count if the key stays in use', true, { keyInUse: true }],
  ['or if the app gave both the key', true, { random: false }],
  ['or if it was forgotten', true, { ending: unknown('record') }],
  ["counts even so if nothing of the guest's was sent", false, { random: false }, { ambiguous: false }],
])('none of a copy %s', (_, opens, there, left = {}, moved = {}) => {
  const guest = { ...LEFT, ...left };
  expect(outweighs(aRecord({ ...guest, lease: undefined, ...moved }), aRecord({ ...NONE, ...there }), aRecord(guest), LIMITS)).toBe(opens);
});
