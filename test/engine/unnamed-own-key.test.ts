/**
 * Goal: a call without a name that bears a key of the caller's own is found again by that key, and nothing of namespace and key
 * can be read off the id of its record. Method: such calls whose answer is lost, in processes and pages, before and after a
 * log-out and a move.
 */
import { describe, expect } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { clear, move } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import { answers, charged, lost, replays } from '../support/server.js';
import { CART, test, URL_, type World, watched } from '../support/world.js';

const OWN = 'order-4711';
const SITES = [
  ['a process', { server: true, locks: false }],
  ['a page', {}],
] as const;

const call = (once: Once, key = OWN): Promise<Response> =>
  watched(once.fetch(URL_, { method: 'POST', headers: { 'idempotency-key': key }, body: JSON.stringify(CART), once: { limits: { attempts: 1 } } }));
const stored = (world: World): OnceRecord[] => world.records as OnceRecord[];
describe.each(SITES)('%s', (_, of) => {
  const open = (world: World, namespace = 'ann@shop.example') => world.open({ namespace }, of);

  test('shows neither namespace nor key in an id', async ({ world }) => {
    const { tab, once } = open(world);
    await world.end(tab, call(once), charged(lost()));
    expect(stored(world).map(({ id }) => id)).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    await world.run(clear(once));
    expect(JSON.stringify(stored(world))).not.toContain('ann@shop.example');
  });

  test('goes on with what its key left behind, and with nothing of another key or another namespace', async ({ world }) => {
    const first = open(world);
    await world.end(first.tab, call(first.once), charged(lost()));
    const next = open(world);
    expect((await world.end(next.tab, call(next.once), replays())).outcome).toMatchObject({ type: 'replayed', key: OWN, resumed: true });
    expect((await world.end(next.tab, call(next.once, 'order-4712'), charged(answers(201)), charged(answers(201)))).outcome).toMatchObject({
      type: 'fresh',
      resumed: false,
    });
    const other = open(world, 'bob');
    expect((await world.end(other.tab, call(other.once, 'order-4713'))).outcome).toMatchObject({ resumed: false });
  });

  test('is found after a move', async ({ world }) => {
    const guest = open(world, 'guest');
    await world.end(guest.tab, call(guest.once), charged(lost()));
    const user = open(world);
    await world.run(move(user.once, 'guest'));
    expect((await world.end(user.tab, call(user.once), replays())).outcome).toMatchObject({ type: 'replayed', resumed: true });
  });

  test('sends nothing where it can not be told what is stored', async ({ world }) => {
    const { tab, once } = open(world);
    tab.faults.next('look-fails');
    expect(await world.end(tab, call(once))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
  });
});
