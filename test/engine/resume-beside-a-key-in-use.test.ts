/**
 * Goal: a key that stays in use after a refusal stays the only one, where a second tab resumes the operation while the first one
 * presses again, and the two share no lock manager. Method: a copy that the browser sent unseen has charged under that key, and the
 * server repeats its answer, or what it refused.
 */
import { describe, expect, test } from 'vitest';
import { type OnceOptions, resumeOne } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, delayed, type Entry, lost, replays } from '../support/server.js';
import { CART, NAME, newWorld, pay, rest, SECOND, type World, watched } from '../support/world.js';

const CARD_B = { ...CART, card: 'B' };
const OPTIONS: OnceOptions = { namespace: 'ann', keep: { request: true }, limits: { attempts: 1 } };
const TAB = { locks: false, resends: true } as const;
const SLOW = (entry: Entry): Entry => delayed(5 * SECOND, entry);

/** Only one key ever left, and it was charged once. */
function oneKey(world: World, key: string | undefined): void {
  expect(new Set(world.server.keys)).toEqual(new Set([key]));
  expect([...world.server.charged]).toEqual([key]);
}

/** The key is in use: a login in front, behind which a copy has charged. `refused`: by a refusal that leaves no doubt. */
async function inUse() {
  const world = newWorld();
  const one = world.open(OPTIONS, TAB);
  const { outcome } = await world.end(one.tab, pay(one.once), charged(answers(401)));
  expect(outcome).toMatchObject({ effect: 'unknown', reason: 'refused' });
  return { world, one, other: world.open(OPTIONS, TAB), key: outcome?.key };
}

describe('refused in front, so that nobody knows', () => {
  test.each([
    ['the same card', CART],
    ['another card', CARD_B],
  ])('the other tab resumes it, and this one presses with %s meanwhile: it waits', async (_, body) => {
    const { world, one, other, key } = await inUse();
    world.server.plays(SLOW(replays()));
    const resumed = watched(resumeOne(other.once, NAME));
    await rest();
    const pressed = pay(one.once, { body });
    expect((await world.end(other.tab, resumed)).outcome).toMatchObject({ effect: 'done', key });
    expect((await world.end(one.tab, pressed)).outcome).toMatchObject({ effect: 'done', key });
    oneKey(world, key);
  });

  test('this tab presses with another card, and the other one resumes meanwhile: it waits', async () => {
    const { world, one, other, key } = await inUse();
    world.server.plays(SLOW(replays()));
    const pressed = pay(one.once, { body: CARD_B });
    await rest();
    const resumed = watched(resumeOne(other.once, NAME));
    expect((await world.end(one.tab, pressed)).outcome).toMatchObject({ effect: 'done', key });
    expect((await world.end(other.tab, resumed)).outcome).toMatchObject({ effect: 'done', key });
    oneKey(world, key);
  });

  test('the tab that resumes hangs until its lease is over: the press goes on under the same key', async () => {
    const { world, one, other, key } = await inUse();
    world.server.plays(lost(), replays());
    const resumed = watched(resumeOne(other.once, NAME));
    await rest();
    other.tab.freeze();
    expect((await world.end(one.tab, pay(one.once, { body: CARD_B }))).outcome).toMatchObject({ effect: 'done', key });
    other.tab.thaw();
    await world.run(resumed.catch(() => {}));
    oneKey(world, key);
  });
});

describe('refused, and taken up by a press without a network whose page died', () => {
  const takenUp = async () => {
    const world = newWorld();
    const tab = world.tab(TAB);
    const { outcome } = await world.end(tab, pay(tab.once(OPTIONS)), charged(answers(400, { code: 'bad_card' })));
    const next = await pressOffline(tab, (page) => pay(page.once(OPTIONS), { body: CARD_B }));
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: false, key: outcome?.key });
    return { world, one: { tab: next, once: next.once(OPTIONS) }, other: world.open(OPTIONS, TAB), key: outcome?.key };
  };

  test.each([true, false])('the other tab resumes it beside a press of this one, which comes first: %s', async (pressFirst) => {
    const { world, one, other, key } = await takenUp();
    world.server.plays(SLOW(replays()));
    const press = () => pay(one.once, { body: { ...CART, card: 'C' } });
    const resume = () => watched(resumeOne(other.once, NAME));
    const early = pressFirst ? press() : resume();
    await rest();
    const late = pressFirst ? resume() : press();
    for (const [tab, call] of [
      [pressFirst ? one.tab : other.tab, early],
      [pressFirst ? other.tab : one.tab, late],
    ] as const)
      expect((await world.end(tab, call)).outcome).toMatchObject({ effect: 'done', key });
    oneKey(world, key);
  });
});
