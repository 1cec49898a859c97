/** Exponential backoff with full jitter, and a minimum wait that holds whatever a server asks for. */

export interface Backoff {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly factor: number;
}

/** The shortest first wait for a server that set the time itself or is still at work. It doubles with each wait, up to {@link FLOOR_MS_MAX}. */
const FLOOR_MS = 50;
export const FLOOR_MS_MAX = 1000;

/**
 * The wait before the next attempt after `failed` failed ones (from 1), in ms; `random` in [0, 1) draws it from the
 * whole range (AWS Architecture Blog, "Exponential Backoff And Jitter": full jitter).
 */
export const backoffMs = ({ minDelayMs, maxDelayMs, factor }: Backoff, failed: number, random: number): number =>
  Math.ceil(Math.min(maxDelayMs, minDelayMs && minDelayMs * factor ** Math.min(failed - 1, 64)) * random);

/** `ms`, but no less than the minimum for the `waits`th wait in a row (from 1), so that "come back at once" does not lead to a thousand attempts. */
export const atLeast = (waits: number, ms: number): number => Math.max(ms, Math.min(FLOOR_MS_MAX, FLOOR_MS * 2 ** Math.min(waits - 1, 64)));
