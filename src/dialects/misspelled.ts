/** What a dialect was given that it does not know: it would be lost silently, and with it what it was to say. */
import { wrong } from '../texts/full.js';

/** Throws a TypeError where there is a member that `names` does not list. */
export function onlyKnown(where: string, given: object, names = ''): void {
  for (const name of Object.keys(given)) if (!names.split(',').includes(name)) throw new TypeError(wrong(`${where}: ${name}`, 'dialect-option'));
}

/** What stands in `list` under this word. Throws a TypeError where there is none. */
export function oneOf<List extends object>(where: string, word: keyof List, list: List): List[keyof List] {
  if (!Object.hasOwn(list, word)) throw new TypeError(wrong(`${where} ${JSON.stringify(word)}`, 'dialect-option'));
  return list[word];
}
