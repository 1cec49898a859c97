/** Finds the dialect that reads this server's answers correctly: one of the package's own, or a definition to paste. */
import type { AnswerKind, Dialect } from '../core/dialect.js';
import type { DefinedDialect } from '../dialects/define.js';
import type { AnswerRule } from '../dialects/definition.js';
import { generic } from '../dialects/generic.js';
import { matches } from '../dialects/matching.js';
import { answerOf, isSuccess, kindOf } from './answers.js';
import type { Evidence } from './evidence.js';
import { NAMED } from './named.js';
import type { Came } from './request.js';
import type { ProbeRow } from './row.js';
import type { ProbeRowName } from './rows.js';

/** The dialect to use, as code. */
export interface FittingDialect {
  readonly name: string;
  /** The option `dialect` for `createOnce`; empty if the default fits. */
  readonly code: string;
}

/** The readings that are correct for each kind of evidence. */
const READINGS: Readonly<Record<Evidence['means'], readonly AnswerKind[]>> = {
  first: ['fresh', 'accepted'],
  again: ['fresh', 'replayed', 'accepted', 'in-progress', 'burnt', 'transient'],
  'in-progress': ['in-progress', 'transient'],
  mismatch: ['mismatch', 'refused'],
  'done-before': ['done-elsewhere', 'open'],
  refused: ['refused'],
};

const reads = (dialect: Dialect, { key, came, means }: Evidence): boolean => READINGS[means].includes(kindOf(came, dialect, key, means !== 'first'));

const readsAll = (dialect: Dialect, evidence: readonly Evidence[]): boolean => evidence.every((one) => reads(dialect, one));

/** The code for a place, from its text as records keep it. */
function placeCode(carrier: string): string {
  const [, header = ''] = /^header:([^+]+)$/.exec(carrier) ?? [];
  if (header) return `inHeader('${header}')`;
  const [, quoted = ''] = /^header-sf:([^+]+)$/.exec(carrier) ?? [];
  if (quoted) return `inHeader('${quoted}', { quoted: true })`;
  const [, kind, name = ''] = /^(body|query):(.+)$/.exec(carrier) ?? [];
  return kind === 'body' ? `inBody('${name}')` : `inQuery('${name}')`;
}

const CODES = /^(code|error|type|errorCode|error_code|title)$/;
/** What can tell another answer from a success with the same status. */
const STATES = /^(status|state|result|resultCode|success|ok|message)$/;

/** The members with such a name in an answer, with their paths: an error code of the application, for example. */
function* codesIn(json: unknown, names: RegExp, path: readonly string[] = []): Generator<readonly [path: string, code: string]> {
  if (typeof json !== 'object' || json === null || path.length > 4) return;
  for (const [name, value] of Object.entries(json)) {
    if (names.test(name) && /^(string|boolean)$/.test(typeof value) && value !== 'about:blank') yield [[...path, name].join('.'), String(value)];
    yield* codesIn(value, names, [...path, /^\d+$/.test(name) ? '*' : name]);
  }
}

/** The `means` of a rule for each kind of evidence. */
const MEANS: Readonly<Record<Evidence['means'], AnswerRule['means']>> = {
  first: 'fresh',
  again: 'fresh',
  'in-progress': 'in-progress',
  mismatch: 'mismatch',
  'done-before': 'open',
  refused: 'refused',
};

/** The rule for an answer. It must not fit the answers that report a success, which may have the same status. */
function ruleCode({ came, means }: Evidence, successes: readonly Came[]): string {
  const { json } = answerOf(came);
  const others = successes.filter(({ status }) => status === came.status).map(answerOf);
  const isOwn = ([path, code]: readonly [string, string]): boolean => others.every((other) => !matches({ at: { [path]: code } }, other, false));
  const found = [...codesIn(json, CODES), ...(others.length > 0 ? codesIn(json, STATES) : [])].find(isOwn);
  if (!found && others.length > 0) return `// a ${came.status} can also mean '${MEANS[means]}': add a rule with what such an answer has and a success has not`;
  const at = found ? `, at: { ${/^\w+$/.test(found[0]) ? found[0] : `'${found[0]}'`}: ${textCode(found[1])} }` : '';
  return `{ status: ${came.status}${at}, means: '${MEANS[means]}' },`;
}

