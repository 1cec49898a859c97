/** Goal: what `resume` tells of a `run` is its outcome: the function's value is no Response, and is not given as one. */
import { expect, test } from 'vitest';
import { type Resumed, run } from '../../src/entries/index.js';
import { NAME, newWorld, resumed, watched } from '../support/world.js';

/** What `resume` tells of a run whose function broke off the first time, and gives `value` the second time. */
async function resumedWith(value: unknown): Promise<Resumed[]> {
  const world = newWorld();
  const { tab, once } = world.open({ limits: { attempts: 1 } }, { server: true });
  let runs = 0;
  const effect = async ({ key }: { key: string }) => {
    if (runs++ === 0) throw new TypeError('socket hang up');
    world.server.charged.add(key);
    return value;
  };
  await world.end(tab, watched(run(once, NAME, effect)) as Promise<never>);
  return world.run(resumed(once));
}

test("a value with an 'ok' of its own does not pass for a refused Response", async () => {
  expect(await resumedWith({ ok: false, reason: 'a note for the caller' })).toMatchObject([{ name: NAME, outcome: { effect: 'done' }, response: undefined }]);
});

test('a Response that the function gave is one', async () => {
  expect((await resumedWith(Response.json({}, { status: 201 })))[0]?.response?.status).toBe(201);
});
