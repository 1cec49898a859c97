/** Answers whose true meaning the probe knows, because it knows what it did. */
import type { Came } from './request.js';

export interface Evidence {
  readonly key: string;
  readonly came: Came;
  /** `done`: a success, which may be the stored one. */
  readonly means: 'first' | 'again' | 'done' | 'in-progress' | 'mismatch' | 'done-before' | 'refused';
}
