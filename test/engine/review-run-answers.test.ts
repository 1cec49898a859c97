/**
 * Goal: what a function given to `run` returned is kept where the app says, whoever drove it. Method: a run and a resume of it, by clients
 * with no feature, that keep answers and that keep none; then the next process asks.
 */
import { describe, expect, test } from 'vitest';
import { type OnceOptions, resumeOne, run } from '../../src/entries/index.js';
import { answers, idle, lost } from '../support/server.js';
import { NAME, newWorld, ONE, pay, resumed, type World, watched } from '../support/world.js';

const BARE = { use: [], namespace: 'ann' } as const;
const failsOnce = (world: World, value: unknown) => {
  let runs = 0;
  return async ({ key }: { key: string }) => {
    if (runs++ === 0) throw new TypeError('socket hang up');
    world.server.charged.add(key);
    return value;
  };
};

test.for([true, false])('a run that broke off and was resumed gives its value after a restart, without `answers` (a server: %s)', async (server) => {
  const world = newWorld();
  const { tab, once } = world.open({ ...BARE, limits: { attempts: 1 } }, { server });
  await world.end(tab, watched(run(once, NAME, failsOnce(world, { id: 'ch_1' }))) as Promise<never>);
  expect(await world.run(resumed(once))).toMatchObject([{ outcome: { effect: 'done' } }]);
  const next = tab.reload();
  expect(await world.run(run(next.once(BARE), NAME, () => 'another'))).toEqual({ id: 'ch_1' });
});

describe('what a client says of its answers', () => {
  /** What is stored of a run, by a client and a run with these options. */
  async function storedBy(client: OnceOptions['keep'], own?: OnceOptions['keep']): Promise<unknown> {
    const world = newWorld();
    const { once } = world.open({ ...BARE, keep: client }, { server: true });
    await world.run(run(once, NAME, ({ key }) => void world.server.charged.add(key), { keep: own }));
    return world.record()?.answer;
  }

  test.for([false, 'memory'] as const)('%s: no value of a run is stored, either', async (response) => {
    expect(await storedBy({ response })).toBeUndefined();
    expect(await storedBy({ response }, { response: 'disk' })).toBeDefined();
    expect(await storedBy({}, { response })).toBeUndefined();
  });

  test('nothing: it is stored, and an explicit `undefined` of the run counts as absent', async () => {
    expect(await storedBy(undefined)).toBeDefined();
    expect(await storedBy(undefined, { response: undefined })).toBeDefined();
  });
});

test("what fails in a resume counts for its server's retry budget, and not for functions whose names begin alike", async () => {
  const world = newWorld();
  const options = { namespace: 'ann', keep: { request: true }, ...ONE } as const;
  const { tab, once } = world.open(options);
  await world.end(tab, pay(once), idle(lost()));
  const next = tab.reload();
  await world.end(next, watched(resumeOne(next.once(options), NAME)), idle(answers(503)));
  const { budgets } = next.in(() => (globalThis as never)[Symbol.for('oncefetch')] as { budgets: Map<string, number> });
  expect([...budgets.keys()]).toEqual(['https://shop.example']);
});
