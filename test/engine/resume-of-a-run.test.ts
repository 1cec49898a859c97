/** Goal: what `resume` tells of a `run` is its outcome: the function's value is no Response, and is not given as one. */
import { expect, test } from 'vitest';
import { type Once, type Resumed, resume, run } from '../../src/entries/index.js';
import { NAME, newWorld, watched } from '../support/world.js';

/** All that is resumed. */
async function allOf(once: Once): Promise<Resumed[]> {
  const found: Resumed[] = [];
  for await (const one of resume(once)) found.push(one);
  return found;
}

test("a value with an 'ok' of its own does not pass for a refused Response", async () => {
  const world = newWorld();
  const { tab, once } = world.open({ limits: { attempts: 1 } }, { server: true });
  let runs = 0;
  const effect = async ({ key }: { key: string }) => {
    if (runs++ === 0) throw new TypeError('socket hang up');
    world.server.charged.add(key);
    return { ok: false, reason: 'a note for the caller' };
  };
  await world.end(tab, watched(run(once, NAME, effect)) as Promise<never>);
  const resumed = await world.run(allOf(once));
  expect(resumed).toMatchObject([{ name: NAME, outcome: { effect: 'done' }, response: undefined }]);
});

test('a Response that the function gave is one', async () => {
  const world = newWorld();
  const { tab, once } = world.open({ limits: { attempts: 1 } }, { server: true });
  let runs = 0;
  const effect = async ({ key }: { key: string }) => {
    if (runs++ === 0) throw new TypeError('socket hang up');
    world.server.charged.add(key);
    return Response.json({}, { status: 201 });
  };
  await world.end(tab, watched(run(once, NAME, effect)) as Promise<never>);
  const [resumed] = await world.run(allOf(once));
  expect(resumed?.response?.status).toBe(201);
});
