/** Puts keys into a member of a JSON body, a field of a form, or the query. All other bytes of the body stay as they are. */
import type { Carry, Wire } from '../core/carrier.js';

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;

/** The position in JSON text where the members of the object at `path` begin; -1 if there is no such object. */
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
      // Elements of a list have no name.
      name = '[';
    }
  }
  return -1;
}

/** Inserts a member at the beginning of its object. Works on the text, because JSON.stringify would change numbers, escapes and spaces. */
export function insertMember(text: string, path: readonly string[], value: string): string | undefined {
  const at = membersAt(text, path.slice(0, -1));
  if (at < 0) return undefined;
  const rest = text.slice(at);
  return `${text.slice(0, at)}${JSON.stringify(path.at(-1))}:${JSON.stringify(value)}${/^\s*\}/.test(rest) ? '' : ','}${rest}`;
}

/** The body as a JSON object; `undefined` if it is something else. */
export const bodyJson = (body: unknown): Record<string, unknown> | undefined =>
  typeof body === 'string' && /^\s*\{/.test(body) ? (JSON.parse(body) as Record<string, unknown>) : undefined;

/** The key that was found in its place, if any. Throws a TypeError if something else than text is there. */
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

/** The code for the places `body:name`, `body:path.to.name` and `query:name`. */
export function fields(carrier: string): Carry | undefined {
  const [, kind, name = ''] = /^(body|query):([\w.-]+)$/.exec(carrier) ?? [];
  return kind === 'body' ? inBody(name) : kind === 'query' ? inQuery(name) : undefined;
}
