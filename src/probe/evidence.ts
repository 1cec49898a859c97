/** Answers whose true meaning the probe knows, because it knows what it did. */
import type { Came } from './request.js';

export interface Evidence {
  readonly key: string;
  readonly came: Came;
  /** `done`: a success, which may be the stored one. */
  readonly means: 'first' | 'again' | 'done' | 'in-progress' | 'mismatch' | 'done-before' | 'refused';
}

/** Successes, by whether the work was done for them. */
export interface Seen {
  /** Answers to requests that did the work themselves. */
  readonly own: readonly Came[];
  /** Answers to copies that came after the work was done and answered, one of each key. */
  readonly copies: readonly Came[];
}
