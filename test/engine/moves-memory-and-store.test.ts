/**
 * Goal: if a guest's name has one record in memory and another one in the store, `move` brings the one that is likelier to have had an effect, and reports the
 * key of the one that it leaves. Method: the first write of one page fails, and another page of the guest stores its own record.
 */
import { expect } from 'vitest';
import { move, subscribe } from '../../src/entries/index.js';
import { answers, charged, type Entry, lost, replays } from '../support/server.js';
import { type End, newWorld, ONE, pay, test } from '../support/world.js';

const REFUSED = answers(400, { code: 'bad_card' });

test.for<[string, Entry, Entry, 'memory' | 'disk']>([
  ['a refused key in memory and a payment in the store that may have charged: the payment moves', REFUSED, charged(lost()), 'disk'],
  ['a payment in memory that may have charged and a refused key in the store: the payment moves', charged(lost()), REFUSED, 'memory'],
  ['two refused keys: the key of this page moves', charged(REFUSED), REFUSED, 'memory'],
  ['two payments that may have charged: the payment of this page moves', charged(lost()), lost(), 'memory'],
])('%s', async ([_, inMemory, inStore, goes], { world }) => {
  const [tab, other] = [world.tab({ resends: true }), world.tab({ resends: true })];
  tab.faults.next('fail-before-commit');
  const ends: Record<'memory' | 'disk', End> = {
    memory: await world.end(tab, pay(tab.once({ namespace: 'guest' }), ONE), inMemory),
    disk: await world.end(other, pay(other.once({ namespace: 'guest' }), ONE), inStore),
  };
  for (const [storedIn, { outcome }] of Object.entries(ends)) expect(outcome).toMatchObject({ storedIn });
  const ann = tab.once({ namespace: 'ann' });
  const left: string[] = [];
  subscribe(ann, (event) => void (event.type === 'diagnostic' && event.code === 'move-conflict' && left.push(event.key)));
  await world.run(move(ann, 'guest'));
  expect(left).toEqual([ends[goes === 'memory' ? 'disk' : 'memory'].outcome?.key]);
  expect((await world.end(tab, pay(ann), replays())).outcome).toMatchObject({ effect: 'done', key: ends[goes].outcome?.key });
});

test("a guest's press in the middle of a move does not hide the record that was moved in memory", async () => {
  for (let turns = 0; turns < 100; turns++) {
    const world = newWorld();
    const tab = world.tab();
    const [guest, ann] = [tab.once({ namespace: 'guest' }), tab.once({ namespace: 'ann' })];
    tab.faults.next('fail-before-commit');
    const { outcome } = await world.end(tab, pay(guest, ONE), charged(lost()));
    const moving = move(ann, 'guest');
    for (let turn = 0; turn < turns; turn++) await undefined;
    world.server.otherwise = charged(lost());
    await world.end(tab, pay(guest, ONE));
    await world.run(moving);
    world.server.otherwise = replays();
    expect((await world.end(tab, pay(ann))).outcome, `after ${turns} turns`).toMatchObject({ effect: 'done', key: outcome?.key });
  }
});

test.for<[string, Entry, code: string | undefined, conflicts: string[]]>([
  ['was refused: the damaged record takes its place', REFUSED, 'ERR_ONCE_RECORD', []],
  ['may have been sent: it stays, and `move` reports the conflict', charged(lost()), undefined, ['x']],
])("a damaged payment of the guest meets the user's own payment in memory, which %s", async ([, own, code, conflicts], { world }) => {
  const [tab, other] = [world.tab({ resends: true }), world.tab({ resends: true })];
  await world.end(other, pay(other.once({ namespace: 'guest' }), ONE), charged(lost()));
  world.damage((record) => ({ ...record, key: 'x' }));
  const ann = tab.once({ namespace: 'ann' });
  tab.faults.next('fail-before-commit');
  expect((await world.end(tab, pay(ann, ONE), own)).outcome).toMatchObject({ storedIn: 'memory' });
  const left: string[] = [];
  subscribe(ann, (event) => void (event.type === 'diagnostic' && event.code === 'move-conflict' && left.push(event.key)));
  await world.run(move(ann, 'guest'));
  expect(left).toEqual(conflicts);
  expect((await world.end(tab, pay(ann), ...(code ? [] : [replays()]))).code).toBe(code);
});
