/**
 * Goal: where the app gave the guest's and the user's operation the same key, `move` makes them one, and nobody says "none" of it while an attempt
 * of either may have its effect. Method: both press with one key before the move.
 */
import { describe, expect } from 'vitest';
import { generic } from '../../src/entries/dialects.js';
import { move, type Once, settle } from '../../src/entries/index.js';
import { answers, charged, delayed, type Entry, hangs, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { HOUR, NAME, ONE, pay, rest, SECOND, test, type World, watched } from '../support/world.js';

const BUSY = { code: 'ERR_ONCE_BUSY' };
const key = 'order-42';
const none = (world: World, once: Once): Promise<void> => world.run(watched(settle(once, NAME, 'none')));

/** A page that presses, and then dies. */
async function dies(world: World, namespace: string, meets: Entry): Promise<void> {
  const { tab, once } = world.open({ namespace });
  world.server.plays(meets);
  void pay(once, { ...ONE, key });
  await rest();
  tab.kill();
}

/** A press whose outcome the page does not know. */
async function isLost(
  world: World,
  namespace: string,
  meets: Entry = lost(),
  dialect?: ReturnType<typeof generic>,
): Promise<{ readonly tab: Tab; readonly once: Once }> {
  const page = world.open({ namespace, ...(dialect && { dialect }) });
  expect(await world.end(page.tab, pay(page.once, { ...ONE, key }), meets)).toMatchObject({ outcome: { effect: 'unknown' } });
  return page;
}

const LATE = delayed(25 * SECOND, answers(201));

describe('settle takes no none while an attempt may arrive', () => {
  test('of the guest, whose page has died; once it cannot, it takes none', async ({ world }) => {
    const { once } = await isLost(world, 'ann');
    await dies(world, 'guest', hangs());
    await world.run(move(once, 'guest'));
    await expect(none(world, once)).rejects.toMatchObject(BUSY);
    await world.clock.advance(46 * SECOND);
    await none(world, once);
  });

  test('of the guest, also once a press of the user has ended that was under way', async ({ world }) => {
    await dies(world, 'guest', LATE);
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(delayed(2 * SECOND, lost()));
    const call = pay(once, { ...ONE, key });
    await rest();
    await world.run(move(world.open({ namespace: 'ann' }).once, 'guest'));
    expect(await world.end(tab, call)).toMatchObject({ outcome: { effect: 'unknown' } });
    await world.clock.advance(20 * SECOND);
    await expect(none(world, once)).rejects.toMatchObject(BUSY);
    await world.clock.advance(4 * SECOND);
    expect(world.server.charged.size).toBe(1);
  });

  test('of the guest, if the page of the user has died, too, and first', async ({ world }) => {
    await dies(world, 'ann', hangs());
    await world.clock.advance(40 * SECOND);
    await dies(world, 'guest', LATE);
    await world.clock.advance(10 * SECOND);
    const { once } = world.open({ namespace: 'ann' });
    await world.run(move(once, 'guest'));
    await expect(none(world, once)).rejects.toMatchObject(BUSY);
    await world.clock.advance(16 * SECOND);
    expect(world.server.charged.size).toBe(1);
  });

  test.for([
    ['guest', 'visitor'],
    ['visitor', 'guest'],
  ])('of two guests, whose operations come one after the other: %j', async ([first, second], { world }) => {
    const { once } = await isLost(world, 'ann');
    await dies(world, 'guest', hangs());
    await world.clock.advance(10 * SECOND);
    await dies(world, 'visitor', LATE);
    for (const guest of [first, second] as string[]) await world.run(move(once, guest));
    await world.clock.advance(24 * SECOND);
    await expect(none(world, once)).rejects.toMatchObject(BUSY);
    await world.clock.advance(2 * SECOND);
    expect(world.server.charged.size).toBe(1);
  });
});

test("what the server refused to the user proves nothing about the guest's attempt, which took effect", async ({ world }) => {
  const declined = answers(402, { code: 'card_declined' });
  const { tab, once } = await isLost(world, 'ann', declined);
  await isLost(world, 'guest', charged(lost()));
  await world.clock.advance(300 * SECOND);
  await world.run(move(once, 'guest'));
  expect(await world.end(tab, pay(once, { ...ONE, key }), declined)).toMatchObject({ outcome: { effect: 'unknown' } });
  expect(await world.end(tab, pay(once, { ...ONE, key }), replays())).toMatchObject({ outcome: { effect: 'done' } });
});

describe("the guest's attempt took effect, and the user has sent nothing that arrived", () => {
  test('after the key window of the earlier attempt nothing is sent', async ({ world }) => {
    await isLost(world, 'guest', charged(lost()));
    await world.clock.advance(22 * HOUR);
    const { tab, once } = await isLost(world, 'ann');
    await world.run(move(once, 'guest'));
    await world.clock.advance(4 * HOUR);
    expect(await world.end(tab, pay(once, { ...ONE, key }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
  });

  test('where the server keeps keys for each account, nothing is sent either', async ({ world }) => {
    const { tab, once } = await isLost(world, 'ann', lost(), generic());
    await isLost(world, 'guest', charged(lost()), generic());
    await world.run(move(once, 'guest'));
    expect(await world.end(tab, pay(once, { ...ONE, key }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
  });

  test('a guest who has sent nothing, because the device was offline, takes nothing from that', async ({ world }) => {
    const { tab, once } = await isLost(world, 'ann');
    const guest = world.open({ namespace: 'guest' });
    guest.tab.online = false;
    void pay(guest.once, { key });
    await rest();
    guest.tab.kill();
    const own = world.writes.filter(({ from }) => from === tab.name).at(-1)?.next;
    await world.run(move(once, 'guest'));
    expect(world.records).toEqual([own]);
    expect(await world.end(tab, pay(once, { ...ONE, key }), answers(201))).toMatchObject({ outcome: { effect: 'done' } });
  });
});
