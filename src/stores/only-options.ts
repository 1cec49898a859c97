import { typeOf } from '../core/name.js';

/** Refuses a misspelled option of a store: under another prefix or table, no process would find the keys of the one before. */
export function onlyOptions(where: string, options: object, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw new TypeError(`once: the options of ${where} must be an object, got ${typeOf(options)}`);
  for (const name of Object.keys(options)) if (!known.includes(name)) throw new TypeError(`once: there is no option ${where}.${name}`);
}
