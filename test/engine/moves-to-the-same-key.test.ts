/**
 * Goal: where the app gave the guest's and the user's operation the same key, `move` makes them one, and nobody says "none" of it while an attempt
 * of either may have its effect. Method: both press with one key before the move.
 */
import { describe, expect } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import { generic } from '../../src/entries/dialects.js';
import { forget, move, type Once, pending, settle, subscribe } from '../../src/entries/index.js';
import { answers, charged, delayed, type Entry, hangs, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { HOUR, MINUTE, NAME, ONE, onScreen, type PayOptions, pay, resumed, SECOND, test, type World } from '../support/world.js';

const key = 'order-42';

/** A page that presses, and then dies. */
async function dies(world: World, namespace: string, meets: Entry, options: PayOptions = ONE): Promise<void> {
  await world.dies(world.open({ namespace }), { ...options, key }, meets);
}

/** A press whose outcome the page does not know. */
async function isLost(
  world: World,
  namespace: string,
  meets: Entry = lost(),
  options: Parameters<World['open']>[0] = {},
): Promise<{ readonly tab: Tab; readonly once: Once }> {
  const page = world.open({ namespace, ...options });
  expect(await world.end(page.tab, pay(page.once, { ...ONE, key }), meets)).toMatchObject({ outcome: { effect: 'unknown' } });
  return page;
}

const PER_ACCOUNT = { dialect: generic() };
const LATE = delayed(25 * SECOND, answers(201));
/** A press with an attempt that may take longer than those of other clients, and what the attempt meets. */
const LONG = { limits: { attempts: 1, attemptMs: 100 * SECOND } } as const;
const LATER = delayed(95 * SECOND, answers(201));

describe('settle takes no none while an attempt may arrive', () => {
  test('of the guest, whose page has died; once it cannot, it takes none', async ({ world }) => {
    const { once } = await isLost(world, 'ann');
    await dies(world, 'guest', hangs());
    await world.run(move(once, 'guest'));
    await world.refusesNone(once);
    await world.takesNone(once, 46 * SECOND);
  });

  test('of the guest, also once a press of the user has ended that was under way', async ({ world }) => {
    await dies(world, 'guest', LATE);
    const { tab, once } = world.open({ namespace: 'ann' });
    const [call] = await world.begin(pay(once, { ...ONE, key }), delayed(2 * SECOND, lost()));
    await world.run(move(world.open({ namespace: 'ann' }).once, 'guest'));
    expect(await world.end(tab, call)).toMatchObject({ outcome: { effect: 'unknown' } });
    await world.refusesNone(once, 20 * SECOND);
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
    await world.refusesNone(once);
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
    await world.refusesNone(once, 24 * SECOND);
    await world.clock.advance(2 * SECOND);
    expect(world.server.charged.size).toBe(1);
  });

  test.for([
    ['guest', 'ann'],
    ['ann', 'guest'],
  ])('that takes longer than those of other clients: of %s', async ([long, other], { world }) => {
    await dies(world, long as string, LATER, LONG);
    await dies(world, other as string, hangs());
    const { once } = world.open({ namespace: 'ann' });
    await world.run(move(once, 'guest'));
    await world.refusesNone(once, 94 * SECOND);
    await world.clock.advance(SECOND);
    expect(world.server.charged.size).toBe(1);
  });

  test('that takes longer, of the first of two guests', async ({ world }) => {
    const { once } = await isLost(world, 'ann');
    await dies(world, 'guest', LATER, LONG);
    await dies(world, 'visitor', hangs());
    await world.run(move(once, 'guest'));
    await world.run(move(once, 'visitor'));
    await world.refusesNone(once, 94 * SECOND);
    await world.clock.advance(SECOND);
    expect(world.server.charged.size).toBe(1);
  });

  test('of the user, whose page had begun long before the move and dies after it', async ({ world }) => {
    await isLost(world, 'guest');
    await world.clock.advance(60 * SECOND);
    const { tab, once } = world.open({ namespace: 'ann' });
    world.server.plays(answers(503, undefined, { 'Retry-After': '50' }), LATE);
    void pay(once, { key });
    await world.clock.advance(51 * SECOND);
    const other = world.open({ namespace: 'ann' });
    await world.run(move(other.once, 'guest'));
    tab.kill();
    await world.refusesNone(other.once);
    await world.clock.advance(25 * SECOND);
    expect(world.server.charged.size).toBe(1);
  });
});

test('a press of the user that is under way sends nothing more, also in the page of the guest, whose store has no leases', async ({ world }) => {
  const user = { id: 'guest' };
  const { tab, once } = world.open({ namespace: () => user.id }, { claims: { shared: 'context', survives: 'context' } });
  await world.begin(pay(once, { ...ONE, key }), LATE, delayed(2 * SECOND, answers(503)));
  user.id = 'ann';
  const [call] = await world.begin(pay(once, { key }));
  await world.run(move(once, 'guest'));
  expect(await world.end(tab, call)).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST', outcome: { effect: 'unknown', attempts: 1 } });
  await world.refusesNone(once);
  await world.clock.advance(23 * SECOND);
  expect(world.server.charged.size).toBe(1);
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

test("that every attempt of the user was refused proves nothing about the guest's, which took effect after a move that was interrupted", async ({ world }) => {
  const guest = world.open({ namespace: 'guest' }, { resends: true });
  expect(await world.end(guest.tab, pay(guest.once), answers(401))).toMatchObject({ outcome: { effect: 'unknown', reason: 'refused' } });
  const left = world.record() as OnceRecord;
  const { tab, once } = world.open({ namespace: 'ann' }, { resends: true });
  await world.run(move(once, 'guest'));
  // The page was closed before it removed the guest's record.
  world.medium.set(left.id, left);
  expect(await world.end(guest.tab, pay(guest.once, ONE), charged(lost()))).toMatchObject({ outcome: { effect: 'unknown' } });
  await world.run(move(once, 'guest'));
  expect(await world.end(tab, pay(once), answers(402))).toMatchObject({ outcome: { effect: 'unknown', reason: 'refused-after-ambiguity' } });
});

describe("the operation of the user has ended as none, and the guest's attempt took effect after that", () => {
  async function endedBefore(world: World, options?: Parameters<World['open']>[0]) {
    const page = await isLost(world, 'ann', lost(), options);
    await world.takesNone(page.once, MINUTE);
    await isLost(world, 'guest', charged(lost()), options);
    await world.run(move(page.once, 'guest'));
    return page;
  }

  test('the operation is open, and the next press gets its answer', async ({ world }) => {
    const { tab, once } = await endedBefore(world);
    expect(await world.run(pending(once))).toMatchObject([{ name: NAME, sent: 'maybe' }]);
    expect(await world.end(tab, pay(once, { ...ONE, key }), replays())).toMatchObject({ outcome: { effect: 'done' } });
  });

  test('where the server keeps keys for each account, nothing is sent', async ({ world }) => {
    const { tab, once } = await endedBefore(world, PER_ACCOUNT);
    expect(await world.end(tab, pay(once, { ...ONE, key }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
  });
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

  test('nothing is sent after it either if the calls before had a longer one', async ({ world }) => {
    const longer = { limits: { keyWindowMs: 100 * HOUR } };
    await isLost(world, 'guest', charged(lost()), longer);
    await world.clock.advance(22 * HOUR);
    await isLost(world, 'ann', lost(), longer);
    const { tab, once } = world.open({ namespace: 'ann' });
    await world.run(move(once, 'guest'));
    await world.clock.advance(4 * HOUR);
    expect(await world.end(tab, pay(once, { ...ONE, key }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
  });

  test('where the server keeps keys for each account, nothing is sent either', async ({ world }) => {
    const { tab, once } = await isLost(world, 'ann', lost(), PER_ACCOUNT);
    await isLost(world, 'guest', charged(lost()), PER_ACCOUNT);
    await world.run(move(once, 'guest'));
    expect(await world.end(tab, pay(once, { ...ONE, key }))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
  });

  test('a guest who has sent nothing, because the device was offline, takes nothing from that', async ({ world }) => {
    const { tab, once } = await isLost(world, 'ann');
    const guest = world.open({ namespace: 'guest' });
    guest.tab.online = false;
    await world.dies(guest, { key });
    const own = world.writes.filter(({ from }) => from === tab.name).at(-1)?.next;
    await world.run(move(once, 'guest'));
    expect(world.records).toEqual([own]);
    expect(await world.end(tab, pay(once, { ...ONE, key }), answers(201))).toMatchObject({ outcome: { effect: 'done' } });
  });
});

describe("the user's operation under the key is done, and the guest's attempt may have had an effect", () => {
  async function doneBefore(world: World, options?: Parameters<World['open']>[0]) {
    const { tab, once } = world.open({ namespace: 'ann', ...options });
    expect(await world.end(tab, pay(once, { key }), answers(201))).toMatchObject({ outcome: { effect: 'done' } });
    const guest = await isLost(world, 'guest', charged(lost()), options);
    const screen = onScreen(once);
    const conflicts: string[] = [];
    subscribe(once, (event) => void (event.type === 'diagnostic' && event.code === 'move-conflict' && conflicts.push(event.key)));
    await world.run(move(once, 'guest'));
    expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
    return { open: await world.run(pending(guest.once)), conflicts };
  }

  test('they are one, and the screen goes on showing that it is done', async ({ world }) => {
    expect(await doneBefore(world)).toEqual({ open: [], conflicts: [] });
  });

  test("where the server keeps keys for each account, they are two: the guest's stays, and `move` reports the conflict", async ({ world }) => {
    expect(await doneBefore(world, PER_ACCOUNT)).toMatchObject({ open: [{ name: NAME, key, sent: 'maybe' }], conflicts: [key] });
  });

  test('but not if it is what an interrupted move has copied, and the app says that it is done', async ({ world }) => {
    const guest = await isLost(world, 'guest', charged(lost()), PER_ACCOUNT);
    const left = world.record() as OnceRecord;
    const { once } = world.open({ namespace: 'ann', ...PER_ACCOUNT });
    await world.run(move(once, 'guest'));
    // The page was closed before it removed the guest's record.
    world.medium.set(left.id, left);
    await world.run(settle(once, NAME, 'done'));
    await world.run(move(once, 'guest'));
    expect(await world.run(pending(guest.once))).toEqual([]);
  });
});

describe('a move was interrupted after it had copied the payment of the guest, and the app has settled the copy as none', () => {
  async function interrupted(world: World, presses: PayOptions, goesOn: (guest: { readonly tab: Tab; readonly once: Once }) => unknown = () => {}) {
    const guest = world.open({ ...ONE, namespace: 'guest' });
    expect(await world.end(guest.tab, pay(guest.once, presses), lost())).toMatchObject({ outcome: { effect: 'unknown' } });
    const { tab, once } = world.open({ namespace: 'ann' });
    const { id } = world.record() as OnceRecord;
    const before = world.writes.length;
    await world.run(move(once, 'guest'));
    // The page was closed before it removed the guest's record.
    world.medium.set(id, world.writes.slice(before).find((write) => write.id === id)?.next ?? null);
    await world.clock.advance(SECOND);
    await goesOn(guest);
    await world.takesNone(once);
    return { guest, tab, once };
  }

  test('the next move does not open it again: a resume would charge after that', async ({ world }) => {
    const { guest, once } = await interrupted(world, { keep: { request: true } });
    await world.run(move(once, 'guest'));
    expect(await world.run(resumed(once))).toEqual([]);
    for (const one of [once, guest.once]) expect(await world.run(pending(one))).toEqual([]);
  });

  test.for<[string, 'before' | 'after']>([
    ['whose attempt may still have been on its way then', 'before'],
    ['after that', 'after'],
  ])('but if the guest has gone on, %s, it is open, and the next press gets its answer', async ([, when], { world }) => {
    const goesOn = async (): Promise<void> => {
      const { once } = world.open({ ...ONE, namespace: 'guest' });
      await world.begin(pay(once), LATE);
      world.tabs.at(-1)?.kill();
    };
    const { tab, once } = await interrupted(world, {}, when === 'before' ? goesOn : undefined);
    if (when === 'after') await goesOn();
    await world.clock.advance(MINUTE);
    expect(world.server.charged.size).toBe(1);
    await world.run(move(once, 'guest'));
    expect(await world.end(tab, pay(once), replays())).toMatchObject({ outcome: { effect: 'done' } });
  });
});

describe("the user's operation under the key has ended without an effect, and the guest's attempt may have one", () => {
  test.for<[string, { readonly evenIfUnknown: true } | undefined]>([
    ['settled as none', undefined],
    ['forgotten', { evenIfUnknown: true }],
  ])('%s: nobody says none of the key until the attempt cannot arrive any more, and the next press learns what it did', async ([, forgets], { world }) => {
    const { tab, once } = await isLost(world, 'ann');
    await world.clock.advance(46 * SECOND);
    await (forgets ? world.run(forget(once, NAME, forgets)) : world.takesNone(once));
    await dies(world, 'guest', LATE);
    await world.run(move(once, 'guest'));
    expect(await world.run(pending(once))).toMatchObject([{ name: NAME, key, sent: 'maybe' }]);
    await world.refusesNone(once);
    await world.clock.advance(26 * SECOND);
    expect(world.server.charged.size).toBe(1);
    expect(await world.end(tab, pay(once, { ...ONE, key }), replays())).toMatchObject({ outcome: { effect: 'done' } });
  });
});

test('every attempt of the user was refused, and one of the guest since then took effect: a refusal of the next one proves nothing', async ({ world }) => {
  const tab = world.tab({ resends: true });
  const [guest, once] = ['guest', 'ann'].map((namespace) => tab.once({ ...ONE, namespace })) as [Once, Once];
  expect(await world.end(tab, pay(guest), answers(429))).toMatchObject({ outcome: { effect: 'unknown', reason: 'refused' } });
  // The third update removes the guest's record. It fails, so both records stay.
  const { update } = tab.store;
  let updates = 0;
  Object.assign(tab.store, {
    update: (...call: Parameters<typeof update>) => (++updates === 3 ? Promise.reject(new Error('the store is away')) : update(...call)),
  });
  await expect(world.run(move(once, 'guest'))).rejects.toThrow('the store is away');
  expect(await world.end(tab, pay(guest), charged(lost()))).toMatchObject({ outcome: { effect: 'unknown' } });
  await world.run(move(once, 'guest'));
  expect(await world.end(tab, pay(once), answers(400, { code: 'bad_card' }))).toMatchObject({ outcome: { effect: 'unknown' } });
});
