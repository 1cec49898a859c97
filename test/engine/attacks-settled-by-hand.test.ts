/** Goal: what the app says is done is remembered as long as what an answer said: a key that can be made again does not come round inside its window. */
import { expect, test } from 'vitest';
import { derived, settle } from '../../src/entries/index.js';
import { answers, charged, lost } from '../support/server.js';
import { DAY, HOUR, NAME, newWorld, pay } from '../support/world.js';

test("settled as 'done' by hand, and forgotten before the server forgets: the next one has another key", async () => {
  const world = newWorld();
  const { tab, once } = world.open({ keep: { forMs: HOUR }, limits: { attempts: 1 } });
  world.server.plays(charged(lost()), answers(201));
  await world.end(tab, pay(once, { repeat: 'always', key: derived }));
  await world.run(settle(once, NAME, 'done'));
  const forgetAt = world.record()?.forgetAt ?? 0;
  expect(forgetAt - world.clock.now()).toBeGreaterThanOrEqual(DAY);
  await world.clock.advance(2 * HOUR);
  await world.end(tab, pay(once, { repeat: 'always', key: derived }));
  expect(new Set(world.server.keys).size).toBe(2);
});
