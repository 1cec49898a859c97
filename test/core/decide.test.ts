/**
 * Goal: the step that follows a reading claims no more than is certain, and keeps every limit. Method: the decisions as a table,
 * and rules that must hold for every combination of reading and situation.
 */
import { describe, expect, test } from 'vitest';
import { atLeast } from '../../src/core/backoff.js';
import { type Decision, decide, type Situation } from '../../src/core/decide.js';
import type { AnswerKind, Reading } from '../../src/core/dialect.js';
import { CALM as BASE } from '../support/situation.js';

const NOW = 1_700_000_000_000;
const CALM: Situation = { ...BASE, now: NOW, deadline: NOW + BASE.deadline, waitsEnd: NOW + BASE.waitsEnd };

/** At least one reading of each kind. */
const READINGS: Reading[] = [
  { kind: 'not-sent', ambiguous: false },
  { kind: 'no-answer', ambiguous: true },
  { kind: 'not-a-verdict', ambiguous: true },
  { kind: 'accepted', ambiguous: true },
  { kind: 'replayed', ambiguous: false },
  { kind: 'burnt', ambiguous: true },
  { kind: 'mismatch', ambiguous: true },
  { kind: 'done-elsewhere', ambiguous: false, resource: 'PM1' },
  { kind: 'open', ambiguous: true },
  { kind: 'in-progress', ambiguous: true },
  { kind: 'fresh', ambiguous: false },
  { kind: 'transient', ambiguous: true },
  { kind: 'transient', ambiguous: false },
  { kind: 'refused', ambiguous: false },
  { kind: 'refused', ambiguous: true },
  { kind: 'refused', ambiguous: false, sticky: true },
  { kind: 'refused', ambiguous: false, sticky: true, replayed: true },
];
const of = (kind: AnswerKind, more: Partial<Reading> = {}): Reading => ({ ...READINGS.find((one) => one.kind === kind)!, ...more });

