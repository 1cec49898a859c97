/** Fingerprints for JSON bodies whose bytes differ where their meaning does not. */
import { typeOf } from './name.js';

/**
 * A `fingerprint` that compares JSON bodies in canonical form (RFC 8785), so that the order of members and white space do not
 * count. If a body is not JSON, its bytes count. Servers that compare bytes still see a difference.
 *
 * @throws TypeError if `fields` has a member other than these two, or one that is not an array
 * @param fields - `pick`: the only members of the body that count; `omit`: members that do not
 * @example
 * createOnce({ fingerprint: canonicalJson({ omit: ['clientTime'] }) });
 */
export function canonicalJson(
  fields: { pick?: readonly string[] | undefined; omit?: readonly string[] | undefined } = {},
): (request: { method: string; url: string; body: unknown }) => string | undefined {
  // A text instead of an array would match parts of names, and two payloads would pass for one.
  for (const [name, value] of Object.entries(fields))
    if (!/^(pick|omit)$/.test(name) || (value !== undefined && !Array.isArray(value)))
      throw new TypeError(`once: canonicalJson takes pick and omit, arrays of names, got ${name}: ${typeOf(value)}`);
  const { pick, omit = [] } = fields;
  return ({ body }) => {
    const counts = (name: string): boolean => (pick ? pick.includes(name) : true) && !omit.includes(name);
    const kept =
      typeof body === 'object' && body !== null && !Array.isArray(body) ? Object.fromEntries(Object.entries(body).filter(([name]) => counts(name))) : body;
    return typeof body === 'string' || body instanceof Uint8Array ? undefined : canonical(kept);
  };
}

/** JSON without white space, the members of each object in the order of their names' UTF-16 code units (RFC 8785, section 3.2). */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical((value as Record<string, unknown>)[name])}`).join(',')}}`;
}
