/** Runs one world from its seed to its end. */
import { App } from './app.js';
import { calmDown } from './calm.js';
import { dialectFor } from './client.js';
import { act } from './deeds.js';
import type { Apart, Checker, Violation } from './facts.js';
import type { FaultName, FaultRates } from './faults.js';
import { type Action, planOf } from './plan.js';
import { Random } from './random.js';
import type { Scenario, WorldOptions } from './scenario.js';
import { simulateSignals } from './signals.js';
import { World } from './world.js';

/** What to play instead of what the seed draws: shrinking plays fewer actions, and leaves out kinds of faults. */
export interface Less {
  readonly plan?: readonly Action[] | undefined;
  readonly without?: readonly (keyof FaultRates)[] | undefined;
}

export interface RunOptions extends Less {
  readonly tracing?: boolean | undefined;
  readonly checkers?: readonly Checker[] | undefined;
}

export interface Report {
  readonly seed: number;
  readonly scenario: string;
  readonly plan: readonly Action[];
  readonly options: WorldOptions;
  readonly violations: readonly Violation[];
  readonly operations: number;
  readonly calls: number;
  readonly attempts: number;
  readonly copies: number;
  readonly effects: number;
  readonly events: number;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly struck: ReadonlyMap<FaultName, number>;
  readonly aparts: ReadonlyMap<Apart, number>;
  readonly leftPending: number;
  readonly onlyReconcile: number;
  readonly lines: readonly string[];
}

export async function run(scenario: Scenario, seed: number, { plan, without = [], tracing, checkers }: RunOptions = {}): Promise<Report> {
  const random = new Random(seed).of(scenario.name);
  const drawn = scenario.options(random.of('options'), seed);
  const faults = { ...drawn.faults };
  for (const name of without) delete faults[name];
  const dialect = drawn.client.dialect ?? dialectFor(drawn.server, random.of('dialect'));
  const { laterClient: later } = drawn;
  const options = { ...drawn, faults, client: { ...drawn.client, dialect }, laterClient: later && { ...later, dialect: later.dialect ?? dialect } };
  const world = new World(random.seed, options, { tracing: tracing ?? false, ...(checkers ? { checkers } : {}) });
  const app = new App(world);
  const actions = plan ?? options.plan ?? planOf(random.of('plan'), world.slots.length, options.workload);
  // In a page, an unhandled rejection goes to the error report. Here it is a violation, with its seed.
  const unhandled = (error: unknown): void =>
    world.books.violate('outcome-is-true', undefined, `a rejection that nobody handles: ${String((error as Error)?.stack ?? error)}`);
  process.on('unhandledRejection', unhandled);
  // Stack traces of expected errors cost a tenth of a world's time.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = tracing ? stackTraceLimit : 0;
  const nativeSignals = simulateSignals();
  try {
    for (const action of actions) world.time.after(action.at, () => act(world, app, action));
    await world.time.run(Math.max(0, ...actions.map(({ at }) => at)) + 1);
    await calmDown(world, app);
  } catch (error) {
    world.books.violate('settles-when-calm', undefined, String((error as Error).stack ?? error));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    nativeSignals();
    process.off('unhandledRejection', unhandled);
  }
  return report(scenario, seed, world, actions);
}

function report(scenario: Scenario, seed: number, world: World, plan: readonly Action[]): Report {
  const { books, servers, stats } = world;
  const outcomes = new Map<string, number>();
  let calls = 0;
  let operations = 0;
  for (const op of books.ops.values()) {
    operations += op.calls.length > 0 ? op.epoch + 1 : 0;
    for (const call of op.calls) {
      calls++;
      const type = call.dead
        ? 'never told, its context died'
        : call.told?.outcome
          ? call.told.outcome.type
          : call.told
            ? 'aborted, or refused as a call'
            : 'never told';
      outcomes.set(type, (outcomes.get(type) ?? 0) + 1);
    }
  }
  return {
    seed,
    scenario: scenario.name,
    plan,
    options: world.options,
    violations: books.violations,
    operations,
    calls,
    attempts: world.attempts,
    copies: world.copies,
    effects: servers.reduce((sum, { effects }) => sum + effects.length, 0),
    events: world.time.fired,
    outcomes,
    struck: world.struck,
    aparts: books.aparts,
    leftPending: stats.leftPending,
    onlyReconcile: stats.onlyReconcile,
    lines: world.lines,
  };
}
