/** Keys that go into a member of a JSON body, a field of a form, or the query. Every other byte of the body stays as it is. */
import type { Carry, Wire } from '../core/carrier.js';

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;

/** Where the members of the object at `path` begin in JSON text; -1 if there is none. */
function membersAt(text: string, path: readonly string[]): number {
  const wanted = ['', ...path].join('\n');
  const open: string[] = [];
  let name = '';
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '}' || token === ']') open.pop();
    else if (token[0] === '"') name = token.slice(1, -1);
    else {
      open.push(token === '{' ? name : '[');
      if (token === '{' && open.join('\n') === wanted) return index + 1;
      // What stands in a list has no name.
      name = '[';
    }
  }
  return -1;
}

/** Puts a member first into the object at `path`: numbers, escapes and spaces that JSON.stringify would change are kept. */
export function insertMember(text: string, path: readonly string[], value: string): string | undefined {
  const at = membersAt(text, path.slice(0, -1));
  if (at < 0) return undefined;
  const rest = text.slice(at);
  return `${text.slice(0, at)}${JSON.stringify(path.at(-1))}:${JSON.stringify(value)}${/^\s*\}/.test(rest) ? '' : ','}${rest}`;
}

/** A body of JSON, `undefined` when it is something else. */
export const bodyJson = (body: unknown): Record<string, unknown> | undefined =>
  typeof body === 'string' && /^\s*\{/.test(body) ? (JSON.parse(body) as Record<string, unknown>) : undefined;

/** What stands where a key belongs: text, or nothing. */
export function keyIn(found: unknown, where: string): string | undefined {
  if (found === undefined || typeof found === 'string') return found as string | undefined;
  throw new TypeError(`once: ${where} holds the key, so it must be text`);
}

function fieldOf(text: string, name: string): string | undefined {
  const found = new RegExp(`[?&]${name}=([^&]*)`).exec(text)?.[1];
  return found === undefined ? undefined : decodeURIComponent(found.replace(/\+/g, ' '));
}

const isForm = ({ headers }: Wire): boolean => /urlencoded/i.test(headers.get('content-type') ?? '');

function inBody(name: string): Carry {
  const path = name.split('.');
  const find: Carry['find'] = ({ body }) => {
    const json = bodyJson(body);
    return json
      ? keyIn(
          path.reduce<unknown>((at, part) => (at as Record<string, unknown> | null | undefined)?.[part], json),
          `the body's ${name}`,
        )
      : fieldOf(`&${body}`, name);
  };
  return {
    find,
    put(wire, key) {
      const { url, body } = wire;
      if (find(wire) !== undefined) return wire;
      if (bodyJson(body)) {
        const changed = insertMember(body as string, path, key);
        return changed === undefined ? undefined : { url, body: changed };
      }
      const field = `${name}=${encodeURIComponent(key)}`;
      return isForm(wire) ? { url, body: body ? `${body}&${field}` : field } : undefined;
    },
  };
}

function inQuery(name: string): Carry {
  const find: Carry['find'] = ({ url }) => fieldOf(url, name);
  return {
    find,
    put: (wire, key) =>
      find(wire) === undefined ? { url: `${wire.url}${wire.url.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(key)}`, body: wire.body } : wire,
  };
}

/** `body:name`, `body:path.to.name` and `query:name`. */
export function fields(carrier: string): Carry | undefined {
  const [, kind, name = ''] = /^(body|query):([\w.-]+)$/.exec(carrier) ?? [];
  return kind === 'body' ? inBody(name) : kind === 'query' ? inQuery(name) : undefined;
}
