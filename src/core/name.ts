/** Operation names: what may be one, and their text form, which is different for any two names. */

import { wrong } from '../texts/full.js';
import type { Label, OperationName } from './ids.js';

export type { OperationName };

/** The longest name, in UTF-16 units of its text form. */
export const NAME_UNITS_MAX = 2048;

export const typeOf = (value: unknown): string =>
  value === null ? 'null' : value === '' ? 'an empty string' : Array.isArray(value) ? 'an array' : Number.isNaN(value) ? 'NaN' : typeof value;

/** Whether the value is an object, and so can be a key of a WeakMap. A function does not count. */
export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function encodePart(part: unknown, index: number): string | number | { n: string } {
  if (typeof part === 'bigint') return { n: String(part) };
  // A larger integer loses its last digits, so that two ids from a database or a webhook would become one name.
  if ((typeof part === 'string' && part) || (typeof part === 'number' && Math.abs(part) < 2 ** 53)) return part;
  throw new TypeError(wrong(`operation[${index}]`, 'name-part', typeOf(part)));
}

/**
 * The name as text: JSON, with `{"n":"1"}` for the bigint 1. Throws a TypeError that names the index of a wrong part,
 * a RangeError for a name over {@link NAME_UNITS_MAX}.
 */
export function encodeName(name: unknown): Label {
  if (!Array.isArray(name) || !name.length) throw new TypeError(wrong('operation', 'name', Array.isArray(name) ? 'an empty one' : typeOf(name)));
  // Sum up the length before copying anything, so that a name of many megabytes costs nothing.
  let units = name.length;
  for (const part of name) if (typeof part === 'string') units += part.length;
  // A copy, because map would leave the holes of a sparse array unchecked.
  const text = units > NAME_UNITS_MAX ? '' : JSON.stringify([...name].map(encodePart));
  if (!text || text.length > NAME_UNITS_MAX) throw new RangeError(wrong('operation', 'name-length'));
  return text as Label;
}

/** The label of an unnamed operation, which differs from the label of any name. Without a fingerprint: the prefix of the labels of all unnamed operations. */
export const labelOfContent = (fingerprint = ''): Label => `~${fingerprint}` as Label;

/** Whether this is the label of an unnamed operation. Several may have the same label and differ by their id. */
export const isUnnamed = (label: Label): boolean => label[0] === '~';

/** The inverse of {@link encodeName}; an unnamed operation's label gives an empty name. */
export const decodeName = (label: Label): OperationName =>
  label[0] === '[' ? (JSON.parse(label) as (string | number | { n: string })[]).map((part) => (typeof part === 'object' ? BigInt(part.n) : part)) : [];

/**
 * `start`: the text with which the label of every name under `prefix` starts. Other labels may start with it too, so `begins` tests whether
 * the parts match as a whole: `['pay', 4]` is not a prefix of `['pay', 42]`. `undefined` if `prefix` is absent or empty, because then every name counts.
 */
export function namePrefix(prefix: OperationName | undefined): { readonly start: string; readonly begins: (label: Label) => boolean } | undefined {
  if (!prefix?.length) return undefined;
  const start = encodeName(prefix).slice(0, -1);
  return { start, begins: (label) => label.startsWith(start) && /[\],]/.test(label.charAt(start.length)) };
}
