/** Turns the command line into a plan. Throws a UsageError that names a wrong option. */
import { readFileSync } from 'node:fs';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import type { ProbeTimes } from '../request.js';
import type { Counting } from './count.js';
import { headerOf, requestIn } from './request-file.js';
import { carrierOf, changed, type Template } from './template.js';
import { UsageError } from './usage.js';

const OPTIONS = {
  method: { type: 'string' },
  body: { type: 'string' },
  header: { type: 'string', multiple: true },
  request: { type: 'string' },
  'changed-body': { type: 'string' },
  'refused-body': { type: 'string' },
  elsewhere: { type: 'string' },
  as: { type: 'string', multiple: true },
  'key-header': { type: 'string' },
  count: { type: 'string' },
  'count-path': { type: 'string' },
  'count-header': { type: 'string', multiple: true },
  'count-command': { type: 'string' },
  patience: { type: 'string', default: '10s' },
  settle: { type: 'string', default: '200ms' },
  after: { type: 'string' },
  state: { type: 'string', default: 'oncefetch-probe.json' },
  resume: { type: 'string' },
  sandbox: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} satisfies ParseArgsOptionsConfig;

type Values = ReturnType<typeof parsedArgs>['values'];

export interface Plan {
  readonly request: Template;
  /** Where the key goes, in the form in which records keep it. */
  readonly carrier: string;
  readonly bodies: Readonly<Record<'changed' | 'refused', string | undefined>>;
  readonly elsewhere: string | undefined;
  /** The headers of the second account. */
  readonly other: Template['headers'];
  readonly counting: Counting | undefined;
  readonly times: ProbeTimes;
  readonly state: string;
  readonly resume: string | undefined;
  readonly json: boolean;
}

function parsedArgs(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationOf(option: string, text: string): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const ms = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (!(ms >= 0)) throw new UsageError(`--${option}: ${JSON.stringify(text)} is not a time, such as 500ms, 30s or 25h`);
  return ms;
}

function urlOf(option: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`${option}: ${JSON.stringify(text)} is not a URL of http or https`);
  return text;
}

function read(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--${option}: ${(error as Error).message}`);
  }
}

/** Throws if the request's method has no effect that could be doubled. */
function withEffect(request: Template): Template {
  const { method } = request;
  if (!/^[A-Z]+$/i.test(method) || /^(GET|HEAD|OPTIONS|TRACE|CONNECT)$/i.test(method)) throw new UsageError(`--method: ${method} has no effect to repeat`);
  return request;
}

function requestOf(values: Values, url: string | undefined): Template {
  if (values.request !== undefined) {
    for (const name of ['method', 'body'] as const) if (values[name] !== undefined) throw new UsageError(`--${name}: --request gives it already`);
    const found = requestIn(read('request', values.request));
    const more = (values.header ?? []).map((text) => headerOf(text, '--header'));
    const replaced = found.headers.filter(([name]) => !more.some(([other]) => other.toLowerCase() === name.toLowerCase()));
    return { ...found, url: urlOf('<url>', url ?? found.url), headers: [...replaced, ...more] };
  }
  if (url === undefined) throw new UsageError('<url>: give the URL to probe, or --request');
  const { method = 'POST', body } = values;
  const headers = (values.header ?? []).map((text) => headerOf(text, '--header'));
  const json = body !== undefined && /^\s*[{[]/.test(body) && !headers.some(([name]) => /^content-type$/i.test(name));
  return { method, url: urlOf('<url>', url), headers: json ? [...headers, ['content-type', 'application/json']] : headers, body };
}

/** The request with its key in it. */
function withKey(request: Template, header: string | undefined): { request: Template; carrier: string } {
  const carrier = carrierOf(request);
  if (carrier !== undefined && header !== undefined) throw new UsageError('--key-header: the request has {{key}} in another place already');
  if (carrier !== undefined) return { request, carrier };
  const name = headerOf(`${header ?? 'Idempotency-Key'}: {{key}}`, '--key-header')[0];
  // A recorded request has its own key in this header: remove that.
  const headers = request.headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase());
  return { request: { ...request, headers: [...headers, [name, '{{key}}']] }, carrier: `header:${name}` };
}

function countingOf(values: Values): Counting | undefined {
  const { count, 'count-command': command, 'count-path': path, 'count-header': headers = [] } = values;
  if (count !== undefined && command !== undefined) throw new UsageError('--count-command: give it or --count, not both');
  if (count === undefined && path !== undefined) throw new UsageError('--count-path: it needs --count');
  if (command !== undefined) return { command };
  if (count === undefined) return undefined;
  return { url: urlOf('--count', count), path, headers: headers.map((text) => headerOf(text, '--count-header')) };
}

/** The plan; `help` if that was asked for. */
export function planOf(args: readonly string[]): Plan | 'help' {
  const { values, positionals } = parsedArgs(args);
  if (values.help) return 'help';
  const [verb, url, ...rest] = positionals;
  if (verb !== 'probe') throw new UsageError(`${verb ?? 'nothing'}: the only command is probe`);
  if (rest.length > 0) throw new UsageError(`${rest[0]}: one URL at a time`);
  if (!values.sandbox) throw new UsageError('--sandbox is required: the probe makes real effects. Give it only for a test system, never for production');
  const { request, carrier } = withKey(withEffect(requestOf(values, url)), values['key-header']);
  const elsewhere = values.elsewhere === undefined ? undefined : urlOf('--elsewhere', values.elsewhere);
  if (elsewhere !== undefined && new URL(elsewhere).origin !== new URL(request.url).origin)
    throw new UsageError('--elsewhere: it must be on the same origin as the URL');
  return {
    request,
    carrier,
    bodies: { changed: values['changed-body'] ?? changed(request.body), refused: values['refused-body'] },
    elsewhere,
    other: (values.as ?? []).map((text) => headerOf(text, '--as')),
    counting: countingOf(values),
    times: {
      patienceMs: durationOf('patience', values.patience),
      settleMs: durationOf('settle', values.settle),
      afterMs: values.after === undefined ? undefined : durationOf('after', values.after),
    },
    state: values.state,
    resume: values.resume,
    json: values.json ?? false,
  };
}
