/** Puts keys into a directive of a GraphQL mutation. */
import type { Carry } from '../core/carrier.js';
import { bodyJson, insertMember, keyIn } from './fields.js';

const TOKEN = /"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*|[{}()@:]|[A-Za-z_]\w*/g;

/** The position after the name and arguments of the mutation's field; -1 unless the document has exactly one operation, a mutation with one field. */
function behindOnlyField(document: string): number {
  const tokens = [...document.matchAll(TOKEN)].filter(([token]) => !/^["#]/.test(token));
  let [braces, parens, fields, operations, end] = [0, 0, 0, 0, -1];
  for (const [at, { 0: token, index }] of tokens.entries()) {
    const next = tokens[at + 1]?.[0];
    if (braces === 0 && parens === 0 && /^(mutation|query|subscription)$/.test(token)) operations += token === 'mutation' ? 1 : 2;
    else if (token === '(') parens++;
    else if (token === ')') {
      parens--;
      if (braces === 1 && parens === 0 && end < 0) end = index + 1;
    } else if (parens > 0) continue;
    else if (token === '{') braces++;
    else if (token === '}') braces--;
    // The name before a colon is an alias, one after `@` a directive: neither is the field.
    else if (braces === 1 && /^\w/.test(token) && next !== ':' && tokens[at - 1]?.[0] !== '@') {
      fields++;
      end = next === '(' ? -1 : index + token.length;
    }
  }
  return operations === 1 && fields === 1 ? end : -1;
}

/** The body with another document. All other bytes stay as they are. */
function withDocument(body: string, document: string): string | undefined {
  let depth = 0;
  let before = '';
  for (const { 0: token, index } of body.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (/^[{[]$/.test(token)) depth++;
    else if (/^[}\]]$/.test(token)) depth--;
    if (depth === 1 && before === '"query":' && token[0] === '"') return body.slice(0, index) + JSON.stringify(document) + body.slice(index + token.length);
    before = token === ':' ? `${before}:` : token;
  }
  return undefined;
}

/** The code for places such as `graphql:@idempotent(key)`. */
export function directives(carrier: string): Carry | undefined {
  const [, directive, argument] = /^graphql:@(\w+)\((\w+)\)$/.exec(carrier) ?? [];
  if (!directive) return undefined;
  const use = new RegExp(`@${directive}\\s*\\(\\s*${argument}\\s*:\\s*(?:\\$(\\w+)|"([^"\\\\]*)")`);
  const look = (body: unknown) => {
    const json = bodyJson(body);
    const document = typeof json?.['query'] === 'string' ? json['query'] : undefined;
    // Comments and descriptions are removed first: a directive in them does not count.
    const code = document?.replace(TOKEN, (token) => (/^("""|#)/.test(token) ? '' : token));
    const [, variable, literal] = (code !== undefined && use.exec(code)) || [];
    const variables = json?.['variables'] as Record<string, unknown> | null | undefined;
    return { document, variable, variables, key: literal ?? (variable === undefined ? undefined : keyIn(variables?.[variable], `the variable $${variable}`)) };
  };
  return {
    find: ({ body }) => look(body).key,
    put(wire, key) {
      const { url } = wire;
      const body = wire.body as string;
      const { document, variable, variables, key: given } = look(body);
      if (given !== undefined) return wire;
      if (document === undefined) return undefined;
      if (variable !== undefined) {
        const changed = variables
          ? insertMember(body, ['variables', variable], key)
          : body.replace(/^\s*\{/, () => `{"variables":{${JSON.stringify(variable)}:${JSON.stringify(key)}},`);
        // With `variables: null` in the body, that would come after our own `variables` and replace it.
        return changed === undefined || variables === null ? undefined : { url, body: changed };
      }
      const at = behindOnlyField(document);
      const changed =
        at < 0 ? undefined : withDocument(body, `${document.slice(0, at)} @${directive}(${argument}: ${JSON.stringify(key)})${document.slice(at)}`);
      return changed === undefined ? undefined : { url, body: changed };
    },
  };
}
