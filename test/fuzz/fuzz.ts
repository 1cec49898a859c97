/**
 * Runs seeded cases. Each case has a seed of its own. A failure prints it, and `FUZZ_SEED=<seed>` runs that case alone, once. Every case
 * must end with a typed and true outcome, and leave no rejection unhandled.
 */
import { expect } from 'vitest';
import { isOnceError } from '../../src/errors.js';
import type { Once } from '../../src/once.js';
import { Random } from '../simulation/random.js';
import type { Tab } from '../support/tab.js';
import { type End, World } from '../support/world.js';

const REPLAYED = process.env['FUZZ_SEED'];
const FRESH = Math.trunc(Math.random() * 2 ** 31);

/** Runs `cases` cases, each from its own seed. An error tells the seed of the case. */
export async function fuzz(cases: number, one: (random: Random) => Promise<void>): Promise<void> {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  try {
    for (let index = 0; index < (REPLAYED === undefined ? cases : 1); index++) {
      const seed = REPLAYED === undefined ? FRESH + index : Number(REPLAYED);
      try {
        await one(new Random(seed));
        await new Promise((resolve) => setImmediate(resolve));
        expect(unhandled, 'rejections that nobody handled').toEqual([]);
      } catch (error) {
        throw new Error(`FUZZ_SEED=${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
  } finally {
    process.off('unhandledRejection', note);
  }
}

/** Values of every wrong type. */
export const NONSENSE: readonly unknown[] = [
  undefined,
  null,
  true,
  false,
  0,
  -1,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  '',
  'x',
  '\ud800',
  [],
  [1],
  {},
  { status: 201 },
  1n,
  Symbol('x'),
  () => {},
  new Date(0),
  new Map(),
  new Uint8Array(3),
  Promise.resolve(1),
];

/** By how much a call may exceed its own limits: the most time that the store may add, ms. */
const GRACE_MS = 60_000;

export interface Stage {
  readonly world: World;
  readonly tab: Tab;
  readonly once: Once;
  /** Runs the world until the call ends, and checks what must be true of every end. */
  ends(call: () => Promise<Response>): Promise<End>;
}

export function stage(options: Parameters<Tab['once']>[0], totalMs = 120_000): Stage {
  const world = new World();
  const { tab, once } = world.open(options);
  return {
    world,
    tab,
    once,
    async ends(call) {
      const begun = world.clock.now();
      // A `fetch` never throws synchronously; it rejects.
      const promise = call();
      promise.catch(() => {});
      const end = await world.end(tab, promise);
      expect(world.clock.now() - begun, 'ms until it ended').toBeLessThanOrEqual(totalMs + GRACE_MS);
      truthful(world, end);
      return end;
    },
  };
}

/** Checks that an end is typed, and that its outcome agrees with the server's log. */
export function truthful(world: World, { response, error, outcome }: End): void {
  if (error !== undefined) expect(isOnceError(error) || error instanceof TypeError || error instanceof RangeError, `rejected with ${String(error)}`).toBe(true);
  if (!outcome) return;
  const took = world.server.charged.has(outcome.key ?? null);
  if (outcome.effect === 'none') expect(took, `told ${outcome.type}`).toBe(false);
  if (outcome.type === 'fresh') expect(took, 'told fresh').toBe(true);
  if (outcome.effect === 'unknown' && response) expect(response.ok, 'unknown must not look like success').toBe(false);
  expect(JSON.stringify(outcome).length, 'size of an outcome').toBeLessThan(10_000);
}
