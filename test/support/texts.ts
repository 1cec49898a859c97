/** The texts of messages, for tests that run with both builds (docs/decisions/0030-texts-and-builds.md). */
import { wrong } from '../../src/texts/full.js';

/** Whether the tests run with the texts of the lean build, as in the project `lean`. */
export const LEAN = wrong('x', 'name').includes('docs/errors.md');

/** What a message must contain: words of the full text, or the name under which docs/errors.md lists it. */
export const says = <T extends string | RegExp>(full: T, lean: T): T => (LEAN ? lean : full);