describe('the table', () => {
  const AFTER = { ambiguous: true } as const;
  const SPENT = { tries: 5 } as const;
  const LATE = { deadline: NOW + 1 } as const;
  const TABLE: [what: string, reading: Reading, situation: Partial<Situation>, decision: object][] = [
    ['fresh', of('fresh'), {}, { do: 'settle', ending: { type: 'fresh', effect: 'done', certain: true, changed: false } }],
    ['fresh after ambiguity', of('fresh'), AFTER, { do: 'settle', ending: { type: 'fresh', certain: false } }],
    ['replayed', of('replayed'), AFTER, { do: 'settle', ending: { type: 'replayed', effect: 'done', from: 'server' } }],
    ['refused', of('refused'), {}, { do: 'settle', ending: { type: 'rejected', effect: 'none', replayed: false } }],
    ['refused after ambiguity', of('refused'), AFTER, { do: 'stop', ask: true, ending: { type: 'unknown', reason: 'refused-after-ambiguity' } }],
    ['refused, by an attempt that is ambiguous itself', of('refused', { ambiguous: true }), {}, { do: 'stop', ask: true, ending: { reason: 'unavailable' } }],
    ['sticky refusal after ambiguity', of('refused', { sticky: true }), AFTER, { do: 'settle', sticky: true, ending: { type: 'rejected', replayed: false } }],
    [
      'replayed refusal after ambiguity',
      of('refused', { sticky: true, replayed: true }),
      AFTER,
      { do: 'settle', sticky: true, ending: { type: 'rejected', replayed: true } },
    ],
    ['burnt', of('burnt'), {}, { do: 'stop', ask: true, ending: { effect: 'unknown', reason: 'burnt' } }],
    ['open', of('open'), AFTER, { do: 'stop', ask: true, ending: { effect: 'unknown', reason: 'refused-after-ambiguity' } }],
    ['not a verdict', of('not-a-verdict'), {}, { do: 'stop', ask: false, ending: { effect: 'unknown', reason: 'not-a-verdict' } }],
    ['done elsewhere', of('done-elsewhere'), {}, { do: 'done-elsewhere' }],
    ['accepted', of('accepted'), {}, { do: 'poll' }],
    ['mismatch, clean', of('mismatch'), {}, { do: 'settle', ending: { type: 'rejected', effect: 'none' } }],
    ['mismatch, clean, but the platform may have sent a copy unseen', of('mismatch'), { mayResend: true }, { do: 'probe' }],
    ['mismatch after ambiguity', of('mismatch'), AFTER, { do: 'probe' }],
    ['no answer', of('no-answer'), { answered: false }, { do: 'wait', ms: 250, why: 'backoff' }],
    [
      'no answer, attempts spent',
      of('no-answer'),
      { answered: false, ...SPENT },
      { do: 'stop', ask: false, ending: { effect: 'unknown', reason: 'no-answer', retryAt: undefined } },
    ],
    ['no answer, time spent', of('no-answer'), { answered: false, ...LATE }, { do: 'stop', ending: { effect: 'unknown', reason: 'no-answer' } }],
    ['transient and ambiguous', of('transient'), { tries: 3 }, { do: 'wait', ms: 1000, why: 'backoff' }],
    ['transient with Retry-After', of('transient'), { retryAfterMs: 7000 }, { do: 'wait', ms: 7000, why: 'retry-after' }],
    [
      'transient and ambiguous, attempts spent',
      of('transient'),
      { ...SPENT, retryAfterMs: 7000 },
      { do: 'stop', ask: false, ending: { effect: 'unknown', reason: 'unavailable', retryAt: NOW + 7000 } },
    ],
    [
      'transient, Retry-After beyond the deadline',
      of('transient'),
      { retryAfterMs: 500_000 },
      { do: 'stop', ending: { effect: 'unknown', retryAt: NOW + 500_000 } },
    ],
    ['transient and clean, attempts spent', of('transient', { ambiguous: false }), SPENT, { do: 'settle', ending: { type: 'rejected', effect: 'none' } }],
    [
      'transient and clean, after ambiguity, attempts spent',
      of('transient', { ambiguous: false }),
      { ...SPENT, ...AFTER },
      { do: 'stop', ending: { effect: 'unknown' } },
    ],
    ['not sent', of('not-sent'), { answered: false }, { do: 'wait', why: 'backoff' }],
    [
      'not sent, attempts spent',
      of('not-sent'),
      { answered: false, ...SPENT },
      { do: 'stop', ask: false, ending: { type: 'unsent', effect: 'none', reason: 'unreachable' } },
    ],
    ['not sent, attempts spent, after ambiguity', of('not-sent'), { answered: false, ...SPENT, ...AFTER }, { do: 'stop', ending: { effect: 'unknown' } }],
    ['in progress', of('in-progress'), { waits: 2 }, { do: 'wait', ms: 500, why: 'in-progress' }],
    ['in progress with Retry-After', of('in-progress'), { retryAfterMs: 4000 }, { do: 'wait', ms: 4000, why: 'in-progress' }],
    ['in progress, attempts spent: this wait does not depend on them', of('in-progress'), SPENT, { do: 'wait', why: 'in-progress' }],
    [
      'in progress, the time for such waits spent',
      of('in-progress'),
      { waitsEnd: NOW + 1, retryAfterMs: 4000 },
      { do: 'stop', ask: true, ending: { effect: 'unknown', reason: 'in-progress', retryAt: NOW + 4000 } },
    ],
    [
      'in progress, the deadline before the end of the time for such waits',
      of('in-progress'),
      { ...LATE, retryAfterMs: 4000 },
      { do: 'stop', ask: true, ending: { effect: 'unknown', reason: 'in-progress' } },
    ],
    [
      'a server that knows no keys: no answer',
      of('no-answer'),
      { keyed: false, answered: false },
      { do: 'stop', ask: true, ending: { effect: 'unknown', reason: 'no-answer' } },
    ],
    ['a server that knows no keys: 503', of('transient'), { keyed: false }, { do: 'stop', ask: true, ending: { effect: 'unknown', reason: 'unavailable' } }],
    ['a server that knows no keys: in progress', of('in-progress'), { keyed: false }, { do: 'stop', ending: { effect: 'unknown' } }],
    ['a server that knows no keys: 429', of('transient', { ambiguous: false }), { keyed: false }, { do: 'wait' }],
    [
      'a server that knows no keys: 429 to one of two copies',
      of('transient', { ambiguous: false }),
      { keyed: false, mayResend: true },
      { do: 'stop', ask: true, ending: { effect: 'unknown', reason: 'refused' } },
    ],
    [
      'changed: an unmarked 2xx',
      of('fresh'),
      { changed: true, ...AFTER },
      { do: 'settle', ask: true, ending: { type: 'fresh', certain: false, changed: true } },
    ],
    [
      'changed: a marked 2xx, no attempt with the present payload was ambiguous',
      of('replayed'),
      { changed: true, ...AFTER },
      { do: 'settle', earlier: true, ending: { type: 'replayed', effect: 'done', from: 'server' } },
    ],
    [
      'changed: a marked 2xx, an attempt with the present payload was ambiguous',
      of('replayed'),
      { changed: true, sameAmbiguous: true, ...AFTER },
      { do: 'settle', ask: true, ending: { type: 'fresh', certain: false, changed: true } },
    ],
    [
      'changed: a marked 2xx of a server that answers mismatches',
      of('replayed'),
      { changed: true, answersMismatch: true, ...AFTER },
      { do: 'settle', ending: { effect: 'done', changed: true } },
    ],
    [
      'changed: an unmarked 2xx of a server that answers mismatches',
      of('fresh'),
      { changed: true, answersMismatch: true, ...AFTER },
      { do: 'settle', ending: { type: 'fresh', changed: true } },
    ],
  ];
  test.each(TABLE)('%s', (_, reading, situation, decision) => expect(decide(reading, { ...CALM, ...situation })).toMatchObject(decision));

  test.each([
    ['no-answer', { deadline: NOW + 7000 }, { deadline: NOW + 7001 }],
    ['in-progress', { deadline: NOW + 7000 }, { deadline: NOW + 7001 }],
    ['in-progress', { waitsEnd: NOW + 7000 }, { waitsEnd: NOW + 7001 }],
  ] as const)('%s: stops if the wait would end exactly at the limit', (kind, ends, later) => {
    expect(decide(of(kind), { ...CALM, retryAfterMs: 7000, ...ends }).do).toBe('stop');
    expect(decide(of(kind), { ...CALM, retryAfterMs: 7000, ...later }).do).toBe('wait');
  });

  test('does not ask which payload took effect if the server answers mismatches', () => {
    for (const kind of ['fresh', 'replayed'] as const)
      expect(decide(of(kind), { ...CALM, changed: true, answersMismatch: true, ambiguous: true })).not.toMatchObject({ ask: true });
  });
});

