/** Which dialect reads this server's answers rightly: one of ours, or a definition to paste. */
import type { AnswerKind, Dialect } from '../core/dialect.js';
import type { DefinedDialect } from '../dialects/define.js';
import type { AnswerRule } from '../dialects/definition.js';
import { generic } from '../dialects/generic.js';
import { matches } from '../dialects/matching.js';
import { answerOf, kindOf } from './answers.js';
import type { Evidence } from './evidence.js';
import { NAMED } from './named.js';
import type { ProbeRow } from './row.js';

/** The dialect to write, as code. */
export interface FittingDialect {
  readonly name: string;
  /** What to give `createOnce` as `dialect`; empty where the default does. */
  readonly code: string;
}

/** How each kind of evidence may be read. */
const READINGS: Readonly<Record<Evidence['means'], readonly AnswerKind[]>> = {
  first: ['fresh', 'accepted'],
  again: ['fresh', 'replayed', 'accepted', 'in-progress', 'burnt', 'transient'],
  'in-progress': ['in-progress', 'transient'],
  mismatch: ['mismatch', 'refused'],
  'done-before': ['done-elsewhere', 'open'],
};

const reads = (dialect: Dialect, { key, came, means }: Evidence): boolean => READINGS[means].includes(kindOf(came, dialect, key, means !== 'first'));

const readsAll = (dialect: Dialect, evidence: readonly Evidence[]): boolean => evidence.every((one) => reads(dialect, one));

/** Code for the place of a key, from the text that a record keeps of it. */
export function placeCode(carrier: string): string {
  const [, header = ''] = /^header:([^+]+)$/.exec(carrier) ?? [];
  if (header) return `inHeader('${header}')`;
  const [, quoted = ''] = /^header-sf:([^+]+)$/.exec(carrier) ?? [];
  if (quoted) return `inHeader('${quoted}', { quoted: true })`;
  const [, kind, name = ''] = /^(body|query):(.+)$/.exec(carrier) ?? [];
  return kind === 'body' ? `inBody('${name}')` : `inQuery('${name}')`;
}

/** The path to a code of the application's in the answer, and the code. */
function codeIn(json: unknown, path: readonly string[] = []): readonly [path: string, code: string] | undefined {
  if (typeof json !== 'object' || json === null || path.length > 4) return undefined;
  for (const [name, value] of Object.entries(json)) {
    if (/^(code|error|type|errorCode|error_code|title)$/.test(name) && typeof value === 'string' && value !== 'about:blank')
      return [[...path, name].join('.'), value];
    const deeper = codeIn(value, [...path, /^\d+$/.test(name) ? '*' : name]);
    if (deeper) return deeper;
  }
  return undefined;
}

/** What a rule may say that each kind of evidence means. */
const MEANS: Readonly<Record<Evidence['means'], AnswerRule['means']>> = {
  first: 'fresh',
  again: 'fresh',
  'in-progress': 'in-progress',
  mismatch: 'mismatch',
  'done-before': 'open',
};

function ruleCode({ came, means }: Evidence): string {
  const found = codeIn(answerOf(came).json);
  const at = found ? `, at: { ${/^\w+$/.test(found[0]) ? found[0] : `'${found[0]}'`}: ${JSON.stringify(found[1]).replace(/^"(.*)"$/, "'$1'")} }` : '';
  return `{ status: ${came.status}${at}, means: '${MEANS[means]}' }`;
}

function definitionCode(carrier: string, rules: readonly string[], rows: readonly ProbeRow[]): string {
  const ignores = rows.some(({ finding }) => finding === 'ignores-payload');
  const replays = rows.some(({ row, finding }) => row === 'again' && (finding === 'replays' || finding === 'replays-marked'));
  const lines = [
    `  name: 'mine',`,
    `  place: ${placeCode(carrier)},`,
    ...(replays ? ['  replays: true,'] : []),
    ...(ignores ? ['  answersMismatch: false,'] : []),
    ...(rules.length > 0 ? ['  answers: [', ...rules.map((rule) => `    ${rule},`), '  ],'] : []),
  ];
  return `defineDialect({\n${lines.join('\n')}\n})`;
}

/** The header beside a key, with the time of its first attempt, is no other place. */
const sameCarrier = (one: string, other: string): boolean => one.replace(/\+.*/, '').toLowerCase() === other.replace(/\+.*/, '').toLowerCase();

/** Many servers share this header: there a dialect is recognized by its codes only. */
const isShared = (carrier: string): boolean => sameCarrier(carrier, 'header:Idempotency-Key');

/** Whether one of the answers bears a code that only this dialect has. */
const isRecognized = ({ definition: { answers = [] } }: DefinedDialect, evidence: readonly Evidence[]): boolean =>
  evidence.some(({ came, means }) =>
    answers.some((rule) => rule.at && READINGS[means].includes(rule.means as AnswerKind) && matches(rule, answerOf(came), means !== 'first')),
  );

/** A server that marks its replays would have marked these. */
const marksReplays = (dialect: DefinedDialect, evidence: readonly Evidence[]): boolean =>
  !dialect.definition.marker || evidence.every(({ came, means }) => means !== 'again' || dialect.replayed(answerOf(came)));

function namedFor(rows: readonly ProbeRow[], evidence: readonly Evidence[], carrier: string): FittingDialect | undefined {
  const ignores = rows.some(({ finding }) => finding === 'ignores-payload');
  const found = NAMED.find(
    ({ dialect }) =>
      sameCarrier(dialect.carrier, carrier) &&
      (!isShared(carrier) || isRecognized(dialect, evidence)) &&
      (!ignores || dialect.answersMismatch !== true) &&
      marksReplays(dialect, evidence) &&
      readsAll(dialect, evidence),
  );
  return found && { name: found.dialect.name, code: found.code };
}

/** The dialect that fits; `carrier`: where the key went. */
export function fittingDialect(rows: readonly ProbeRow[], evidence: readonly Evidence[], carrier: string): FittingDialect {
  if (rows.some(({ row, finding }) => row === 'again' && finding === 'doubles')) return { name: 'none', code: `() => 'none'` };
  const named = namedFor(rows, evidence, carrier);
  if (named) return named;
  const [, header] = /^header:([^+]+)$/.exec(carrier) ?? [];
  const ignores = rows.some(({ finding }) => finding === 'ignores-payload');
  if (header && !ignores && readsAll(generic({ header }), evidence))
    return { name: 'generic', code: isShared(carrier) ? '' : `generic({ header: '${header}' })` };
  const misread = evidence.filter((one) => !reads({ ...generic(), carrier }, one));
  return { name: 'mine', code: definitionCode(carrier, [...new Set(misread.map(ruleCode))], rows) };
}
