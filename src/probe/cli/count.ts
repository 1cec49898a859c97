/** Counts effects in the way that the user has given. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { valuesAt } from '../../dialects/matching.js';
import { parsed, type Template } from './template.js';
import { UsageError } from './usage.js';

export type Counting =
  | { readonly url: string; readonly path: string | undefined; readonly headers: Template['headers'] }
  /** A command that prints the number. */
  | { readonly command: string };

const COMMAND_MS_MAX = 30_000;
const LOOK_TWICE_MS = 300;

function numberIn(found: unknown, from: string): number {
  const number = Array.isArray(found) ? found.length : typeof found === 'string' && /^\s*\d+\s*$/.test(found) ? Number(found) : found;
  if (typeof number !== 'number' || !Number.isSafeInteger(number))
    throw new UsageError(`${from}: found ${JSON.stringify(found)?.slice(0, 100)}, which is neither a whole number nor a list`);
  return number;
}

async function counted(counting: Counting): Promise<number> {
  if ('command' in counting) {
    const [shell, flag] = process.platform === 'win32' ? ['cmd', '/c'] : ['sh', '-c'];
    const { stdout } = await promisify(execFile)(shell, [flag, counting.command], { timeout: COMMAND_MS_MAX });
    return numberIn(stdout, '--count-command');
  }
  const { url, path, headers } = counting;
  const response = await fetch(url, { headers: headers.map(([name, value]): [string, string] => [name, value]) });
  const text = await response.text();
  if (!response.ok) throw new UsageError(`--count: ${url} answered ${response.status}`);
  const json = parsed(text);
  return numberIn(path === undefined ? (json ?? text) : valuesAt(json, path)[0], path === undefined ? '--count' : `--count-path ${path}`);
}

export const counter = (counting: Counting) => async (): Promise<number> => {
  try {
    return await counted(counting);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { message, cause } = error as Error & { readonly cause?: { readonly code?: string; readonly message?: string } };
    if ('command' in counting) throw new UsageError(`--count-command: ${message}`);
    const why = cause?.code ?? cause?.message; // fetch itself says only that it failed
    throw new UsageError(`--count: ${counting.url}: ${message}${why === undefined ? '' : ` (${why})`}`);
  }
};

/** The count before anything is sent. Throws if counting fails, or if the number changes although the probe does nothing. */
export async function checkedCount(count: () => Promise<number>): Promise<number> {
  const one = await count();
  await new Promise((resolve) => setTimeout(resolve, LOOK_TWICE_MS));
  const other = await count();
  if (one !== other) throw new UsageError(`--count: the number went from ${one} to ${other} by itself; nobody but the probe may make effects meanwhile`);
  return one;
}
