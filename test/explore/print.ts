/** Prints the result of an exploration. */
import type { Explored, Found } from './explore.js';

type Counts = ReadonlyMap<string, number>;

export const numbered = (lines: readonly string[]): string => lines.map((line, at) => `${String(at + 1).padStart(4)}. ${line}`).join('\n');

const printFound = ({ kind, schedule, lines }: Found): string => `  ${kind}\n${numbered(lines)}\n    npm run explore -- --replay '${schedule}'\n`;

const n = (value: number): string => value.toLocaleString('en');

const counts = (of: Counts): string =>
  [...of]
    .sort((a, b) => b[1] - a[1])
    .map(([name, times]) => `${name} ${n(times)}`)
    .join(', ');

export function print({ variant, played, spared, states, found, complete, bounds, seconds, ends, verdicts }: Explored): string {
  const head = `${variant} (${bounds.faults} faults, ${bounds.switches} switches): ${n(played)} schedules played, ${n(spared)} not needed, ${n(states)} states, ${found.length} kinds of violation, ${seconds.toFixed(1)} s${complete ? '' : ', NOT COMPLETE'}`;
  return [head, `  told: ${counts(ends)}`, `  verdicts: ${counts(verdicts)}`, ...found.map(printFound)].join('\n');
}

const sumOf = (all: readonly Counts[]): Counts => {
  const sum = new Map<string, number>();
  for (const counts of all) for (const [name, times] of counts) sum.set(name, (sum.get(name) ?? 0) + times);
  return sum;
};

/** Prints the sum of all variants of a run. */
export function printTotal(all: readonly Explored[]): string {
  const sum = (of: (one: Explored) => number): string => n(all.reduce((total, one) => total + of(one), 0));
  const complete = all.filter((one) => one.complete).length;
  const [ends, verdicts] = [sumOf(all.map((one) => one.ends)), sumOf(all.map((one) => one.verdicts))];
  return [
    `${all.length} variants, ${complete} of them complete: ${sum((one) => one.played)} schedules played, ${sum((one) => one.spared)} not needed, ${sum((one) => one.states)} states, ${sum((one) => one.found.length)} kinds of violation`,
    `  told, ${ends.size} ways: ${counts(ends)}`,
    `  verdicts, ${verdicts.size} ways: ${counts(verdicts)}`,
  ].join('\n');
}
