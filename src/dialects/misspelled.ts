/** Refuses unknown options of dialects: a misspelled one would otherwise be ignored silently. */
import { wrong } from '../texts/full.js';

/** Throws a TypeError if `given` has a member that `names` does not list. */
export function onlyKnown(where: string, given: object, names = ''): void {
  for (const name of Object.keys(given)) if (!names.split(',').includes(name)) throw new TypeError(wrong(`${where}: ${name}`, 'dialect-option'));
}

/** The member of `list` with this name. Throws a TypeError if there is none. */
export function oneOf<List extends object>(where: string, word: keyof List, list: List): List[keyof List] {
  if (!Object.hasOwn(list, word)) throw new TypeError(wrong(`${where} ${JSON.stringify(word)}`, 'dialect-option'));
  return list[word];
}
