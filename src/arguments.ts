/** Checks the number of arguments. Only a mistake in the code can make it wrong, so production pages get `arguments-lean.ts` instead. */
import { typeOf } from './core/name.js';
import { wrong } from './texts/full.js';

/**
 * Throws a TypeError if a function of the package was given arguments that it does not take (`given`). What they ask for would not happen,
 * and nothing would tell.
 */
export function refuseArguments(name: string, given: readonly unknown[]): void {
  // `map` hands over an index and a list, too: `hooks.map(around)`.
  const isMapped = typeof given[0] === 'number' && Array.isArray(given[1]);
  if (given.length && !isMapped) throw new TypeError(wrong(name, 'argument', typeOf(given[0])));
}
