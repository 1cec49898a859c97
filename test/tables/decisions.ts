/** The decision for every reading in every situation. All situations are enumerated, and a row names only the facts that make a difference. */
import { COPY_LIFETIME_MS, type Decision, decide, type Situation } from '../../src/core/decide.js';
import type { Reading } from '../../src/core/dialect.js';
import type { Ending } from '../../src/core/outcome.js';
import { CALM } from '../support/situation.js';

/** The facts in which situations can differ, in words for the reader. */
const FACTS = {
  ambiguous: ['nothing unsure', 'something unsure'],
  changed: ['one payload', 'another payload may have gone out'],
  sameAmbiguous: ['this payload was never unsure', 'this payload was unsure before'],
  answersMismatch: ['mismatches unanswered', 'mismatches answered'],
  reused: ['no refusal told', 'a refusal told'],
  refusedOnly: ['not only refusals', 'only refusals'],
  madeAgain: ['a key with a memory', 'a derived key without one'],
  mayResend: ['no unseen copies', 'copies may go unseen'],
  repeated: ['a new refusal', 'the same refusal as two minutes ago'],
  keyed: ['no keys', 'keys'],
  answered: ['unanswered', 'answered'],
  spent: ['within the limits', 'at the limits'],
} as const;

type Fact = keyof typeof FACTS;
type Facts = Readonly<Record<Fact, boolean>>;

const NAMES = Object.keys(FACTS) as Fact[];

/**
 * Whether these facts can occur together. Without ambiguity before, this payload was never ambiguous, there were not only refusals, and
 * another payload can have gone out only if a refusal was told. After ambiguity, no refusal was told before.
 */
const possible = ({ ambiguous, changed, sameAmbiguous, reused, refusedOnly }: Facts): boolean =>
  ambiguous ? !reused : !(sameAmbiguous || refusedOnly || (changed && !reused));

export const ALL: readonly Facts[] = Array.from(
  { length: 2 ** NAMES.length },
  (_, bits) => Object.fromEntries(NAMES.map((name, at) => [name, ((bits >> at) & 1) === 1])) as Record<Fact, boolean>,
).filter(possible);

export const situationOf = ({ spent, repeated, ...facts }: Facts): Situation => ({
  ...CALM,
  ...facts,
  ...(spent && { tries: CALM.triesMax, waitsEnd: 0 }),
  ...(repeated && { refusedForMs: COPY_LIFETIME_MS }),
});

const endingSays = (ending: Ending): string => {
  if (ending.type === 'fresh') return `done: fresh${ending.certain ? '' : ', not certain'}${ending.changed ? ', changed' : ''}`;
  if (ending.type === 'replayed') return 'done: replayed';
  if (ending.type === 'rejected') return `none: rejected${ending.replayed ? ', replayed' : ''}`;
  if (ending.type === 'unsent') return 'none: unsent';
  return `unknown: ${ending.reason}`;
};

/** A decision in one line. */
export function says(decision: Decision): string {
  switch (decision.do) {
    case 'wait':
      return decision.why === 'in-progress' ? 'wait for the work, same key' : 'wait, same key';
    case 'settle': {
      const whose = decision.earlier ? ' (the earlier payload)' : decision.keyInUse ? ', key in use' : '';
      return `${decision.ask ? '`reconcile` or ' : ''}**${endingSays(decision.ending)}**${whose}`;
    }
    case 'stop':
      return `${decision.ask ? '`reconcile` or ' : ''}${endingSays(decision.ending)}`;
    case 'done-elsewhere':
      return '`reconcile` or **done**: ERR_ONCE_ALREADY_DONE';
    case 'anew':
      return 'go on under a new key';
    case 'probe':
      return 'earlier payloads, `reconcile` or unknown: mismatch';
    case 'poll':
      return 'poll the link';
  }
}

const READINGS: readonly (readonly [string, Reading])[] = [
  ['not sent', { kind: 'not-sent', ambiguous: false }],
  ['no answer', { kind: 'no-answer', ambiguous: true }],
  ['not a verdict', { kind: 'not-a-verdict', ambiguous: true }],
  ['accepted', { kind: 'accepted', ambiguous: true }],
  ['replayed', { kind: 'replayed', ambiguous: false }],
  ['burnt', { kind: 'burnt', ambiguous: true }],
  ['mismatch', { kind: 'mismatch', ambiguous: true }],
  ['done elsewhere', { kind: 'done-elsewhere', ambiguous: false }],
  ['open', { kind: 'open', ambiguous: true }],
  ['in progress', { kind: 'in-progress', ambiguous: true }],
  ['fresh', { kind: 'fresh', ambiguous: false }],
  ['transient (unsure)', { kind: 'transient', ambiguous: true }],
  ['transient (no effect)', { kind: 'transient', ambiguous: false }],
  ['refused (unsure)', { kind: 'refused', ambiguous: true }],
  ['refused by the application', { kind: 'refused', ambiguous: false, from: 'application' }],
  ['refused', { kind: 'refused', ambiguous: false }],
  ['refused, perhaps in front', { kind: 'refused', ambiguous: false, from: 'in-front' }],
  ['refused, sticky', { kind: 'refused', ambiguous: false, sticky: true, from: 'application' }],
  ['refused, replayed', { kind: 'refused', ambiguous: false, sticky: true, replayed: true, from: 'application' }],
];

const flip = (facts: Facts, name: Fact): Facts => ({ ...facts, [name]: !facts[name] });

/** The facts that make a difference for this reading. */
function relevant(reading: Reading): readonly Fact[] {
  const told = (facts: Facts): string => says(decide(reading, situationOf(facts)));
  return NAMES.filter((name) => ALL.some((facts) => possible(flip(facts, name)) && told(facts) !== told(flip(facts, name))));
}

type Row = readonly [reading: string, facts: string, decision: string];

let rows: readonly Row[] | undefined;

/** The rows of the table, one per combination of facts that make a difference. */
export const decisionRows = (): readonly Row[] => (rows ??= allRows());

function allRows(): readonly Row[] {
  return READINGS.flatMap(([name, reading]) => {
    const facts = relevant(reading);
    const rows = new Map<string, Set<string>>();
    for (const one of ALL) {
      const when = facts.map((fact) => FACTS[fact][Number(one[fact])]).join(', ') || 'always';
      rows.set(when, (rows.get(when) ?? new Set()).add(says(decide(reading, situationOf(one)))));
    }
    // Two decisions in one row would mean that a relevant fact was left out.
    return [...rows].map(([when, decisions]) => [name, when, [...decisions].join(' / ')] as const);
  });
}
