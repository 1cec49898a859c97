/** Writes the rules of a definition: what tells an answer from those that mean something else, and what it means. */
import { isObject } from '../core/name.js';
import type { AnswerRule } from '../dialects/definition.js';
import { matches } from '../dialects/matching.js';
import { answerOf, isSuccess } from './answers.js';
import type { Evidence } from './evidence.js';
import type { Came } from './request.js';

/** A member of an answer: the names that lead to it, and its value as text. */
interface Member {
  readonly names: readonly string[];
  readonly value: string;
}

const CODES = /^(code|error|type|errorCode|error_code|title)$/;
/** What says how an operation ended, the plainest first. */
const STATES = [/^(errorCode|error_code|error)$/, /^(status|state|result|resultCode|success|ok)$/, /^message$/] as const;

/** The `means` of a rule for each kind of evidence. */
const MEANS: Readonly<Record<Evidence['means'], AnswerRule['means']>> = {
  first: 'fresh',
  again: 'fresh',
  done: 'fresh',
  'in-progress': 'in-progress',
  mismatch: 'mismatch',
  'done-before': 'open',
  refused: 'refused',
};

function* membersOf(json: unknown, path: readonly string[] = []): Generator<Member> {
  if (!isObject(json) || path.length > 4) return;
  for (const [name, value] of Object.entries(json)) {
    const names = [...path, /^\d+$/.test(name) ? '*' : name];
    if (/^(string|boolean)$/.test(typeof value) && value !== 'about:blank') yield { names, value: String(value) };
    yield* membersOf(value, names);
  }
}

const lastOf = ({ names }: Member): string => names.at(-1) ?? '';
const isBelowError = ({ names }: Member): boolean => names.slice(0, -1).some((name) => /error/i.test(name));

/** How many names lead to the members of the object that an answer is about: the outermost one that is more than a wrapper around another. */
function depthOf(json: unknown): number {
  const inner = isObject(json) && !Array.isArray(json) ? Object.values(json) : [];
  return inner.length === 1 ? 1 + depthOf(inner[0]) : 1;
}

/** The members that can tell an answer from a success with the same status: those of an error, and then the answer's own state. */
function telling(json: unknown): Member[] {
  const members = [...membersOf(json)];
  const errors = members.filter(isBelowError);
  const own = members.filter(({ names }) => names.length <= depthOf(json));
  return [...errors.filter((one) => CODES.test(lastOf(one))), ...STATES.flatMap((state) => [...errors, ...own].filter((one) => state.test(lastOf(one))))];
}

/** The words of a text, each between spaces. */
function wordsOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return ` ${words.join(' ')} `;
}

/** Whether the server did not take the value from the request. Another payload is echoed with other values, which tell nothing. */
const isOwnWord = ({ sent = '' }: Came, value: string): boolean =>
  /^(true|false)$/.test(value) || (/[\p{L}\p{N}]/u.test(value) && !/probe-[\da-f]{8}/.test(value) && !wordsOf(sent).includes(wordsOf(value)));

/** Whether a client must not take one for the other. Both `open` and `in-progress` leave open how the operation ended. */
const contradicts = (one: Evidence, other: Evidence): boolean =>
  MEANS[one.means] !== MEANS[other.means] && ![one, other].every(({ means }) => means === 'done-before' || means === 'in-progress');

const is2xx = ({ status }: Came): boolean => status >= 200 && status < 300;

/** Text as code. */
export const textCode = (text: string): string => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
const nameCode = (path: string): string => (/^\w+$/.test(path) ? path : textCode(path));

/** The rule for an answer; a comment if nothing tells it from answers with the same status that mean something else. */
function ruleCode(one: Evidence, evidence: readonly Evidence[]): string {
  const { came, means } = one;
  const answer = answerOf(came);
  const others = evidence.filter((other) => other.came.status === came.status && contradicts(one, other));
  const fits = ({ names, value }: Member): boolean => {
    const rule = { at: { [names.join('.')]: value } };
    // A name with a dot in it can't be in a path.
    return isOwnWord(came, value) && matches(rule, answer, false) && !others.some((other) => matches(rule, answerOf(other.came), false));
  };
  const found = (is2xx(came) ? telling(answer.json) : [...membersOf(answer.json)].filter((member) => CODES.test(lastOf(member)))).find(fits);
  // A 2xx is a success unless it says otherwise. Only a 202 says by itself that the work goes on.
  const alone = others.length === 0 && (!is2xx(came) || (came.status === 202 && means === 'in-progress'));
  const told = alone || (found && (!is2xx(came) || others.some((other) => isSuccess(other.came))));
  if (!told)
    return `// a ${came.status} can also mean '${MEANS[means]}': add a rule with what such an answer has and ${is2xx(came) ? 'a success' : 'others'} has not`;
  const at = found ? `, at: { ${nameCode(found.names.join('.'))}: ${textCode(found.value)} }` : '';
  return `{ status: ${came.status}${at}, means: '${MEANS[means]}' },`;
}

/** The rules for the answers that are misread, each condition once: the first rule that fits counts, so those without a member come last. */
export function rulesFor(misread: readonly Evidence[], evidence: readonly Evidence[]): readonly string[] {
  const rules = new Map<string, string>();
  for (const rule of misread.map((one) => ruleCode(one, evidence))) {
    const condition = rule.replace(/, means: .*/, '');
    if (!rules.has(condition)) rules.set(condition, rule);
  }
  const isBroad = (rule: string): boolean => /^\{ status: \d+, means/.test(rule);
  return [...rules.values()].sort((one, other) => Number(isBroad(one)) - Number(isBroad(other)));
}
