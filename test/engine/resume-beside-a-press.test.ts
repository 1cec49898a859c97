/**
 * Goal: a call without a name that goes on with an equal one which was lost, while `resume` goes on with that one, too: one
 * key, and neither waits for a lock that the other one has. Method: `resume` begins at every moment of the press.
 */
import { expect } from 'vitest';
import { type Once, type Resumed, unnamed } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { charged, honest, lost } from '../support/server.js';
import { resumed, SECOND, test, URL_, watched } from '../support/world.js';

const send = (once: Once) => watched(once.fetch(URL_, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text":"hello"}' }));

test.for(Array.from({ length: 12 }, (_, index) => index + 1))('resume begins at crossing %i of the press', async (at, { world }) => {
  const options = { namespace: 'ann', keep: { request: true }, use: [...everything(), unnamed()] } as const;
  const before = world.open({ ...options, limits: { attempts: 1 } });
  await world.end(before.tab, send(before.once), charged(lost()));
  const tab = before.tab.reload();
  const once = tab.once(options);
  world.server.otherwise = honest();
  let other: Promise<Resumed[]> | undefined;
  tab.at(at, () => {
    other = resumed(once);
  });
  const begun = world.clock.now();
  expect((await world.end(tab, send(once))).outcome).toMatchObject({ effect: 'done' });
  expect(world.clock.now() - begun).toBeLessThan(SECOND);
  for (const { outcome } of (await world.run(Promise.resolve(other))) ?? []) expect(outcome.effect).toBe('done');
  expect(world.locks.names).toEqual([]);
});
