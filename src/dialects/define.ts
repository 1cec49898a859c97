/** Makes dialects from data. */
import { carryOf } from '../core/carrier.js';
import type { Answer, AnswerKind, Dialect, Reading } from '../core/dialect.js';
import { unsure } from '../core/verdict.js';
import { wrong } from '../texts/full.js';
import { bearsMarker, GENERIC, isMarked } from './generic.js';
import type { KeyLocation } from './key-location.js';
import { type Match, matches, valuesAt } from './matching.js';
import { onlyKnown } from './misspelled.js';

/** What one kind of answer means. */
export interface AnswerRule extends Match {
  /**
   * `in-progress`: an earlier attempt is at work; the same key is sent again later. `mismatch`: the key came with another payload
   * before. `done-elsewhere`: it is done, but the server does not give the answer again. `refused`: this attempt had no effect.
   * `transient`: another attempt with the same key may succeed. `burnt`: the server will not execute this key again, and nobody knows
   * what happened; if `reconcile` says `'none'`, the call goes on under a new key. `open`: the answer does not tell; ask `reconcile`.
   * `fresh`: it took effect, although the answer does not look like it; with the replay marker, that counts as `replayed`.
   */
  readonly means: Exclude<AnswerKind, 'not-sent' | 'no-answer' | 'not-a-verdict' | 'accepted' | 'replayed'>;
  /** For `refused`: no later copy under this key can take effect, because it gets the same refusal or is turned away as a repetition. Not allowed for a 5xx. */
  readonly sticky?: boolean | undefined;
  /** For `done-elsewhere`: the path to the server's id of the thing that exists already. */
  readonly resource?: string | undefined;
}

/** How a server speaks idempotency. Leave out what is not known. */
export interface DialectDefinition {
  /** The name for messages and records: letters, digits and hyphens. */
  readonly name: string;
  readonly place: KeyLocation;
  /** What a key must look like. @default visible ASCII, at most 255 characters */
  readonly pattern?: RegExp | undefined;
  /** Turns a UUID into a key that fits the pattern. Needed if UUIDs do not fit it. */
  readonly shape?: ((uuid: string) => string) | undefined;
  /** How long the server remembers a key, ms from its first attempt. @default 86_400_000 (24 h), as an assumption */
  readonly windowMs?: number | undefined;
  /**
   * Where a key counts; elsewhere the same key is another operation. Without `endpoint` in the list, the key of an unsettled operation
   * may be sent to another path of the same origin, but never to another origin. @default ['endpoint']
   */
  readonly scope?: readonly ('account' | 'region' | 'endpoint')[] | undefined;
  /** A key counts for one signed-in user only, so after a log-in the server can't tell what became of a guest's operation. @default false */
  readonly perAccount?: boolean | undefined;
  /** What marks an answer as a replay; `false` if nothing does. @default every marker in use, such as `Idempotent-Replayed: true` */
  readonly marker?: Match | false | undefined;
  /** Once an operation is done, a repetition of its key gets the same answer again. @default false, as it is not known */
  readonly replays?: boolean | undefined;
  /** Whether the server refuses the same key with another payload. `false`: it is known not to, so another payload is never sent under the same key. */
  readonly answersMismatch?: boolean | undefined;
  /** How long to wait for work in progress if the answer does not say, ms. @default exponential backoff */
  readonly inProgressAfterMs?: number | undefined;
  /** Reads the answer to a poll of a 202's link; `undefined` leaves it to the common rules. */
  readonly polled?: Dialect['polled'] | undefined;
  /** Rules for the server's own answers. The first that matches counts; an answer that matches none is read by the common rules. */
  readonly answers?: readonly AnswerRule[] | undefined;
}

/** A dialect together with the definition that it was made from. */
export interface DefinedDialect extends Dialect {
  readonly definition: DialectDefinition;
}

const SAMPLE = '9f8b7c6d-5e4f-4a3b-8c2d-1e0f9a8b7c6d';

/**
 * Makes a dialect. Whatever a rule says, a 5xx of a gateway or a crash never counts as a refusal, and a 4xx never as a success. But
 * `done-elsewhere` and `sticky` are believed.
 *
 * @throws TypeError or RangeError on a definition that can't be right
 * @example
 * const bank = defineDialect({
 *   name: 'bank',
 *   place: inHeader('X-Request-Id'),
 *   windowMs: 3_600_000,
 *   answers: [{ status: 409, at: { code: 'DUPLICATE' }, means: 'done-elsewhere', resource: 'transferId' }],
 * });
 */
export function defineDialect(definition: DialectDefinition): DefinedDialect {
  const { name, place, pattern = GENERIC.keyPattern, shape, windowMs = GENERIC.windowMs, marker, answers = [] } = definition;
  check(definition, pattern);
  const replayed = (answer: Answer): boolean => (marker ? matches(marker, answer, false) : marker === undefined && isMarked(answer));
  return {
    name,
    carrier: place.carrier,
    carry: place.carry,
    keyPattern: pattern,
    ...(shape && { shape }),
    windowMs,
    replays: definition.replays === true,
    answersMismatch: definition.answersMismatch,
    inProgressAfterMs: definition.inProgressAfterMs,
    perAccount: definition.perAccount === true,
    scope: definition.scope === undefined || definition.scope.includes('endpoint') ? 'endpoint' : 'origin',
    ...(marker === undefined && { keyLayer: bearsMarker }),
    replayed,
    ...(definition.polled && { polled: definition.polled }),
    read(answer, _, ambiguous) {
      const marked = replayed(answer);
      // A replayed 5xx was stored when the handler crashed, and stays the answer to this key: the common rules read it.
      if (marked && answer.status >= 500) return undefined;
      const rule = answers.find((one) => matches(one, answer, ambiguous));
      return rule && readingOf(rule, answer, marked);
    },
    definition,
  };
}