const textCode = (text: string): string => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

function definitionCode(carrier: string, rules: readonly string[], rows: readonly ProbeRow[]): string {
  const ignores = ignoresPayload(rows);
  const replays = rows.some(({ row, finding }) => row === 'again' && (finding === 'replays' || finding === 'replays-marked'));
  const lines = [
    `  name: 'mine',`,
    `  place: ${placeCode(carrier)},`,
    ...(replays ? ['  replays: true,'] : []),
    ...(ignores ? ['  answersMismatch: false,'] : []),
    ...(rules.length > 0 ? ['  answers: [', ...rules.map((rule) => `    ${rule}`), '  ],'] : []),
  ];
  return `defineDialect({\n${lines.join('\n')}\n})`;
}

/** Whether two places are the same. A second header with the time of the first attempt makes no difference. */
const sameCarrier = (one: string, other: string): boolean => one.replace(/\+.*/, '').toLowerCase() === other.replace(/\+.*/, '').toLowerCase();

/** Whether many servers use this header. Then a dialect can be recognised only by its codes. */
const isShared = (carrier: string): boolean => sameCarrier(carrier, 'header:Idempotency-Key');

/** Whether one of the answers has a code of this dialect. */
const isRecognized = ({ definition: { answers = [] } }: DefinedDialect, evidence: readonly Evidence[]): boolean =>
  evidence.some(({ came, means }) =>
    answers.some((rule) => rule.at && READINGS[means].includes(rule.means as AnswerKind) && matches(rule, answerOf(came), means !== 'first')),
  );

/** Whether the replays are marked as this dialect's server would mark them. */
const marksReplays = (dialect: DefinedDialect, evidence: readonly Evidence[]): boolean =>
  !dialect.definition.marker || evidence.every(({ came, means }) => means !== 'again' || dialect.replayed(answerOf(came)));

function namedFor(rows: readonly ProbeRow[], evidence: readonly Evidence[], carrier: string): FittingDialect | undefined {
  const ignores = ignoresPayload(rows);
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

/** Rows in which a client sends nothing but copies of its own request, after an answer that did not come. */
const RESENT: readonly ProbeRowName[] = ['again', 'at-once', 'answer-cut', 'reset', 'killed'];

/** Whether a client must not send another payload under a key that is open. */
const ignoresPayload = (rows: readonly ProbeRow[]): boolean =>
  rows.some(({ row, finding }) => finding === 'ignores-payload' || (row === 'other-payload' && finding === 'doubles'));

/** The dialect that fits; `undefined` if no answer shows any. `carrier`: where the key was sent. */
export function fittingDialect(rows: readonly ProbeRow[], evidence: readonly Evidence[], carrier: string): FittingDialect | undefined {
  if (rows.some(({ row, finding }) => finding === 'doubles' && RESENT.includes(row))) return { name: 'none', code: `'none'` };
  if (evidence.length === 0) return undefined;
  const named = namedFor(rows, evidence, carrier);
  if (named) return named;
  const [, header] = /^header:([^+]+)$/.exec(carrier) ?? [];
  const ignores = ignoresPayload(rows);
  if (header && !ignores && readsAll(generic({ header }), evidence))
    return { name: 'generic', code: isShared(carrier) ? '' : `generic({ header: '${header}' })` };
  const misread = evidence.filter((one) => !reads({ ...generic(), carrier }, one));
  const successes = evidence.flatMap(({ came, means }) => (isSuccess(came) && (means === 'first' || means === 'again') ? [came] : []));
  return { name: 'mine', code: definitionCode(carrier, [...new Set(misread.map((one) => ruleCode(one, successes)))], rows) };
}
