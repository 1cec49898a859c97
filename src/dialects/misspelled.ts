/** What a dialect was given that it does not know: it would be lost silently, and with it what it was to say. */

/** With a text of its own: whoever needs no more of the dialects than `generic` loads no other ones. */
const unknown = (what: string): TypeError => new TypeError(`once: ${what} is not known`);

/** Throws a TypeError where there is a member that `names` does not list. */
export function onlyKnown(where: string, given: object, names = ''): void {
  for (const name of Object.keys(given)) if (!names.split(',').includes(name)) throw unknown(`${where}: ${name}`);
}

/** What stands in `list` under this word. Throws a TypeError where there is none. */
export function oneOf<List extends object>(where: string, word: keyof List, list: List): List[keyof List] {
  if (!Object.hasOwn(list, word)) throw unknown(`${where} ${JSON.stringify(word)}`);
  return list[word];
}
