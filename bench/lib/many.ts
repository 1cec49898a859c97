/** The tables of docs/cost.md about many calls at once, and many processes. */
import { number, type Results, ratioOf, spreadOf } from './results.ts';
import { table } from './stats.ts';

export function atOnce({ shared }: Results): string {
  if (!shared) return '';
  return `## Many calls at once

${shared.atOnce} calls at once, in ${shared.rounds} rounds, in turn with the bare statements that a call needs, through the same client: in PostgreSQL an insert and an update, in Redis two scripts that compare, set, and keep two indexes. A call also does all that a client does. Other work on the machine slows the calls of Redis most, because they do their work in this process.

${table(
  ['store', 'what', 'a second', 'to the bare statements', 'CPU of this process, µs each', 'to the bare statements'],
  Object.entries(shared.subjects).flatMap(([store, columns]) =>
    Object.entries(columns).map(([what, { perSecond, toBare, cpuUs, cpuToBare }]) => [
      store,
      what === 'bare' ? 'bare statements' : what,
      spreadOf(perSecond),
      ratioOf(toBare),
      number(cpuUs?.median),
      ratioOf(cpuToBare),
    ]),
  ),
)}`;
}

export function processes({ processes: seen }: Results): string {
  if (!seen) return '';
  const names: Readonly<Record<string, string>> = { oncefetch: 'now', before: 'before' };
  return `## Processes that share an SQLite file

Calls of all processes together, in ${seen.rounds} rounds, the current version and the one before it in turn. The table says how many calls each process makes at once, and how much longer we made each flush of the file, which is in memory. On Linux the store itself flushes a strict commit, without the writer's lock and, if the disk is slow, beside the event loop; another thread makes the checkpoints. The version before left both to SQLite.

${table(
  ['version', 'processes × calls at once', 'a second', 'to 1 × 1', 'to before', 'event loop busy', 'its delay, 99th percentile, ms'],
  Object.entries(seen.builds).flatMap(([build, cases]) =>
    Object.entries(cases).map(([name, { perSecond, toOne, toBefore, busy, delayMs }]) => [
      names[build] ?? build,
      name,
      spreadOf(perSecond),
      ratioOf(toOne),
      ratioOf(toBefore),
      busy?.median.toFixed(2) ?? '?',
      delayMs?.median.toFixed(1) ?? '?',
    ]),
  ),
)}

With 16 calls at once in each of four processes, two cores are what limits them, not the disk.`;
}
