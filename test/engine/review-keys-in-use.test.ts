/** Goal: a log-out or a log-in while a call waits for the network drops no key under which a copy may have had an effect. */
import { describe, expect } from 'vitest';
import { clear, forget, move, type Once } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, replays } from '../support/server.js';
import { CART, NAME, pay, test } from '../support/world.js';

const CARD_B = { ...CART, card: 'B' };
const CARD_C = { ...CART, card: 'C' };
const REFUSED = charged(answers(400, { code: 'bad_card' }));

describe('a browser sent a copy unseen, which charged, and the other one was refused', () => {
  test.for([
    ['the card of that press', CARD_B],
    ['yet another card', CARD_C],
  ] as const)('a press without a network, whose page dies, a log-out, a log-in, then %s: the same key', async ([_, body], { world }) => {
    const tab = world.tab({ resends: true });
    const { outcome } = await world.end(tab, pay(tab.once({ namespace: 'ann' })), REFUSED);
    const next = await pressOffline(tab, (page) => pay(page.once({ namespace: 'ann' }), { body: CARD_B }));
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: false, key: outcome?.key });
    const ann = next.once({ namespace: 'ann' });
    await world.run(clear(ann));
    await world.end(next, pay(ann, { body }), replays());
    expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
  });

  test("a guest's press that never left does not take the place of the user's key in use", async ({ world }) => {
    const tab = world.tab({ resends: true });
    const { outcome } = await world.end(tab, pay(tab.once({ namespace: 'ann' })), REFUSED);
    const next = await pressOffline(tab, (page) => pay(page.once({ namespace: 'guest' })));
    const ann: Once = next.once({ namespace: 'ann' });
    await world.run(move(ann, 'guest'));
    await world.end(next, pay(ann), replays());
    expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
  });

  test.for([false, true])('forget of a press that never left leaves the key in use, unless it is forgotten for good: %s', async (evenIfUnknown, { world }) => {
    const tab = world.tab({ resends: true });
    const { outcome } = await world.end(tab, pay(tab.once()), evenIfUnknown ? answers(400, { code: 'bad_card' }) : REFUSED);
    const next = await pressOffline(tab, (page) => pay(page.once(), { body: CARD_B }));
    const once = next.once();
    await world.run(forget(once, NAME, { evenIfUnknown }));
    expect(world.record()).toMatchObject({ state: 'retired', key: outcome?.key });
    expect(world.record()?.keyInUse).toBe(evenIfUnknown ? undefined : true);
    if (evenIfUnknown) return;
    await world.end(next, pay(once, { body: CARD_C }), replays());
    expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
  });
});
