/** One attempt to commit an update that was computed from a guess, and the server's answer. */
import type { Durability } from '../ports.js';
import type { Next } from './base.js';

/**
 * A record as the server has it. `rev`: a unique name for this version, followed by the names of the versions before it. A client
 * that repeats an update because the answer was lost finds the name of its own version there if the update was committed.
 */
export interface Seen {
  readonly rev: string;
  readonly text: unknown;
}

/** What the server is asked to do, in one step. */
export interface Attempt {
  readonly id: string;
  /** Commit only if the record is this; `undefined`: only if there is none. */
  readonly expected: Seen | undefined;
  /**
   * The time that the change was given. Commit only if the server's clock differs from it by no more than `offMs`: after `now + offMs`,
   * nobody waits for this attempt any more. A statement that waits for locks on the server must check the clock again when it has them.
   */
  readonly now: number;
  readonly offMs: number;
  readonly next: Next;
  /** `next` as text. `rev`: the names for this version of the record. */
  readonly text: string;
  readonly rev: string;
  readonly durability: Durability;
}

/** `done`: committed. Otherwise the server's time and record, from which the next attempt is made. */
export interface Answer {
  readonly done: boolean;
  readonly now: number;
  readonly seen: Seen | undefined;
  /** The client reconnected meanwhile, so the attempt may have been sent twice, and this may be the answer to the second copy. */
  readonly broke?: boolean | undefined;
}

/** Whether an attempt was committed, perhaps by a copy of it whose answer was lost and even if others have changed the record since. */
export const isDone = ({ next, rev }: Attempt, { done, seen }: Answer): boolean => done || Boolean(next && seen && namesIn(seen.rev).includes(namesIn(rev)[0]));

/** How many versions a record names, including itself. */
const NAMES_MAX = 3;
const namesIn = (rev: string): (string | undefined)[] => rev.split(' ');
/**
 * The new version's name is not from `randomUUID`: Node takes that from a reserve of random bytes, which processes that start from one snapshot
 * share. A process would take another one's version for its own, and go on under a second key.
 */
export const revAfter = (seen: Seen | undefined): string =>
  [crypto.getRandomValues(new Uint32Array(2)), ...(seen ? namesIn(seen.rev) : [])].slice(0, NAMES_MAX).join(' ');
