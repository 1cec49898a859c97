/** How the app of a world has set up its client: hooks, keys, and a server of its own that it can ask. */
import { GENERIC } from '../../src/dialects/generic.js';
import type { OnceOptions, OperationOptions } from '../../src/option-types.js';
import type { Context } from './context.js';
import type { OpFacts } from './facts.js';
import type { Random } from './random.js';
import type { ServerOptions } from './servers.js';
import type { World } from './world.js';

/** What an app may know of its server; never more than is true of it. */
export function dialectFor({ marker, mismatch, honours, accepts, anyAccount }: ServerOptions, random: Random): OnceOptions['dialect'] {
  const knows = honours && random.chance(0.5);
  return {
    ...GENERIC,
    replays: knows && marker && !accepts,
    perAccount: anyAccount === false,
    answersMismatch: knows ? mismatch !== 'replays' : undefined,
    ...(accepts && { polled: ({ json }) => ((json as { state?: unknown } | undefined)?.state === 'failed' ? ('failed' as const) : undefined) }),
  };
}

/** The app asks its own server, which tells the truth. */
export const reconcileIn =
  (world: World, context: Context): NonNullable<OnceOptions['reconcile']> =>
  ({ key }) =>
    context.port('reconcile', (resolve) => {
      const facts = world.books.keys.get(key);
      resolve(facts ? world.truth(facts.op, { but: context.id, key: facts }) : 'unknown');
    });

const hookIn =
  (world: World, context: Context): NonNullable<OnceOptions['headers']> =>
  ({ attempt }) =>
    context.port('hook', (resolve, reject) => {
      const { faults } = world;
      const random = faults.occasion(`${context.slot} hook`);
      if (faults.hits(random, 'hookThrows')) return reject(new Error('simulated: no token'));
      if (faults.hits(random, 'hookHangs')) return;
      const askedAt = world.time.now;
      const tell = (): void => {
        context.hook = { askedAt, answeredAt: world.time.now };
        resolve({ authorization: `attempt-${attempt}` });
      };
      if (faults.hits(random, 'hookDelays')) context.later(random.int(10, 20_000), tell);
      else tell();
    });

export function clientOptions(world: World, context: Context, later: boolean): OnceOptions {
  const {
    keys: _,
    reconciles,
    hooks,
    followsRedirects: __,
    runs: ___,
    unnamed: ____,
    ...options
  } = (later && world.options.laterClient) || world.options.client;
  return {
    ...options,
    namespace: () => context.device.user,
    ...(reconciles ? { reconcile: reconcileIn(world, context) } : {}),
    ...(hooks ? { headers: hookIn(world, context) } : {}),
  };
}

/** Not random: the caller's own, or a business identifier with the generation, so that a corrected card gets another one. */
export function keyFor(world: World, op: OpFacts): OperationOptions['key'] {
  const { keys } = world.options.client;
  if (keys === 'literal') return `order-${op.user}-${op.name[1]}`;
  return keys === 'derived' ? ({ generation }) => `order-${op.user}-${op.name[1]}-${generation}` : undefined;
}
