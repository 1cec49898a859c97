/**
 * Checks of a dialect's definition: what only a mistake in the code can make wrong. Such a mistake shows itself the first time that the
 * code runs, so production pages get `definition-check-lean.ts` instead (docs/decisions/0030-texts-and-builds.md).
 */
import { carryOf, isPlace } from '../core/carrier.js';
import { typeOf } from '../core/name.js';
import { mayHideEffect } from '../core/verdict.js';
import { wrong } from '../texts/full.js';
import type { AnswerRule, DialectDefinition } from './definition.js';
import type { Match } from './matching.js';

const SAMPLE = '9f8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d';

/** The values of {@link AnswerRule.means}. */
const MEANINGS = /^(in-progress|mismatch|done-elsewhere|refused|transient|burnt|open|fresh)$/;

/** Throws a TypeError on a definition that has no name, or whose members have other types. */
export function checkShape(definition: DialectDefinition): void {
  const { name, marker, answers = [] } = checkObject('a dialect', definition);
  if (typeof name !== 'string' || !/^[\w-]+$/.test(name)) throw new TypeError(wrong('name of a dialect', 'dialect-name', JSON.stringify(name) ?? typeOf(name)));
  if (marker) checkObject(`dialect ${name}: marker`, marker);
  if (!Array.isArray(answers)) throw new TypeError(wrong(`dialect ${name}: answers`, 'dialect-answers', typeOf(answers)));
  for (const [index, rule] of answers.entries()) checkObject(`dialect ${name}: answers[${index}]`, rule);
}

function checkObject<Given>(what: string, given: Given): Given {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw new TypeError(wrong(what, 'dialect-object', typeOf(given)));
  return given;
}

/** Throws a TypeError or RangeError on a definition that can't be right. */
export function checkDefinition({ name, place, shape, windowMs, marker, answers = [] }: DialectDefinition, pattern: RegExp): void {
  const of = `dialect ${name}`;
  if (typeof (place as Partial<typeof place> | undefined)?.carrier !== 'string') throw new TypeError(wrong(`${of}: place`, 'dialect-place', typeOf(place)));
  if (!isPlace(place.carrier) || !carryOf(place.carrier, place.carry)) throw new TypeError(wrong(`${of}: ${JSON.stringify(place.carrier)}`, 'dialect-place'));
  if (/[gy]/.test(pattern.flags)) throw new TypeError(wrong(`${of}: pattern`, 'pattern-flags'));
  for (const hole of ['a\r\nb', 'a\nb', 'a\u0000b', ''])
    if (pattern.test(hole)) throw new RangeError(wrong(`${of}: pattern`, 'pattern-holes', JSON.stringify(hole)));
  if (!pattern.test(shape ? shape(SAMPLE) : SAMPLE)) throw new RangeError(wrong(`${of}: pattern`, 'pattern-uuid'));
  if (windowMs !== undefined && !(windowMs > 0 && windowMs < Number.MAX_SAFE_INTEGER))
    throw new RangeError(wrong(`${of}: windowMs`, 'window-time', String(windowMs)));
  if (marker) checkMatch(`${of}: marker`, marker);
  for (const [index, rule] of answers.entries()) checkRule(`${of}: answers[${index}]`, rule);
}

/** Refuses what would match every answer, and patterns with the flags `g` or `y`, which match only every other time. */
function checkMatch(where: string, { status, at, present, headers, text, redirected }: Match): void {
  if (status === undefined && !Object.keys({ ...at, ...headers }).length && !present && !text && !redirected) throw new TypeError(wrong(where, 'rule-for-all'));
  for (const one of [text, ...Object.values({ ...at }), ...Object.values({ ...headers })])
    if (/[gy]/.test((one as Partial<RegExp> | undefined)?.flags ?? '')) throw new TypeError(wrong(`${where}: ${one}`, 'pattern-flags'));
  for (const [member, wanted] of Object.entries({ at, headers }))
    for (const [path, value] of Object.entries<unknown>(wanted ?? {}))
      if (typeof value !== 'string' && !(value instanceof RegExp)) throw new TypeError(wrong(`${where}: ${member}.${path}`, 'rule-value', typeOf(value)));
  for (const one of [status ?? []].flat()) if (typeof one !== 'number') throw new TypeError(wrong(`${where}: status`, 'rule-status', JSON.stringify(one)));
}

function checkRule(rule: string, match: AnswerRule): void {
  const { status, sticky, means } = match;
  checkMatch(rule, match);
  if (!MEANINGS.test(means)) throw new TypeError(wrong(rule, 'rule-means', JSON.stringify(means)));
  if (sticky && means !== 'refused') throw new TypeError(wrong(rule, 'rule-sticky'));
  if (sticky && [status ?? []].flat().some(mayHideEffect)) throw new RangeError(wrong(rule, 'rule-burnt', String(status)));
  if (means === 'fresh' && (status === undefined || [status].flat().some((one) => one < 200 || one > 399)))
    throw new RangeError(wrong(rule, 'rule-done', String(status)));
}