/** Yields every combination of the values that a decision may depend on. */
function* situations(): Generator<Situation> {
  const flags = [false, true];
  for (const ambiguous of flags)
    for (const changed of flags)
      for (const sameAmbiguous of flags)
        for (const answersMismatch of flags)
          for (const keyed of flags)
            for (const answered of flags)
              for (const tries of [1, 4, 5, 6])
                for (const deadline of [NOW - 1, NOW, NOW + 100, NOW + 120_000])
                  for (const waitsEnd of [NOW - 1, NOW + 100, NOW + 60_000])
                    for (const retryAfterMs of [undefined, 1, 50, 30_000, 90_000, 31_536_000_000])
                      yield { ...CALM, ambiguous, changed, sameAmbiguous, answersMismatch, keyed, answered, tries, deadline, waitsEnd, retryAfterMs };
}

const ALWAYS: [what: string, holds: (d: Decision, r: Reading, s: Situation) => boolean][] = [
  ['a wait ends before the deadline', (d, _, s) => d.do !== 'wait' || s.now + d.ms < s.deadline],
  ['a wait for work in progress ends within the time for such waits', (d, _, s) => d.do !== 'wait' || d.why !== 'in-progress' || s.now + d.ms < s.waitsEnd],
  ['no other wait comes after the last attempt', (d, _, s) => d.do !== 'wait' || d.why === 'in-progress' || s.tries < s.triesMax],
  [
    "the server's Retry-After is never shortened, and lengthened only up to the minimum",
    (d, _, s) => d.do !== 'wait' || s.retryAfterMs === undefined || d.ms === atLeast(d.why === 'in-progress' ? s.waits : s.tries, s.retryAfterMs),
  ],
  [
    'after ambiguity only a sticky refusal is "none"',
    (d, r, s) => !('ending' in d) || d.ending.effect !== 'none' || !(s.ambiguous || (r.ambiguous && r.kind !== 'mismatch')) || r.sticky === true,
  ],
  [
    'an outcome is unsent only if the attempt was not sent and nothing before it was ambiguous',
    (d, r, s) => !('ending' in d) || d.ending.type !== 'unsent' || (r.kind === 'not-sent' && !s.ambiguous),
  ],
  [
    'a 2xx settles as done: it is never unknown, never none, and never leads to a wait',
    (d, r) => !/^(fresh|replayed)$/.test(r.kind) || (d.do === 'settle' && d.ending.effect === 'done'),
  ],
  ['only a 2xx is told as done', (d, r) => !('ending' in d) || d.ending.effect !== 'done' || /^(fresh|replayed)$/.test(r.kind)],
  ['a burnt key, an open answer or no verdict stops at once', (d, r) => !/^(burnt|open|not-a-verdict)$/.test(r.kind) || d.do === 'stop'],
  ['after ambiguity, nothing is sent again to a server that knows no keys', (d, r, s) => d.do !== 'wait' || s.keyed || !(s.ambiguous || r.ambiguous)],
  ['a refusal is never sent again', (d, r) => r.kind !== 'refused' || d.do !== 'wait'],
  [
    'retryAt is the time that the server asked for',
    (d, _, s) =>
      d.do !== 'stop' ||
      d.ending.type !== 'unknown' ||
      d.ending.retryAt === undefined ||
      (s.retryAfterMs !== undefined && d.ending.retryAt === s.now + s.retryAfterMs),
  ],
  [
    'a fresh outcome is certain only if one payload went out and nothing was ambiguous, or if the server says so',
    (d, r, s) =>
      !('ending' in d) ||
      d.ending.type !== 'fresh' ||
      !d.ending.certain ||
      ((!s.ambiguous || r.kind === 'replayed') && (!s.changed || s.answersMismatch === true)),
  ],
  ['an outcome is about an earlier payload only if another payload went out', (d, _, s) => d.do !== 'settle' || !d.earlier || s.changed],
];

describe('in every situation', () => {
  test.each(ALWAYS)('%s', (_, holds) => {
    let cases = 0;
    for (const situation of situations())
      for (const reading of READINGS) {
        // Only these two readings are possible without an HTTP answer.
        if (!situation.answered && !/^(not-sent|no-answer)$/.test(reading.kind)) continue;
        cases++;
        const decision = decide(reading, situation);
        if (!holds(decision, reading, situation)) expect({ reading, situation, decision }).toBe('impossible');
      }
    expect(cases).toBeGreaterThan(50_000);
  });

  test('the same reading in the same situation always leads to the same step', () => {
    for (const reading of READINGS) expect(decide(reading, CALM)).toEqual(decide(reading, CALM));
  });
});
