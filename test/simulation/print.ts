/** Prints a failure, and the totals of a run. */
import type { FaultRates } from './faults.js';
import { printAction } from './plan.js';
import type { Report } from './run.js';
import type { Shrunk } from './shrink.js';

export const replayCommand = ({ seed, scenario }: Pick<Report, 'seed' | 'scenario'>): string => `npm run simulate -- --scenario ${scenario} --seed ${seed}`;

/** How many lines of a shrunk world's log are printed, the last ones. */
const LINES_MAX = 120;

/** The log lines about the operation, and about devices and contexts as a whole. */
function relevant({ lines }: Report, op: string): readonly string[] {
  const about = lines.filter((line) => (op !== '' && line.includes(op)) || !/\["pay",| (update|lock|read|send|scan|hook|reconcile)$/.test(line));
  return about.slice(-LINES_MAX);
}

export function printFailure(failing: Report, { report, plan, without, runs }: Shrunk): string {
  const left = Object.entries(failing.options.faults).filter(([name]) => !without.includes(name as keyof FaultRates));
  const [first] = report.violations.length > 0 ? report.violations : failing.violations;
  return [
    `${failing.scenario}, seed ${failing.seed}: ${first?.checker} says at ${first?.at} ms of ${first?.op || 'the world'}:`,
    `  ${first?.says}`,
    '',
    ...(failing.options.madeOf ? [`Made of: ${failing.options.madeOf.join(', ')}.`] : []),
    `Server: ${failing.options.server.family}. Client: ${JSON.stringify(failing.options.client)}.`,
    `Schedule, shrunk from ${failing.plan.length} to ${plan.length} actions in ${runs} runs (ms, what, where):`,
    ...plan.map((action) => `  ${printAction(action)}`),
    `Faults that are needed: ${left.length > 0 ? left.map(([name, rate]) => `${name} ${rate}`).join(', ') : 'none'}.`,
    '',
    'What happened:',
    ...relevant(report, first?.op ?? ''),
    '',
    `Replay: ${replayCommand(failing)}`,
  ].join('\n');
}

/** Sums over many worlds. */
export class Totals {
  worlds = 0;
  readonly sums = { operations: 0, calls: 0, attempts: 0, copies: 0, effects: 0, events: 0, leftPending: 0, onlyReconcile: 0, violations: 0 };
  readonly struck = new Map<string, number>();
  readonly outcomes = new Map<string, number>();
  readonly aparts = new Map<string, number>();
  /** How often each checker complained. */
  readonly checkers = new Map<string, number>();
  /** Operations in the worlds of each scenario. */
  readonly scenarios = new Map<string, { operations: number; aparts: Map<string, number> }>();

  add(report: Report): void {
    this.worlds++;
    for (const name of Object.keys(this.sums) as (keyof Totals['sums'])[]) this.sums[name] += name === 'violations' ? report.violations.length : report[name];
    tally(this.struck, report.struck);
    tally(this.outcomes, report.outcomes);
    tally(this.aparts, report.aparts);
    for (const { checker } of report.violations) this.checkers.set(checker, (this.checkers.get(checker) ?? 0) + 1);
    this.#scenario(report.scenario, report.operations, report.aparts);
  }

  #scenario(name: string, operations: number, aparts: ReadonlyMap<string, number>): void {
    const own = this.scenarios.get(name) ?? { operations: 0, aparts: new Map<string, number>() };
    own.operations += operations;
    tally(own.aparts, aparts);
    this.scenarios.set(name, own);
  }

  /** Adds what another process has simulated. */
  addJSON(from: ReturnType<Totals['toJSON']>): void {
    this.worlds += from.worlds;
    for (const name of Object.keys(this.sums) as (keyof Totals['sums'])[]) this.sums[name] += from.sums[name];
    tally(this.struck, new Map(from.struck));
    tally(this.outcomes, new Map(from.outcomes));
    tally(this.aparts, new Map(from.aparts));
    for (const [name, { operations, aparts }] of from.scenarios) this.#scenario(name, operations, new Map(aparts));
  }

  toJSON() {
    const scenarios = [...this.scenarios].map(([name, { operations, aparts }]) => [name, { operations, aparts: [...aparts] }] as const);
    return {
      worlds: this.worlds,
      sums: this.sums,
      checkers: Object.fromEntries(this.checkers),
      struck: [...this.struck],
      outcomes: [...this.outcomes],
      aparts: [...this.aparts],
      scenarios,
    };
  }

  print(seconds: number): string {
    const { sums } = this;
    const rows: [string, string][] = [
      ['worlds', count(this.worlds)],
      ['operations', count(sums.operations)],
      ['calls', count(sums.calls)],
      ['attempts', count(sums.attempts)],
      ['copies on the wire', count(sums.copies)],
      ['effects', count(sums.effects)],
      ['left pending by the storm', count(sums.leftPending)],
      ['… of them settled only by asking the server', count(sums.onlyReconcile)],
      ['violations', count(sums.violations)],
    ];
    return [
      ...table('Simulated', rows),
      ...table('Outcomes, by what callers were told', sorted(this.outcomes)),
      ...table('Faults, by how often they struck', sorted(this.struck)),
      ...this.#apart(),
      `${seconds.toFixed(1)} s, ${count(Math.round(sums.operations / seconds))} operations a second`,
    ].join('\n');
  }

  /** The cases that are counted apart: for each scenario in which a case happened, how many operations it concerned. */
  #apart(): string[] {
    const rows: [string, string][] = [];
    for (const [kind, all] of [...this.aparts].sort((a, b) => b[1] - a[1])) {
      for (const [scenario, { operations, aparts }] of this.scenarios) {
        const own = aparts.get(kind);
        if (own) rows.push([`${kind}, in ${scenario}`, `${count(own)} of ${count(operations)} operations, ${((100 * own) / operations).toFixed(2)} %`]);
      }
      if (all > 0) rows.push([`${kind}, in all`, count(all)]);
    }
    return table('Counted apart', rows);
  }
}

const count = (n: number): string => n.toLocaleString('en');

const sorted = (of: ReadonlyMap<string, number>): [string, string][] => [...of].sort((a, b) => b[1] - a[1]).map(([name, n]) => [name, count(n)]);

function tally(into: Map<string, number>, from: ReadonlyMap<string, number>): void {
  for (const [name, n] of from) into.set(name, (into.get(name) ?? 0) + n);
}

function table(title: string, rows: readonly [string, string][]): string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [title, ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`), ''];
}
