/** Answers whose true meaning the probe knows, because it knows what it did. */
import type { Came } from './request.js';

export interface Evidence {
  readonly key: string;
  readonly came: Came;
  readonly means: 'first' | 'again' | 'in-progress' | 'mismatch' | 'done-before' | 'refused';
}
