/** Exponential backoff with full jitter. */

export interface Backoff {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly factor: number;
}

/**
 * The wait before the next attempt after `failed` failed ones (from 1), in ms; `random` in [0, 1) draws it from the
 * whole range (AWS Architecture Blog, "Exponential Backoff And Jitter": full jitter).
 */
export const backoffMs = ({ minDelayMs, maxDelayMs, factor }: Backoff, failed: number, random: number): number =>
  Math.ceil(Math.min(maxDelayMs, minDelayMs && minDelayMs * factor ** Math.min(failed - 1, 64)) * random);
