/** Tells which answers a rule is for. */
import type { Answer } from '../core/dialect.js';

/** What an answer must look like for a rule to apply: each given field must fit. */
export interface Match {
  readonly status?: number | readonly number[] | undefined;
  /**
   * Values in the JSON body by their paths, compared as text: `'error.code': 'idempotency_key_in_use'`, `duplicate: 'true'`. In a path,
   * `*` stands for any one member or element, and `*Errors` for any one member whose name ends in `Errors`.
   */
  readonly at?: Readonly<Record<string, string | RegExp>> | undefined;
  /** A path where there is a value other than null and an empty text, list or object. */
  readonly present?: string | undefined;
  /** A path where there is no value, not even null. */
  readonly absent?: string | undefined;
  /** A path where there is no value, or only null. */
  readonly empty?: string | undefined;
  readonly headers?: Readonly<Record<string, string | RegExp>> | undefined;
  /** Must match the body's text. For bodies that are not JSON. */
  readonly text?: RegExp | undefined;
  /** The rule applies only to answers after a redirect. By default it applies to none of them. */
  readonly redirected?: boolean | undefined;
  /** The rule applies only if an earlier attempt may have had the effect. */
  readonly afterAmbiguity?: boolean | undefined;
}

/** At most this many members are read, so that a hostile body can't cost much time. */
const MEMBERS_MAX = 100;

function endingIn(one: object, end: string): readonly unknown[] {
  const found: unknown[] = [];
  // Unlike `Object.entries`, this makes no list of all members.
  for (const name in one) {
    if (found.length === MEMBERS_MAX) break;
    if (name.endsWith(end) && Object.hasOwn(one, name)) found.push((one as Record<string, unknown>)[name]);
  }
  return found;
}

/** All values at a path. */
export function valuesAt(json: unknown, path: string): readonly unknown[] {
  let found: unknown[] = [json];
  for (const name of path.split('.')) {
    found = found
      .filter((one): one is object => typeof one === 'object' && one !== null)
      .flatMap((one) => (name[0] === '*' ? endingIn(one, name.slice(1)) : Object.hasOwn(one, name) ? [(one as Record<string, unknown>)[name]] : []))
      .slice(0, MEMBERS_MAX);
  }
  return found;
}

const fits = (value: unknown, wanted: string | RegExp): boolean => {
  if (!/^(string|number|boolean)$/.test(typeof value)) return false;
  return typeof wanted === 'string' ? String(value) === wanted : wanted.test(String(value));
};

const isEmpty = (value: unknown): boolean => value === '' || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

export function matches(rule: Match, answer: Answer, ambiguous: boolean): boolean {
  const { status, at = {}, present, absent, empty, headers = {}, text, redirected = false, afterAmbiguity } = rule;
  if (afterAmbiguity && !ambiguous) return false;
  if (answer.redirected !== redirected || /^opaque/.test(answer.type)) return false;
  if (status !== undefined && ![status].flat().includes(answer.status)) return false;
  if (text && !text.test(answer.text)) return false;
  if (present !== undefined && valuesAt(answer.json, present).every(isEmpty)) return false;
  if (absent !== undefined && valuesAt(answer.json, absent).length > 0) return false;
  if (empty !== undefined && valuesAt(answer.json, empty).some((value) => value !== null)) return false;
  return (
    Object.entries(headers).every(([name, wanted]) => fits(answer.header(name), wanted)) &&
    Object.entries(at).every(([path, wanted]) => valuesAt(answer.json, path).some((value) => fits(value, wanted)))
  );
}
