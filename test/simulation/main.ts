/** The simulation on the command line; `scripts/simulate.mjs` bundles and starts it. */
import { parseArgs } from 'node:util';
import { longRun, replay, scenarioNamed } from './long-run.js';
import { printFailure, replayCommand, Totals } from './print.js';
import type { Scenario } from './scenario.js';
import { shrink } from './shrink.js';

/** How many failures are shrunk and printed in full. Each further failure gets one line. */
const SHRUNK_MAX = 3;

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '20000' },
    seed: { type: 'string' },
    scenario: { type: 'string' },
    base: { type: 'string' },
    trace: { type: 'boolean', default: false },
    /** `json` prints the totals for a parent process, which adds them up with `sum` and `seconds`. */
    json: { type: 'boolean', default: false },
    sum: { type: 'string' },
    seconds: { type: 'string' },
    /** Ends the run after this time, with the totals so far. */
    minutes: { type: 'string', default: 'Infinity' },
  },
});

/** The scenario that the command line names. Without one, the command ends here with an error. */
function scenario(): Scenario {
  try {
    return scenarioNamed(values.scenario);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}

async function one(seed: number): Promise<void> {
  const { report, text } = await replay(scenario(), seed, values.trace);
  console.log(text);
  process.exitCode = report.violations.length > 0 ? 1 : 0;
}

async function many(): Promise<void> {
  const base = values.base === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(values.base);
  const started = performance.now();
  let broken = 0;
  if (!values.json) console.log(`seeds from ${base}`);
  const totals = await longRun({
    operations: Number(values.operations),
    base,
    scenarios: values.scenario === undefined ? undefined : [scenario()],
    enough: () => performance.now() - started > Number(values.minutes) * 60_000,
    async failed(report, of) {
      const say = values.json ? console.error : console.log;
      if (broken++ < SHRUNK_MAX) say(printFailure(report, await shrink(of, report)));
      else say(`${report.violations[0]?.checker}: ${report.violations[0]?.says}. Replay: ${replayCommand(report)}`);
    },
  });
  if (values.json) console.log(JSON.stringify(totals.toJSON()));
  else console.log(totals.print((performance.now() - started) / 1000));
  process.exitCode = broken > 0 ? 1 : 0;
}

function sum(parts: string): void {
  const totals = new Totals();
  for (const part of JSON.parse(parts) as ReturnType<Totals['toJSON']>[]) totals.addJSON(part);
  console.log(totals.print(Number(values.seconds)));
}

if (values.sum !== undefined) sum(values.sum);
else if (values.seed === undefined) await many();
else await one(Number(values.seed));
