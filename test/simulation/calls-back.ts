/** What hooks of the app do with the client in the middle of a call. */
import type { App } from './app.js';
import type { Context } from './context.js';
import { act } from './deeds.js';
import type { OpFacts } from './facts.js';
import type { Action } from './plan.js';
import type { Random } from './random.js';
import type { World } from './world.js';

/**
 * Sometimes uses the client from inside a hook. `op`: the operation that the hook was asked about; half of the time the hook acts on that
 * one, else on any. If the result is a promise, the hook waits for it before it answers.
 */
export function callBack(world: World, app: App, context: Context, random: Random, op: OpFacts | undefined): Promise<unknown> | undefined {
  if (!world.faults.hits(random, 'callsBack') || context.dead || context.closed) return undefined;
  const about = random.chance(0.5) ? op : undefined;
  const name = (about?.name[1] as number | undefined) ?? random.int(0, world.options.workload.operations - 1);
  const here = { at: world.time.now, slot: world.slots.findIndex((slot) => slot.context === context) };
  const last = about?.payloads.at(-1) ?? 1;
  const action = random.pick<Action>([
    { ...here, do: 'press', name, payload: last },
    { ...here, do: 'press', name, payload: last + 1 },
    { ...here, do: 'list' },
    { ...here, do: 'resume', name },
    { ...here, do: 'resume-all', concurrency: 2, takes: Number.POSITIVE_INFINITY },
    { ...here, do: 'forget', name, anyway: false },
    { ...here, do: 'settle', name },
    { ...here, do: 'log-out', to: random.int(0, 1), forget: random.chance(0.3) },
    { ...here, do: 'close' },
  ]);
  if (here.slot < 0) return undefined;
  world.log(() => `${context.id} calls back: ${action.do}`);
  const answered = Promise.resolve(act(world, app, action));
  return random.of('waits').chance(0.5) ? answered : undefined;
}
