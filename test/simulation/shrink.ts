/** Shrinks a failing world to the fewest actions and kinds of faults with which the same checker still complains. */
import type { FaultRates } from './faults.js';
import type { Action } from './plan.js';
import { type Report, run } from './run.js';
import type { Scenario } from './scenario.js';

/** Limits on the worlds that a shrink runs and on its time: a smaller schedule is not worth more. */
const RUNS_MAX = 400;
const MS_MAX = 15_000;

export interface Shrunk {
  readonly report: Report;
  readonly plan: readonly Action[];
  readonly without: readonly (keyof FaultRates)[];
  readonly runs: number;
}

export async function shrink(scenario: Scenario, failing: Report): Promise<Shrunk> {
  const { seed } = failing;
  const checker = failing.violations[0]?.checker;
  let plan = failing.plan;
  let without: (keyof FaultRates)[] = [];
  let runs = 0;
  const until = performance.now() + MS_MAX;
  const fails = async (candidate: readonly Action[], off: readonly (keyof FaultRates)[]): Promise<boolean> => {
    if (runs >= RUNS_MAX || performance.now() > until) return false;
    runs++;
    const { violations } = await run(scenario, seed, { plan: candidate, without: off });
    return violations.some((violation) => violation.checker === checker);
  };

  for (let chunk = Math.ceil(plan.length / 2); chunk >= 1 && runs < RUNS_MAX; chunk = chunk === 1 ? 0 : Math.ceil(chunk / 2)) {
    for (let at = 0; at < plan.length; ) {
      const less = [...plan.slice(0, at), ...plan.slice(at + chunk)];
      if (await fails(less, without)) plan = less;
      else at += chunk;
    }
  }
  for (const name of Object.keys(failing.options.faults) as (keyof FaultRates)[]) {
    if (!/MsMax$/.test(name) && (await fails(plan, [...without, name]))) without = [...without, name];
  }
  // Without these faults, further actions may turn out to be unnecessary.
  for (let at = 0; at < plan.length; ) {
    const less = plan.filter((_, index) => index !== at);
    if (await fails(less, without)) plan = less;
    else at++;
  }
  const report = await run(scenario, seed, { plan, without, tracing: true });
  return { report, plan, without, runs };
}
