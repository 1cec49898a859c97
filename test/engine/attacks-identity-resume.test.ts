/** Goal: a resume that is overtaken by a log-in loses nothing of the user before. */
import { expect, test } from 'vitest';
import { pending } from '../../src/entries/index.js';
import { answers } from '../support/server.js';
import { newWorld, pay, rest, resumed } from '../support/world.js';

test('a press without a network, stored with its request: another user logs in while it is resumed, and it is still there for the first one', async () => {
  const world = newWorld();
  const tab = world.tab();
  tab.online = false;
  void pay(tab.once({ namespace: 'ann', keep: { request: true } }));
  await rest();
  const next = tab.reload();
  next.online = true;
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
