/** What messages say, where the two builds say it differently (docs/decisions/0030-texts-and-builds.md). */
import { wrong } from '../../src/texts/full.js';

/** The tests run with the texts of the lean build, by the project `lean`. */
export const LEAN = wrong('x', 'name').includes('docs/errors.md');

/** What a message has to have in it: words of the full text, or the name by which docs/errors.md lists it. */
export const says = <T extends string | RegExp>(full: T, lean: T): T => (LEAN ? lean : full);
