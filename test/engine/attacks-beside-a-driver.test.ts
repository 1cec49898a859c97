/** Goal: a call beside another context's driver is told what is true of its own press, and of what that driver may still send. */
import { expect, test } from 'vitest';
import { answers, charged, delayed, unreachable } from '../support/server.js';
import { DAY, HOUR, newWorld, pay, rest, SECOND } from '../support/world.js';

const CONTEXTS = [
  ['tabs with a lock', {}],
  ['processes with leases', { server: true, locks: false }],
] as const;

test.each(CONTEXTS)("%s: a call that waited for one that never left is not told the end of the operation before, with repeat: 'always'", async (_, of) => {
  const world = newWorld();
  const one = world.open({ namespace: 'ann', repeat: 'always' }, of);
  const two = world.open({ namespace: 'ann', repeat: 'always' }, of);
  world.server.plays(charged(answers(201)), delayed(5 * SECOND, unreachable()), charged(answers(201)));
  await world.end(one.tab, pay(one.once));
  await world.clock.advance(HOUR);
  const first = pay(one.once, { limits: { attempts: 1 } });
  await rest();
  const second = pay(two.once);
  expect((await world.end(one.tab, first)).outcome).toMatchObject({ type: 'unsent' });
  expect((await world.end(two.tab, second)).outcome).toMatchObject({ type: 'fresh' });
  expect(world.server.charged.size).toBe(2);
});

test.each(CONTEXTS)('%s: nor that of one whose time is over', async (_, of) => {
  const world = newWorld();
  const one = world.open({ namespace: 'ann', keep: { forMs: HOUR } }, of);
  const two = world.open({ namespace: 'ann', keep: { forMs: HOUR } }, of);
  world.server.plays(charged(answers(201)), delayed(5 * SECOND, unreachable()), charged(answers(201)));
  await world.end(one.tab, pay(one.once));
  await world.clock.advance(DAY);
  const first = pay(one.once, { limits: { attempts: 1 } });
  await rest();
  const second = pay(two.once);
  expect((await world.end(one.tab, first)).outcome).toMatchObject({ type: 'unsent' });
  expect((await world.end(two.tab, second)).outcome).toMatchObject({ type: 'fresh' });
  expect(world.server.charged.size).toBe(2);
});
