/** Where a key can go. */
import type { Dialect } from '../core/dialect.js';
import { directives } from './directives.js';
import { fields } from './fields.js';
import { onlyKnown } from './misspelled.js';

/** A place for a key: its text, which the record keeps, and the code for it where it is no header. */
export interface KeyLocation {
  readonly carrier: string;
  readonly carry?: Dialect['carry'] | undefined;
}

/**
 * A header. `quoted`: as a string of RFC 8941, which most servers take for another key. `firstSent`: the header beside it
 * that bears the time of the first attempt, the same at every attempt.
 */
export const inHeader = (
  name: string,
  { quoted = false, firstSent, ...others }: { quoted?: boolean | undefined; firstSent?: string | undefined } = {},
): KeyLocation => {
  onlyKnown(`the header ${name}`, others);
  return { carrier: `header${quoted ? '-sf' : ''}:${name}${firstSent === undefined ? '' : `+${firstSent}`}` };
};

/**
 * A member of a JSON body by its path, or a field of a form. All other bytes of the body stay as they are.
 *
 * @example
 * inBody('idempotency_key'); inBody('variables.input.apiRequestKey');
 */
export const inBody = (path: string): KeyLocation => ({ carrier: `body:${path}`, carry: fields });

/** A parameter of the query. */
export const inQuery = (name: string): KeyLocation => ({ carrier: `query:${name}`, carry: fields });

/**
 * A directive of a GraphQL mutation: its variable where the document has one, else it is written behind the one field that
 * the mutation asks for.
 */
export const inDirective = (directive: string, argument: string): KeyLocation => ({ carrier: `graphql:@${directive}(${argument})`, carry: directives });
