/** Goal: a request goes out only if there is time to hear its answer. Method: a hook after which the attempt's time is over. */
import { expect } from 'vitest';
import { answers, delayed } from '../support/server.js';
import { pay, SECOND, test } from '../support/world.js';

test('a headers hook blocked the thread for longer than an attempt may take: the attempt does not leave, and the next one has its full time', async ({
  world,
}) => {
  let asked = 0;
  const headers = () => {
    // A hook that computes passes no control to timers, so none has cut it off.
    if (++asked === 1) world.clock.jump(31 * SECOND);
    return {};
  };
  const { tab, once } = world.open({ headers, limits: { attemptMs: 30 * SECOND } });
  world.server.otherwise = delayed(2 * SECOND, answers(201));
  expect(await world.end(tab, pay(once))).toMatchObject({ status: 201, outcome: { effect: 'done', attempts: 1 } });
  expect(world.server.arrivals).toHaveLength(1);
});

test('if no attempt has time to leave, nothing was sent', async ({ world }) => {
  const headers = () => {
    world.clock.jump(11 * SECOND);
    return {};
  };
  const { tab, once } = world.open({ headers, limits: { attemptMs: 10 * SECOND, attempts: 2 } });
  world.server.otherwise = answers(201);
  expect((await world.end(tab, pay(once))).outcome).toMatchObject({ effect: 'none', type: 'unsent', attempts: 0 });
  expect(world.server.arrivals).toHaveLength(0);
});
