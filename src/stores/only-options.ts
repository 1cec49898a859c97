import { typeOf } from '../core/name.js';

/**
 * Refuses a misspelled option of a store, and one of a wrong type: under another prefix or table, no process would find the keys of the
 * one before. `types`: the `typeof` of each option.
 */
export function onlyOptions(where: string, options: object, types: Readonly<Record<string, string>>): void {
  if (typeOf(options) !== 'object') throw new TypeError(`once: the options of ${where} must be an object, got ${typeOf(options)}`);
  for (const [name, value] of Object.entries(options)) {
    const type = types[name];
    if (!type) throw new TypeError(`once: there is no option ${where}.${name}`);
    // An empty string is a string here; NaN is no number, and null no object.
    if (value !== undefined && !typeOf(value).endsWith(type))
      throw new TypeError(`once: ${where}.${name} must be ${type === 'object' ? 'an' : 'a'} ${type}, got ${typeOf(value)}`);
  }
}
