/** The source of all chance in a world, from one 32-bit seed. */
import { seededRandom } from '../../src/testing/seeded-random.js';

/** FNV-1a with a final avalanche (MurmurHash3's), so that neighbouring labels have nothing in common. */
export function mix(seed: number, ...labels: readonly (string | number)[]): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (const label of labels) {
    if (typeof label === 'number') hash = Math.imul(hash ^ label, 0x01000193) ^ (hash >>> 15);
    else for (let i = 0; i < label.length; i++) hash = Math.imul(hash ^ label.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ 0x9e3779b9, 0x85ebca6b);
  }
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export class Random {
  readonly seed: number;
  readonly #next: () => number;

  constructor(seed: number) {
    this.seed = seed >>> 0;
    this.#next = seededRandom(this.seed);
  }

  /**
   * A separate source for what `labels` name. What is drawn for one thing never depends on what was drawn for another, so a schedule can
   * lose one operation while the others keep their fates. Shrinking needs that.
   */
  of(...labels: readonly (string | number)[]): Random {
    return new Random(mix(this.seed, ...labels));
  }

  /** Uniform in [0, 1). */
  next(): number {
    return this.#next();
  }

  chance(probability: number): boolean {
    return probability > 0 && this.#next() < probability;
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.#next() * (high - low + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#next() * from.length)] as T;
  }

  /** A time between two independent events, exponentially distributed. */
  exponential(mean: number): number {
    return Math.ceil(-Math.log(1 - this.#next()) * mean);
  }

  uuid(): string {
    const hex = [0, 1, 2, 3]
      .map(() =>
        Math.floor(this.#next() * 2 ** 32)
          .toString(16)
          .padStart(8, '0'),
      )
      .join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }
}
