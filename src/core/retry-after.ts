/** How long a server asks to be left alone. */

/** The longest wait that is believed, ms: a year. */
const BELIEVED_MS_MAX = 31_536_000_000;

/**
 * `retry-after-ms` (milliseconds), else `Retry-After` in seconds or as an HTTP date (RFC 9110, section 10.2.3), as ms
 * from `now`; `undefined` for neither, for garbage and for the past.
 */
export function retryAfterMs(header: (name: string) => string | null, now: number): number | undefined {
  const ms = header('retry-after-ms')?.trim();
  const after = header('retry-after')?.trim();
  const wait = ms && /^\d+(\.\d+)?$/.test(ms) ? Number(ms) : after && /^\d+(\.\d+)?$/.test(after) ? Number(after) * 1000 : after && /[a-z]/i.test(after) ? Date.parse(after) - now : Number.NaN;
  return wait > 0 ? Math.min(Math.ceil(wait), BELIEVED_MS_MAX) : undefined;
}
