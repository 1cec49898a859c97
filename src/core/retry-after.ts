/** How long a server asks the client to wait. */

/** Longer waits are cut to this, ms: a year. */
const BELIEVED_MS_MAX = 31_536_000_000;

/** What the preferred form of an HTTP date and the two obsolete ones look like (RFC 9110, section 5.6.7). `Date.parse` alone would accept "tomorrow 2099". */
const HTTP_DATE = /^[a-z]{3,9},? [\da-z -]{6,11} \d{2}:\d{2}:\d{2}( gmt| \d{4})$/i;

/**
 * `retry-after-ms` (milliseconds), else `Retry-After` in seconds or as an HTTP date (RFC 9110, section 10.2.3), as ms
 * from `now`; `undefined` if there is neither, if it can't be read, or if it is in the past.
 */
export function retryAfterMs(header: (name: string) => string | null, now: number): number | undefined {
  const ms = header('retry-after-ms')?.trim();
  const after = header('retry-after')?.trim();
  const wait =
    ms && /^\d+(\.\d+)?$/.test(ms)
      ? Number(ms)
      : after && /^\d+(\.\d+)?$/.test(after)
        ? Number(after) * 1000
        : after && HTTP_DATE.test(after)
          ? Date.parse(/gmt$/i.test(after) ? after : `${after} GMT`) - now
          : Number.NaN;
  return wait > 0 ? Math.min(Math.ceil(wait), BELIEVED_MS_MAX) : undefined;
}
