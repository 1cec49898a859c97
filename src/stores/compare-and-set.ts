/** One attempt to commit an update on a guess, and what the server answers. */
import type { Durability } from '../ports.js';
import type { Next } from './base.js';

/**
 * A record as the server has it. `rev`: a name for this very version, which no other one ever has, and after it those of the
 * versions before it: whoever sends an update again because the answer was lost finds its own among them.
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
   * The time that the change was told. Commit only if the server's clock is no further from it than `offMs`: at `now + offMs`, nobody waits
   * for this attempt any more. A statement that waits for locks on the server looks at the clock when it has them, too.
   */
  readonly now: number;
  readonly offMs: number;
  readonly next: Next;
  /** `next` as text, and the name that this version of the record is to have. */
  readonly text: string;
  readonly rev: string;
  readonly durability: Durability;
}

/** `done`: committed. Otherwise what is there instead; either may prove to have been right, and the next attempt succeed. */
export interface Answer {
  readonly done: boolean;
  readonly now: number;
  readonly seen: Seen | undefined;
  /** The connection was made anew meanwhile, so the attempt may have been sent twice, and this be the second answer. */
  readonly broke?: boolean | undefined;
}

/** Whether an attempt is committed; perhaps by a copy of it whose answer was lost, and others changed the record since. */
export const isDone = ({ next, rev }: Attempt, { done, seen }: Answer): boolean => done || Boolean(next && seen && namesIn(seen.rev).includes(namesIn(rev)[0]));

/** Versions that a record names, itself included, and the length of a name: 60 random bits. */
const NAMES_MAX = 3;
const NAME_UNITS = 16;
const namesIn = (rev: string): (string | undefined)[] => rev.split(' ');
export const revAfter = (seen: Seen | undefined): string => {
  const name = crypto.randomUUID().replaceAll('-', '').slice(0, NAME_UNITS);
  return [name, ...(seen ? namesIn(seen.rev) : [])].slice(0, NAMES_MAX).join(' ');
};
