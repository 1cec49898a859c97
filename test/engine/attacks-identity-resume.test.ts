/** Goal: a resume that is overtaken by a log-in loses nothing of the user before. */
import { expect, test } from 'vitest';
import { pending } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers } from '../support/server.js';
import { newWorld, pay, resumed } from '../support/world.js';

test('a press without a network, stored with its request: another user logs in while it is resumed, and it is still there for the first one', async () => {
  const world = newWorld();
  const next = await pressOffline(world.tab(), (page) => pay(page.once({ namespace: 'ann', keep: { request: true } })));
  let user = 'ann';
  const once = next.once({ namespace: () => user, keep: { request: true } });
  expect(await world.run(pending(once))).toMatchObject([{ sent: 'no', resumable: true }]);
  next.at(4, () => {
    user = 'bob';
  });
  await world.run(resumed(once));
  expect(user).toBe('bob');
  user = 'ann';
  expect(await world.run(pending(once))).toMatchObject([{ sent: 'no', resumable: true }]);
  world.server.plays(answers(201));
  await world.run(resumed(once));
  expect(world.server.arrivals).toHaveLength(1);
});
