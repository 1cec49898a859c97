/** The results that docs/cost.md is made of, in the form in which the benchmarks save them. */
import type { Compared } from './interleaved.ts';
import type { Spent } from './profile.ts';
import { load, type Spread } from './stats.ts';

type By<T> = Readonly<Record<string, T>>;

export interface Restart {
  readonly listed: number;
  readonly pageUs: Spread;
  readonly resumed: number;
  readonly perSecond: number;
  readonly heapGrowth: number;
  readonly largestShareOfFirstTenth: number;
}

export const results = {
  node: load<{ rounds: number; bodyBytes: number; cases: By<Compared>; versions: By<string>; profiles?: By<Spent> }>('node'),
  loopback: load<{ rounds: number; atOnce: By<By<Compared>> }>('loopback'),
  stores: load<{ rounds: number; stores: By<By<Spread> & { readonly stages?: By<Spread> }>; leftOut: By<string>; atOnce: number }>('stores'),
  shared: load<{ rounds: number; atOnce: number; subjects: By<By<By<Spread>>> }>('shared'),
  processes: load<{ rounds: number; builds: By<By<By<Spread>>> }>('processes'),
  browsers: load<{
    rounds: number;
    browsers: By<{ version: string } & Partial<Readonly<Record<'stores' | 'stages' | 'records' | 'peers' | 'ratios' | 'first', By<Spread>>>>>;
    leftOut: By<string>;
  }>('browsers'),
  records: load<{
    sizes: number[];
    pending: number;
    unknown: number;
    stores: By<{ calls: By<{ us: Spread; ratio: Spread }>; unknown: Spread; sweeps?: By<{ us: Spread; ratio: Spread }>; restart: Restart }>;
    leftOut: By<string>;
  }>('records'),
  size: load<{
    entries: By<{ now: number; later: number }>;
    peers: By<number>;
    features: By<number>;
    functions: By<number>;
    named?: number;
    dialects?: By<number>;
    allDialects?: number;
    considered: By<number>;
  }>('size'),
  memory: load<{ samples: { operations: number; heap: number; handles: number; entries: By<number> }[]; perOperation: number }>('memory'),
};

export type Results = typeof results;

export const where = (): string => {
  const { cores, os, node } = results.node?.where ?? {};
  const cpus = new Set(Object.values(results).map((result) => result?.where['cpu']));
  return `${cores} cores, ${[...cpus].sort().join(' or ')}, ${os}, Node ${node}`;
};

/** Formats a number with two digits, or as an integer with separated thousands. */
export const number = (value: number | undefined): string => {
  if (value === undefined || Number.isNaN(value)) return '?';
  return Math.abs(value) >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2)));
};

/** Formats a ratio that is compared with a limit: its median, and the range of the middle half. */
export const ratioOf = (of: Spread | undefined): string => (of ? `${of.median.toFixed(2)} (${of.low.toFixed(2)} to ${of.high.toFixed(2)})` : '?');

/** Formats a median, and the range of the middle half. */
export const spreadOf = (of: Spread | undefined): string => (of ? `${number(of.median)} (${number(of.low)} to ${number(of.high)})` : '?');
