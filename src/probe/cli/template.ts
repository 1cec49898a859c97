/** A request with {{key}} and {{operation}} in it. */
import { UsageError } from './usage.js';

export interface Template {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
}

type Values = Readonly<Record<'key' | 'operation', string>>;

/** Fills in the values. In a URL, the braces are percent-encoded. */
export const fill = (text: string, { key, operation }: Values): string =>
  text.replaceAll(/(?:\{\{|%7B%7B)(key|operation)(?:\}\}|%7D%7D)/gi, (_, name: string) => (name.toLowerCase() === 'key' ? key : operation));

const KEY = /\{\{key\}\}/;

function pathOfKey(json: unknown, path: readonly string[] = []): string | undefined {
  if (json === '{{key}}') return path.join('.');
  if (typeof json !== 'object' || json === null) return undefined;
  for (const [name, value] of Object.entries(json)) {
    const found = pathOfKey(value, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

/** The place of {{key}} as a carrier: `header:Idempotency-Key`, `body:request_id`, `query:request_id`. */
export function carrierOf({ url, headers, body }: Template): string | undefined {
  const header = headers.find(([, value]) => KEY.test(value));
  if (header) return `header${header[1] === '"{{key}}"' ? '-sf' : ''}:${header[0]}`;
  const member = pathOfKey(parsed(body)) ?? [...new URLSearchParams(body ?? '')].find(([, value]) => value === '{{key}}')?.[0];
  if (member !== undefined) return `body:${member}`;
  const parameter = [...new URL(url).searchParams].find(([, value]) => value === '{{key}}')?.[0];
  if (parameter !== undefined) return `query:${parameter}`;
  if (KEY.test(`${url}${body}`)) throw new UsageError('{{key}}: it must be the whole value of a header, of a member of the body or of a parameter');
  return undefined;
}

/** The same payload with one number or text changed; `undefined` if it is not JSON with a number or text in it. */
export function changed(body: string | undefined): string | undefined {
  const json = parsed(body);
  let done = false;
  const change = (value: unknown): unknown => {
    if (done) return value;
    if (typeof value === 'number') {
      done = true;
      return value + 1;
    }
    if (Array.isArray(value)) return value.map(change);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)]));
  };
  const changedText = (value: unknown): unknown => {
    if (done || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        if (done || typeof member !== 'string' || member.includes('{{')) return [name, changedText(member)];
        done = true;
        return [name, `${member} changed`];
      }),
    );
  };
  const byNumber = change(json);
  const result = done ? byNumber : changedText(json);
  return done ? JSON.stringify(result) : undefined;
}
