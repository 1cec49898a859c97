/** Refuses arguments. Only a mistake in the code gives any, so production pages get `arguments-lean.ts` instead. */
import { typeOf } from './core/name.js';
import { wrong } from './texts/full.js';

/** Throws a TypeError if a feature was given arguments: what they ask for would not happen, and nothing would tell. */
export function refuseArguments(feature: string, given: readonly unknown[]): void {
  if (given.length) throw new TypeError(wrong(feature, 'argument', typeOf(given[0])));
}