function readingOf({ means, sticky, resource }: AnswerRule, answer: Answer, marked: boolean): Reading | undefined {
  const open = unsure(answer.status);
  switch (means) {
    case 'mismatch':
      // A mismatch with nothing ambiguous before is a refusal, and a 5xx must never be one.
      return { kind: open ? 'open' : means, ambiguous: true };
    case 'in-progress':
    case 'burnt':
    case 'open':
      return { kind: means, ambiguous: true };
    case 'done-elsewhere': {
      const found = resource === undefined ? undefined : valuesAt(answer.json, resource)[0];
      return { kind: means, ambiguous: false, resource: found === undefined ? undefined : String(found) };
    }
    case 'transient':
      // If the error is inside a 2xx, nothing tells whether it came before or after the effect.
      return { kind: means, ambiguous: open || answer.status < 400 };
    case 'fresh':
      return answer.status < 400 ? { kind: marked ? 'replayed' : means, ambiguous: false } : undefined;
    default:
      return { kind: 'refused', ambiguous: open, sticky: (sticky || marked) && !open, replayed: marked, from: 'application' };
  }
}

/** The values of {@link AnswerRule.means}. */
const MEANINGS = /^(in-progress|mismatch|done-elsewhere|refused|transient|burnt|open|fresh)$/;

const MEMBERS = 'name,place,pattern,shape,windowMs,scope,perAccount,marker,replays,answersMismatch,inProgressAfterMs,polled,answers';
const OF_A_MATCH = 'status,at,present,absent,empty,headers,text,redirected,afterAmbiguity';

function check({ place, shape, windowMs, marker, answers = [], ...definition }: DialectDefinition, pattern: RegExp): void {
  const { name } = definition;
  if (!/^[\w-]+$/.test(name)) throw new TypeError(wrong('name of a dialect', 'dialect-name', JSON.stringify(name)));
  const of = `dialect ${name}`;
  onlyKnown(of, definition, MEMBERS);
  if (!carryOf(place.carrier, place.carry)) throw new TypeError(wrong(`${of}: ${JSON.stringify(place.carrier)}`, 'dialect-place'));
  if (/[gy]/.test(pattern.flags)) throw new TypeError(wrong(`${of}: pattern`, 'pattern-flags'));
  for (const hole of ['a\r\nb', 'a\nb', 'a\u0000b', ''])
    if (pattern.test(hole)) throw new RangeError(wrong(`${of}: pattern`, 'pattern-holes', JSON.stringify(hole)));
  if (!pattern.test(shape ? shape(SAMPLE) : SAMPLE)) throw new RangeError(wrong(`${of}: pattern`, 'pattern-uuid'));
  if (windowMs !== undefined && !(windowMs > 0 && windowMs < Number.MAX_SAFE_INTEGER))
    throw new RangeError(wrong(`${of}: windowMs`, 'window-time', String(windowMs)));
  if (marker) checkMatch(`${of}: marker`, marker, '');
  for (const [index, rule] of answers.entries()) checkRule(`${of}: answers[${index}]`, rule);
}

/** Refuses misspelled conditions, with which a rule would fit too many answers, and patterns with the flags `g` or `y`, which match only every other time. */
function checkMatch(where: string, match: Match, more: string): void {
  onlyKnown(where, match, OF_A_MATCH + more);
  const { status, at, present, headers, text, redirected } = match;
  if (status === undefined && !Object.keys({ ...at, ...headers }).length && !present && !text && !redirected) throw new TypeError(wrong(where, 'rule-for-all'));
  for (const one of [text, ...Object.values({ ...at }), ...Object.values({ ...headers })])
    if (/[gy]/.test((one as Partial<RegExp> | undefined)?.flags ?? '')) throw new TypeError(wrong(`${where}: ${one}`, 'pattern-flags'));
  for (const one of [status ?? []].flat()) if (typeof one !== 'number') throw new TypeError(wrong(`${where}: status`, 'rule-status', JSON.stringify(one)));
}

function checkRule(rule: string, match: AnswerRule): void {
  const { status, sticky, means } = match;
  checkMatch(rule, match, ',means,sticky,resource');
  if (!MEANINGS.test(means)) throw new TypeError(wrong(rule, 'rule-means', JSON.stringify(means)));
  if (sticky && means !== 'refused') throw new TypeError(wrong(rule, 'rule-sticky'));
  if (sticky && [status ?? []].flat().some(unsure)) throw new RangeError(wrong(rule, 'rule-burnt', String(status)));
  if (means === 'fresh' && (status === undefined || [status].flat().some((one) => one < 200 || one > 399)))
    throw new RangeError(wrong(rule, 'rule-done', String(status)));
}
