/** Checks of options. A wrong one throws at once an error that names the option and what it got. */
import { typeOf } from './core/name.js';
import { wanted, wrong } from './texts/full.js';

/**
 * What an option may be: `typeof` names separated by `|`, a list of allowed values, or a group of options. `ms`: a time; `count`: a
 * number from 1; `signal`: an AbortSignal; `any`: not checked.
 */
export type Spec = { readonly [name: string]: string | readonly unknown[] | Spec };

/** Throws a TypeError if the value is not a number, a RangeError if it is less than `least`. */
export function checkNumber(value: unknown, path: string, least = 0): void {
  if (typeof value !== 'number' || Number.isNaN(value)) throw new TypeError(`once: ${path} must be a number, got ${typeOf(value)}`);
  if (value < least) throw new RangeError(`once: ${path} must be at least ${least}, got ${value}`);
}

/** Throws a TypeError or RangeError that names `path`. */
export function checkOne(value: unknown, spec: Spec[string], path: string): void {
  if (Array.isArray(spec)) {
    if (!spec.includes(value))
      throw new TypeError(`once: ${path} must be ${wanted(spec)}, got ${typeof value === 'string' ? JSON.stringify(value) : typeOf(value)}`);
  } else if (typeof spec === 'object') check(value, spec as Spec, path);
  else if (spec === 'ms' || spec === 'count') checkNumber(value, path, spec === 'count' ? 1 : 0);
  else if (spec === 'signal') {
    if (!(value as Partial<AbortSignal> | null)?.addEventListener) throw new TypeError(wrong(path, 'signal', typeOf(value)));
  } else if (spec !== 'any' && !(spec as string).split('|').includes(Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value))
    throw new TypeError(`once: ${path} must be ${wanted(spec)}, got ${typeOf(value)}`);
}

/** Checks a group of options. An option that is not in `spec` is a TypeError too. */
export function check(given: unknown, spec: Spec, path: string): void {
  if (typeOf(given) !== 'object') throw new TypeError(`once: ${path || 'options'} must be an object, got ${typeOf(given)}`);
  for (const [name, value] of Object.entries(given as object)) {
    const where = path ? `${path}.${name}` : name;
    if (!Object.hasOwn(spec, name)) throw new TypeError(`once: there is no option ${where}`);
    if (value !== undefined) checkOne(value, spec[name] as Spec[string], where);
  }
}
