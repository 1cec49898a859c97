/** Goal: what `move` leaves in the user's namespace is what may have had an effect, and it is at home there. */
import { expect } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { move } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, lost, replays, unreachable } from '../support/server.js';
import { ONE, pay, rest, test } from '../support/world.js';

test("a user's press that never left does not keep out a guest's payment that may have charged", async ({ world }) => {
  const tab = world.tab({ resends: true });
  const before = await pressOffline(tab, (page) => pay(page.once({ namespace: 'ann' })));
  const { outcome } = await world.end(before, pay(before.once({ namespace: 'guest' }), ONE), charged(lost()));
  const next = before.reload();
  const ann = next.once({ namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  expect((await world.end(next, pay(ann), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
});

test("nor does it while the user's call still waits for the network in another tab", async ({ world }) => {
  const [waiting, tab] = [world.tab({ resends: true, locks: false }), world.tab({ resends: true, locks: false })];
  waiting.online = false;
  const late = pay(waiting.once({ namespace: 'ann' }));
  await rest();
  const { outcome } = await world.end(tab, pay(tab.once({ namespace: 'guest' }), ONE), charged(lost()));
  const ann = tab.once({ namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  waiting.connect(true);
  expect((await world.end(waiting, late)).outcome).toMatchObject({ effect: 'unknown' });
  expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ effect: 'done', key: outcome?.key });
  expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
});

test('what an operation stood for before comes back under the name that it was moved to', async ({ world, tab }) => {
  const { outcome } = await world.end(tab, pay(tab.once({ namespace: 'guest' })), answers(400, { code: 'bad_card' }));
  const next = await pressOffline(tab, (page) => pay(page.once({ namespace: 'guest' })));
  const ann = next.once({ namespace: 'ann' });
  await world.run(move(ann, 'guest'));
  const [moved] = world.records as OnceRecord[];
  expect((await world.end(next, pay(ann, ONE), unreachable())).outcome).toMatchObject({ type: 'unsent' });
  expect(world.records).toMatchObject([{ id: moved?.id, ns: moved?.ns, state: 'retired', keyInUse: true, key: outcome?.key }]);
});
