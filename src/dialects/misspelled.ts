/** Refuses unknown options of dialects: a misspelled one would otherwise be ignored silently. */

/** The text is here and not in `src/texts`, so that a page that needs only `generic` does not load it. */
const unknown = (what: string): TypeError => new TypeError(`once: ${what} is not known`);

/** Throws a TypeError if `given` has a member that `names` does not list. */
export function onlyKnown(where: string, given: object, names = ''): void {
  for (const name of Object.keys(given)) if (!names.split(',').includes(name)) throw unknown(`${where}: ${name}`);
}

/** The member of `list` with this name. Throws a TypeError if there is none. */
export function oneOf<List extends object>(where: string, word: keyof List, list: List): List[keyof List] {
  if (!Object.hasOwn(list, word)) throw unknown(`${where} ${JSON.stringify(word)}`);
  return list[word];
}
