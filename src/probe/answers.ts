/** Reads single answers as oncefetch would. */
import type { Answer, AnswerKind, Dialect } from '../core/dialect.js';
import { readAnswer } from '../core/verdict.js';
import { valuesAt } from '../dialects/matching.js';
import type { Came } from './request.js';

export function answerOf({ status, headers, text }: Came): Answer {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status, type: 'default', redirected: false, header: (name) => headers.get(name), text, json };
}

export function kindOf(came: Came, dialect: Dialect, key: string, ambiguous = false): AnswerKind {
  return readAnswer(answerOf(came), { method: 'POST', key, refusesHtml: false, otherPayloads: true }, dialect, ambiguous).kind;
}

/** Where GraphQL reports inside a 2xx that something was not done: `errors`, or the `userErrors` of a mutation. */
const ERRORS_INSIDE = ['errors.*', 'data.*.userErrors.*'] as const;

function errorsInside(came: Came): readonly unknown[] {
  if (came.status < 200 || came.status > 299) return [];
  const { json } = answerOf(came);
  return ERRORS_INSIDE.flatMap((path) => valuesAt(json, path));
}

export const isSuccess = (came: Came): boolean => came.status >= 200 && came.status < 300 && errorsInside(came).length === 0;

export const isRefusal = (came: Came): boolean => (came.status >= 400 && came.status < 500) || errorsInside(came).length > 0;

/** Whether an error inside a 2xx says that the work goes on. Only its words can tell, because it has no status of its own. */
export const waitsInside = (came: Came): boolean => errorsInside(came).some((error) => /in.progress|concurrent/i.test(wordsIn(error)));

/** A value as JSON; nothing if it is nested so deep that it can't be written. */
function wordsIn(error: unknown): string {
  try {
    return JSON.stringify(error);
  } catch {
    return '';
  }
}

/** The statuses of answers, as in `201, 409 ×9`; `none` for answers that never came. */
export function statusesOf(answers: readonly (Came | undefined)[]): string {
  const runs: { said: string; times: number }[] = [];
  for (const came of answers) {
    const said = came ? String(came.status) : 'none';
    const last = runs.at(-1);
    if (last?.said === said) last.times++;
    else runs.push({ said, times: 1 });
  }
  return runs.map(({ said, times }) => (times > 1 ? `${said} ×${times}` : said)).join(', ');
}
