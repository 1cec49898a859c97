/** The row that waits, if the wait is too long for one run: this run begins the row, and another run, with `--resume`, ends it. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Bench, Learnt, ProbeOperation } from '../bench.js';
import type { Came } from '../request.js';
import { type ProbeRow, rowOf } from '../row.js';
import { judgeWait } from '../rows-of-copies.js';
import { UsageError } from './usage.js';

/** The longest wait within one run, ms. */
export const WAITS_MS_MAX = 60_000;

/** The state file. It contains no payload and no credential. */
interface Kept {
  readonly version: 1;
  readonly url: string;
  readonly dueAt: string;
  readonly operation: ProbeOperation;
  readonly learnt: Learnt;
  readonly answer: { readonly status: number; readonly text: string };
}

/** Sends one request under a new key, and writes what came into the state file. Gives the time after which to resume. */
export async function begin(bench: Bench, { file, url, afterMs }: { file: string; url: string; afterMs: number }): Promise<Date> {
  const operation = bench.operation();
  const came = await bench.send(operation);
  if (!came) throw new UsageError('--after: the request that should be repeated later got no answer');
  const dueAt = new Date(Date.now() + afterMs);
  const { status, text } = came;
  const kept: Kept = { version: 1, url, dueAt: dueAt.toISOString(), operation, learnt: bench.learnt, answer: { status, text } };
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
  return dueAt;
}

export function keptIn(file: string, url: string): Kept {
  const kept = ((): Partial<Kept> => {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Partial<Kept>;
    } catch (error) {
      throw new UsageError(`--resume: ${(error as Error).message}`);
    }
  })();
  if (kept.version !== 1 || !kept.operation || !kept.answer || !kept.learnt || !kept.dueAt)
    throw new UsageError(`--resume: ${file} is not a state file of the probe`);
  if (kept.url !== url) throw new UsageError(`--resume: ${file} is about another URL, ${kept.url}`);
  if (Date.parse(kept.dueAt) > Date.now()) throw new UsageError(`--resume: it is too early; come back after ${kept.dueAt}`);
  return kept as Kept;
}

/** Plays the rest of the row that {@link begin} began. */
export async function resume(bench: Bench, { operation, answer }: Kept): Promise<ProbeRow> {
  const { value, effects } = await bench.counting(() => bench.insist(operation));
  const first: Came = { ...answer, headers: new Headers() };
  const answers = [first, ...value];
  // Add the effect of the request before the wait.
  const all = effects === undefined ? undefined : effects + 1;
  return rowOf('after-wait', { answers, effects: all, finding: judgeWait(bench, operation.key, answers, all) });
}
