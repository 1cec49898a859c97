/** Medians, spreads, and the files with the results. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, platform, release } from 'node:os';
import { fileURLToPath } from 'node:url';

/** The median, and the range of the middle half. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function quantile(numbers: readonly number[], at: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const place = (sorted.length - 1) * at;
  const [below = Number.NaN, above = below] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return below + (above - below) * (place - Math.floor(place));
}

export const median = (numbers: readonly number[]): number => quantile(numbers, 0.5);

export const spread = (numbers: readonly number[]): Spread => ({ median: median(numbers), low: quantile(numbers, 0.25), high: quantile(numbers, 0.75) });

const folder = fileURLToPath(new URL('../results/', import.meta.url));

/** Rounds to three digits, or to an integer if that has more, because further digits would be noise. */
const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(value < 1000 ? 3 : Math.ceil(Math.log10(value)))) : value;

/** Saves what was measured, and on what machine. */
export function save(name: string, measured: object): void {
  mkdirSync(folder, { recursive: true });
  const where = {
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    os: `${platform()} ${release().split('-')[0]}`,
    load: loadavg()[0] ?? 0,
  };
  writeFileSync(`${folder}${name}.json`, `${JSON.stringify({ where, ...measured }, rounded, 1)}\n`);
  console.log(`bench/results/${name}.json`);
}

/** Loads the last results, or `undefined` if there are none. */
export function load<T>(name: string): (T & { readonly where: Readonly<Record<string, string | number>> }) | undefined {
  try {
    return JSON.parse(readFileSync(`${folder}${name}.json`, 'utf8'));
  } catch {
    return undefined;
  }
}

export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, at) => (at ? '--:' : '---'))), ...rows.map(line)].join('\n');
}
