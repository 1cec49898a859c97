import { expect, test } from 'vitest';
import { answers, lost, charged, replays, cut } from '../support/server.js';
import { newWorld, pay } from '../support/world.js';

test('pays', async () => {
  const world = newWorld();
  const { tab, once } = world.open();
  world.server.plays(charged(lost()), cut(201), replays());
  const end = await world.end(tab, pay(once));
  expect(end).toMatchObject({ status: 201, outcome: { type: 'replayed', effect: 'done', attempts: 3 } });
  expect(new Set(world.server.keys).size).toBe(1);
});
test('must fail', async () => {
  const world = newWorld();
  world.server.plays(answers(200));
});
