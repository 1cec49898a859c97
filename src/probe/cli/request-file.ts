/** Reads a request from a file: a HAR entry or a curl command. */
import type { Template } from './template.js';
import { parsed } from './template.js';
import { UsageError } from './usage.js';

/** Headers that a client sets itself for each connection or message, and HTTP/2 pseudo-headers: these are not taken over. */
const OWN = /^(:.*|host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect)$/i;

export const headerOf = (text: string, option: string): readonly [string, string] => {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+)\s*:\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined || /[\r\n\0]/.test(value))
    throw new UsageError(`${option}: ${JSON.stringify(text)} is not a header, such as 'Name: value'`);
  return [name, value];
};

interface HarRequest {
  readonly method?: unknown;
  readonly url?: unknown;
  readonly headers?: readonly { readonly name: string; readonly value: string }[];
  readonly postData?: { readonly text?: string };
}

function fromHar(json: unknown): Template {
  const whole = json as { log?: { entries?: readonly { request?: HarRequest }[] }; request?: HarRequest } | undefined;
  const entries = whole?.log?.entries;
  if (entries && entries.length !== 1) throw new UsageError(`--request: the HAR has ${entries.length} entries; keep the one to repeat`);
  const { method, url, headers = [], postData } = entries?.[0]?.request ?? whole?.request ?? {};
  if (typeof method !== 'string' || typeof url !== 'string')
    throw new UsageError('--request: the file is JSON, but not a HAR entry: it has no request with a method and a url');
  return { method, url, headers: headers.filter(({ name }) => !OWN.test(name)).map(({ name, value }) => [name, value] as const), body: postData?.text };
}

/** Splits a command into words as a shell would, without expanding anything. */
function wordsOf(command: string): string[] {
  const WORD = /(?:\$'(?:[^'\\]|\\.)*'|'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+/gs;
  const PART = /\$'((?:[^'\\]|\\.)*)'|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^'"\\]+)/gs;
  const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
  return (command.replaceAll(/\\\r?\n/g, ' ').match(WORD) ?? []).map((word) =>
    word.replaceAll(PART, (_, ansi?: string, single?: string, double?: string, escaped?: string, bare?: string) => {
      if (ansi !== undefined)
        return ansi.replaceAll(/\\(?:u([\da-fA-F]{4})|(.))/gs, (_all, hex?: string, one = '') =>
          hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (escapes[one] ?? one),
        );
      return single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? bare ?? '';
    }),
  );
}

const DATA = ['-d', '--data', '--data-raw', '--data-binary', '--data-ascii', '--json'];
const SILENT = [
  '-s',
  '-S',
  '-sS',
  '-i',
  '-v',
  '-L',
  '--silent',
  '--show-error',
  '--include',
  '--verbose',
  '--location',
  '--compressed',
  '--http1.1',
  '--http2',
];

function fromCurl(words: readonly string[]): Template {
  const headers: (readonly [string, string])[] = [];
  const data: string[] = [];
  let [url, method]: [string | undefined, string | undefined] = [undefined, undefined];
  const rest = words.slice(1).values();
  for (const word of rest) {
    if (SILENT.includes(word)) continue;
    if (!word.startsWith('-')) {
      url = word;
      continue;
    }
    const value = rest.next().value;
    if (value === undefined) throw new UsageError(`--request: curl's ${word} has no value, or is not understood`);
    if (word === '--url') url = value;
    else if (word === '-X' || word === '--request') method = value;
    else if (word === '-H' || word === '--header') headers.push(headerOf(value, '--request'));
    else if (word === '-b' || word === '--cookie') headers.push(['cookie', value]);
    else if (word === '-A' || word === '--user-agent') headers.push(['user-agent', value]);
    else if (word === '-u' || word === '--user') headers.push(['authorization', `Basic ${btoa(value)}`]);
    else if (DATA.includes(word) && !value.startsWith('@')) data.push(value);
    else throw new UsageError(`--request: curl's ${word} ${JSON.stringify(value)} is not understood`);
    if (word === '--json') headers.push(['content-type', 'application/json']);
  }
  if (url === undefined) throw new UsageError('--request: the curl command has no URL');
  const body = data.length > 0 ? data.join('&') : undefined;
  const form =
    body !== undefined && !headers.some(([name]) => /^content-type$/i.test(name)) ? [['content-type', 'application/x-www-form-urlencoded'] as const] : [];
  return { method: method ?? (body === undefined ? 'GET' : 'POST'), url, headers: [...headers.filter(([name]) => !OWN.test(name)), ...form], body };
}

/** Reads the text of a file. Throws a UsageError if it is neither of the two. */
export function requestIn(text: string): Template {
  if (text.trimStart().startsWith('{')) return fromHar(parsed(text));
  const words = wordsOf(text);
  if (words[0] !== 'curl') throw new UsageError('--request: the file has neither a HAR entry nor a curl command');
  return fromCurl(words);
}
