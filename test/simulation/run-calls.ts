/** A function given to `run` that makes calls of the client, under names of their own: first the charge, then the fee. */
import { type Attempt, type Once, run } from '../../src/entries/index.js';
import { isOnceError } from '../../src/errors.js';
import type { RunOptions } from '../../src/option-types.js';
import type { App } from './app.js';
import type { Context } from './context.js';
import { act } from './deeds.js';
import { type Call, type KeyFacts, PARTS } from './facts.js';
import type { Action } from './plan.js';
import { USERS, type World } from './world.js';

/** Mostly longer than a lease lasts. */
const SLEEPS_MS = [5000, 120_000] as const;

/** The first call was refused, so nothing has been done. */
class Refused extends Error {
  readonly forGood: boolean;

  constructor(forGood: boolean) {
    super('simulated: the charge is refused');
    this.forGood = forGood;
  }
}

export function runCalls(
  world: World,
  app: App,
  context: Context,
  once: Once,
  call: Call,
  options: Pick<RunOptions<unknown>, 'limits' | 'onOutcome'>,
): Promise<unknown> {
  const { op, payload, user } = call;
  /** The last run of the function ended with a charge that had no effect. */
  let refused = false;
  const verdict: RunOptions<unknown>['verdict'] = (end) => {
    if (refused && context.client.sure) return 'rejected-for-good';
    if (!('error' in end) || !(end.error instanceof Refused)) return undefined;
    return end.error.forGood ? 'rejected-for-good' : 'rejected';
  };
  const part = async (attempt: Attempt, name: string, given: KeyFacts | undefined): Promise<Response | undefined> => {
    await midway(world, app, context, call);
    // The rest of a dead context's function never happens.
    if (context.dead) return new Promise(() => {});
    // The name would be that of another user's operation.
    if (context.user !== user) throw new Error('simulated: somebody else has logged in');
    const key = context.client.childKeys ? attempt.child(name) : undefined;
    const told = await app.call(context, world.partOf(op, name), { payload, within: given && { call, key: given }, ...(key !== undefined && { key }) });
    const { effect = 'unknown' } = context.outcomeOf(told) ?? {};
    if (effect === 'done') return undefined;
    const first = name === PARTS[0];
    refused = first && effect === 'none';
    // In a page, the refusal of a later call would count as that of the run, as docs/services.md says.
    if (effect === 'none' && !(told instanceof Error) && (context.kind === 'process' || first)) return told as Response;
    if (effect === 'none' && first) throw new Refused(isOnceError(told, 'ERR_ONCE_KEY_BURNT'));
    throw new Error(`simulated: no word of the ${name}`);
  };
  const effect = async (attempt: Attempt): Promise<unknown> => {
    const given = context.keys.get(op);
    const atWork = { op, context };
    world.functions.add(atWork);
    refused = false;
    try {
      for (const name of op.parts) {
        const refusal = await part(attempt, name, given);
        if (refusal) return refusal;
      }
      return 'booked';
    } finally {
      world.functions.delete(atWork);
    }
  };
  return run(once, op.name, effect, { ...options, verdict, fingerprint: () => payload });
}

/** Sometimes something happens before the function makes a call: its context sleeps, and the work is given to another one, or the user logs out or in. */
async function midway(world: World, app: App, context: Context, { op, payload }: Call): Promise<void> {
  const random = world.faults.occasion(`${context.slot} midway`);
  const slot = world.slots.findIndex((one) => one.context === context);
  if (!world.faults.hits(random, 'interrupted') || slot < 0 || context.closed) return;
  const here = { at: world.time.now, slot };
  const { guests, workload } = world.options;
  // Who takes over does not sleep as well. Only in Node does a function that was taken over make no call any more.
  const hasOther = [...world.functions].some((one) => one.op === op && one.context !== context);
  const action = random.pick<Action | undefined>([
    context.kind === 'process' && !hasOther ? { ...here, do: 'freeze', ms: random.int(...SLEEPS_MS) } : undefined,
    guests ? { ...here, do: 'log-in' } : workload.logOut ? { ...here, do: 'log-out', to: random.int(0, USERS.length - 1) } : undefined,
  ]);
  if (!action) return;
  world.log(() => `${context.id} in its function: ${action.do}`);
  const other = (slot + random.of('other').int(0, world.slots.length - 1)) % world.slots.length;
  if (action.do === 'freeze' && other !== slot)
    world.time.after(
      random.of('given').int(0, 5000),
      () => void act(world, app, { do: 'press', at: world.time.now, slot: other, name: op.name[1] as number, payload }),
    );
  const done = Promise.resolve(act(world, app, action));
  if (random.of('waits').chance(0.5)) await done;
  await context.sleep(random.of('ms').int(0, 2000));
}
