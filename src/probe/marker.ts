/** Finds a header that marks replays, and that oncefetch does not know. */
import type { Seen } from './evidence.js';
import type { Came } from './request.js';
import type { ProbeRow } from './row.js';

/** A header and its value. */
export type Marker = readonly [name: string, value: string];

/** Headers of HTTP itself. A stored answer may have a `Content-Length` where the first one was chunked, or come out of a cache with an `Age`. */
const OF_HTTP =
  /^((access-control|accept|content|cross-origin|sec|cf)-.*|age|allow|alt-svc|connection|date|etag|expires|keep-alive|last-modified|link|location|pragma|server|trailer|transfer-encoding|upgrade|vary|via|warning)$/;
/** What else answers have for reasons of their own: caches, cookies, limits, ids, times, and who answered. */
const OF_OTHERS = /cache|cookie|limit|quota|remaining|reset|retry|request-?id|correlation|trace|span|tim(e|ing)|served|backend|upstream|node|host|version/;
/** A name that can only be about keys. */
const OF_KEYS = /idempot|replay|duplicate|repeat/;

/** A number other than 1, a time or an id says something else than "replayed". */
const OF_ONE_ANSWER = /^-?(0|[2-9]|\d{2,})(\.\d+)?\w{0,2}$|\d{2}:\d{2}|\d{4}-\d{2}|[\da-f]{8}/i;
const VALUE_LENGTH_MAX = 60;

/** The fewest answers of each kind that must agree. A single one may have a header by chance. */
const FEWEST = 2;

/**
 * The header that all copies have with one value, and no other answer has at all. `others`: answers that are no replay, such as "still at work".
 * Nothing if a key had two effects, or effects were not counted: then a copy may have done the work again.
 */
export function unknownMarker(rows: readonly ProbeRow[], { own, copies }: Seen, others: readonly Came[]): Marker | undefined {
  if (rows.some(({ severity, finding }) => severity === 'double' || finding === 'may-double' || finding === 'marked-first')) return undefined;
  const [one] = copies;
  if (!one || copies.length < FEWEST || own.length < FEWEST) return undefined;
  const unmarked = [...own, ...others];
  const found = [...one.headers].filter(
    ([name, value]) =>
      !OF_HTTP.test(name) &&
      (OF_KEYS.test(name) || !OF_OTHERS.test(name)) &&
      value !== '' &&
      value.length <= VALUE_LENGTH_MAX &&
      !OF_ONE_ANSWER.test(value) &&
      copies.every(({ headers }) => headers.get(name) === value) &&
      !unmarked.some(({ headers }) => headers.has(name)),
  );
  return found.find(([name]) => OF_KEYS.test(name)) ?? found[0];
}
