/**
 * Where a key goes in the request. The place is a text that the record keeps, so that a later driver puts the key where it was
 * before: to most servers, a key in another form is another key.
 *
 * `header:Name`, `header-sf:Name` (quoted: a string of RFC 8941), `header:Name+Date` (also the time of the first attempt, in the
 * header `Date`). Empty: nowhere. Any other text, such as `body:idempotency_key`, needs a dialect that has the code for it.
 */

/** A request on its way out. `body` is text unless the key goes into a header. */
export interface Wire {
  readonly url: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Finds and puts keys at one place of a request. */
export interface Carry {
  /** The key that the request already has there; `undefined` if there is none. Throws a TypeError if what is there can't be a key. */
  find(wire: Wire): string | undefined;
  /** The request with the key in it; `undefined` if it has no such place. Changes `wire.headers` in place. */
  put(wire: Wire, key: string, firstSentAt: number): Pick<Wire, 'url' | 'body'> | undefined;
}

/** Whether the place is well-formed: if it is in a header, the header's name must be a token (RFC 9110, section 5.6.2). */
export const isPlace = (carrier: string): boolean => !isInHeader(carrier) || /^header(-sf)?:[\w!#$%&'*.^`|~-]+(\+[\w-]+)?$/.test(carrier);

export const isInHeader = (carrier: string): boolean => /^header/.test(carrier);

/** The code for a place; `undefined` if neither this file nor the dialect (`other`) knows such a place. */
export function carryOf(carrier: string, other?: (carrier: string) => Carry | undefined): Carry | undefined {
  const [, quoted, name, date] = /^header(-sf)?:([^+]+)\+?(.*)/.exec(carrier) ?? [];
  if (!name) return other?.(carrier);
  return {
    find: ({ headers }) => headers.get(name)?.replace(quoted ? /^"(.*)"$/ : /^()$/, '$1'),
    put(wire, key, firstSentAt) {
      wire.headers.set(name, quoted ? `"${key}"` : key);
      // IMF-fixdate (RFC 9110, section 5.6.7).
      if (date && !wire.headers.has(date)) wire.headers.set(date, new Date(firstSentAt).toUTCString());
      return wire;
    },
  };
}
