/**
 * Where a key goes on the wire. The place is text that the record keeps, so that whoever drives it later puts the key where
 * it was: a key in another form is another key to most servers.
 *
 * `header:Name`, `header-sf:Name` (quoted: a string of RFC 8941), `header:Name+Date` (beside it the time of the first
 * attempt). Empty: nowhere. Any other text, such as `body:idempotency_key`, wants a dialect that brings the code for it.
 */

/** A request on its way out. `body` is text where the key does not go into a header. */
export interface Wire {
  readonly url: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** How a key gets to its place. */
export interface Carry {
  /** The key that is there already; `undefined` if there is none. Throws a TypeError if what is there can't be one. */
  find(wire: Wire): string | undefined;
  /** The request with the key in it, `undefined` if it has no such place. Headers are changed as they are. */
  put(wire: Wire, key: string, firstSentAt: number): Pick<Wire, 'url' | 'body'> | undefined;
}

export const isInHeader = (carrier: string): boolean => /^header/.test(carrier);

/** `undefined` where nobody here knows such a place. */
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
