/** Runs many worlds: fresh seeds until enough operations have been simulated, or one seed again. */
import { printFailure, replayCommand, Totals } from './print.js';
import { type Report, run } from './run.js';
import type { Scenario } from './scenario.js';
import { drawn, scenarios } from './scenarios/index.js';
import { shrink } from './shrink.js';

export interface LongRunOptions {
  readonly operations: number;
  /** The seed of the first round of scenarios. Each further round adds one. */
  readonly base: number;
  readonly scenarios?: readonly Scenario[] | undefined;
  /** Called with each world that broke something; the run goes on. */
  readonly failed: (report: Report, scenario: Scenario) => Promise<void>;
  /** Ends the run early. */
  readonly enough?: ((totals: Totals) => boolean) | undefined;
}

/** Fresh worlds of every scenario in turn. */
export async function longRun({ operations, base, failed, enough, scenarios: of = drawn }: LongRunOptions): Promise<Totals> {
  const totals = new Totals();
  for (let n = 0; totals.sums.operations < operations && !enough?.(totals); n++) {
    const scenario = of[n % of.length] as Scenario;
    const report = await run(scenario, (base + Math.floor(n / of.length)) >>> 0);
    totals.add(report);
    if (report.violations.length > 0) await failed(report, scenario);
  }
  return totals;
}

/** Throws a RangeError that lists the scenarios. A seed is another world in each scenario, so there is no default. */
export function scenarioNamed(name: string | undefined): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found) return found;
  const wrong = name === undefined ? 'name the scenario of this seed with --scenario' : `there is no scenario ${JSON.stringify(name)}`;
  throw new RangeError(`${wrong}; there are ${scenarios.map((one) => one.name).join(', ')}`);
}

/** Runs one seed again. Returns the shrunk failure, or a line that says that the world holds. */
export async function replay(scenario: Scenario, seed: number, tracing = false): Promise<{ readonly report: Report; readonly text: string }> {
  const report = await run(scenario, seed, { tracing });
  if (report.violations.length > 0) return { report, text: printFailure(report, await shrink(scenario, report)) };
  return { report, text: [...(tracing ? report.lines : []), `holds: ${replayCommand(report)}`].join('\n') };
}
