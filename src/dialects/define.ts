/** Makes dialects from data. */
import type { Answer, Dialect, Reading } from '../core/dialect.js';
import { isEmptyJson, mayHideEffect, TRANSIENT } from '../core/verdict.js';
import type { AnswerRule, DialectDefinition } from './definition.js';
import { checkDefinition, checkShape } from './definition-check.js';
import { bearsMarker, GENERIC, isMarked } from './generic.js';
import { matches, valuesAt } from './matching.js';
import { onlyKnown } from './misspelled.js';

/** A dialect together with the definition that it was made from. */
export interface DefinedDialect extends Dialect {
  readonly definition: DialectDefinition;
}

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
  checkShape(definition);
  const { name, place, pattern = GENERIC.keyPattern, shape, windowMs = GENERIC.windowMs, marker, answers = [] } = definition;
  checkNames(definition);
  checkDefinition(definition, pattern);
  const declining = answers.flatMap(({ means, status }) => (means === 'refused' ? (status ?? []) : []));
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
    perAccount: definition.perAccount,
    scope: definition.scope === undefined || definition.scope.includes('endpoint') ? 'endpoint' : 'origin',
    ...(marker === undefined && { keyLayer: bearsMarker }),
    replayed,
    ...(definition.polled && { polled: definition.polled }),
    read(answer, _, ambiguous) {
      const marked = replayed(answer);
      // A replayed 5xx was stored when the handler crashed, and stays the answer to this key: the common rules read it.
      if (marked && answer.status >= 500) return undefined;
      const rule = answers.find((one) => matches(one, answer, ambiguous));
      if (rule) return readingOf(rule, answer, marked);
      return answer.status < 300 && declining.includes(answer.status) && isEmptyJson(answer) ? TRANSIENT : undefined;
    },
    definition,
  };
}

function readingOf({ means, sticky, resource }: AnswerRule, answer: Answer, marked: boolean): Reading | undefined {
  const open = mayHideEffect(answer.status);
  switch (means) {
    case 'mismatch':
      // `decide` takes a mismatch with nothing ambiguous before it for a refusal, and a 5xx must never be one.
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
    case 'refused':
      return { kind: means, ambiguous: open, sticky: (sticky || marked) && !open, replayed: marked, from: 'application' };
  }
}

const MEMBERS = 'name,place,pattern,shape,windowMs,scope,perAccount,marker,replays,answersMismatch,inProgressAfterMs,polled,answers';
const OF_A_MATCH = 'status,at,present,absent,empty,headers,text,redirected,afterAmbiguity';

/** Throws on misspelled members, in every build: a misspelled one would be ignored silently, or its rule would match more answers than meant. */
function checkNames({ marker, answers = [], ...definition }: DialectDefinition): void {
  const of = `dialect ${definition.name}`;
  onlyKnown(of, definition, MEMBERS);
  onlyKnown(`${of}: marker`, { ...marker }, OF_A_MATCH);
  for (const [index, rule] of answers.entries()) onlyKnown(`${of}: answers[${index}]`, rule, `${OF_A_MATCH},means,sticky,resource`);
}
