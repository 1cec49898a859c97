/** What one answer says, read as oncefetch reads it. */
import type { Answer, AnswerKind, Dialect } from '../core/dialect.js';
import { readAnswer } from '../core/verdict.js';
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
  return readAnswer(answerOf(came), { method: 'POST', key, refusesHtml: false, otherPayloads: true }, dialect, ambiguous, false).kind;
}

export const isSuccess = ({ status }: Came): boolean => status >= 200 && status < 300;

export const isRefusal = ({ status }: Came): boolean => status >= 400 && status < 500;

/** As in `201, 409 ×9`; answers that never came are `none`. */
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
