/** Goal: a key that stays in use is the next one that is sent, and the outcomes told for it are true, whatever came in between. */
import { describe, expect } from 'vitest';
import { generic } from '../../src/entries/dialects.js';
import { clear, forget, move, type Once, type OnceOptions, resumeOne } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, delayed, type Entry, lost, replays, textOf } from '../support/server.js';
import { CART, DAY, HOUR, MINUTE, NAME, newWorld, ONE, pay, rest, SECOND, saying, test, type World, watched } from '../support/world.js';

const CARD_B = { ...CART, card: 'B' };
const REFUSED = charged(answers(400, { code: 'bad_card' }));
const ELSEWHERE = 'https://other.example/api/payments';

test.for([
  ['edited, with whenChanged: refuse', { body: CARD_B, whenChanged: 'refuse' }, { whenChanged: 'refuse' }],
  ['to another address', { url: ELSEWHERE }, {}],
  ['to another address, edited', { url: ELSEWHERE, body: CARD_B }, {}],
] as const)('a press under another key that never left: %s: the next press of the first kind sends the key in use', async ([_, between, last], { world }) => {
  const tab = world.tab({ resends: true });
  const { outcome } = await world.end(tab, pay(tab.once(), last), REFUSED);
  const next = await pressOffline(tab, (page) => pay(page.once(), between));
  expect(world.record()).toMatchObject({ state: 'pending', ambiguous: false });
  await world.end(next, pay(next.once(), last), replays());
  expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
});

test('with whenChanged: refuse, a payload that never left does not lead a third payload to the key in use', async ({ world }) => {
  const tab = world.tab({ resends: true });
  const refuse = { whenChanged: 'refuse' } as const;
  const { outcome } = await world.end(tab, pay(tab.once(), refuse), answers(400, { code: 'bad_card' }));
  const next = await pressOffline(tab, (page) => pay(page.once(), { ...refuse, body: CARD_B }));
  const third = await world.end(next, pay(next.once(), { ...refuse, body: { ...CART, card: 'C' } }), answers(201));
  expect(third.outcome).toMatchObject({ type: 'fresh' });
  expect(third.outcome?.key).not.toBe(outcome?.key);
});

test.for([
  ['a call with a key of its own', {}, { key: 'mine-0001' }],
  ['an edit with whenChanged: refuse', {}, { body: CARD_B, whenChanged: 'refuse' }],
  ['a dialect that puts its key elsewhere', { dialect: generic({ header: 'X-Key' }) }, {}],
] as const)('%s does not send a key that stays in use', async ([_, options, call], { world }) => {
  const tab = world.tab({ resends: true });
  const { outcome } = await world.end(tab, pay(tab.once()), answers(400, { code: 'bad_card' }));
  const next = await world.end(tab, pay(tab.once(options), call), answers(201));
  expect(next.outcome).toMatchObject({ type: 'fresh' });
  expect(next.outcome?.key).not.toBe(outcome?.key);
});

test('resumeOne reports no outcome of a refused operation whose key stays in use, because nothing of it is left to send', async ({ world, tab, once }) => {
  await world.end(tab, pay(once), answers(400, { code: 'bad_card' }));
  expect((await world.end(tab, watched(resumeOne(once, NAME)))).outcome).toMatchObject({ effect: 'unknown', reason: 'record' });
});

describe('a copy sent unseen took effect, the other copy was refused, and the server repeats the first answer to another payload', () => {
  test('the answer is not told as certain', async ({ world }) => {
    const tab = world.tab({ resends: true });
    const once = tab.once();
    await world.end(tab, pay(once), REFUSED);
    expect((await world.end(tab, pay(once, { body: CARD_B }), replays())).outcome).toMatchObject({ effect: 'done', certain: false, changed: true });
  });

  test('if-changed: the changed payload is sent all the same', async ({ world }) => {
    const tab = world.tab({ resends: true });
    const once = tab.once();
    await world.end(tab, pay(once, { repeat: 'if-changed' }), REFUSED);
    expect((await world.end(tab, pay(once, { body: CARD_B, repeat: 'if-changed' }), replays(), answers(201))).outcome).toMatchObject({ type: 'fresh' });
    expect(world.server.arrivals).toHaveLength(3);
  });
});

test('a copy sent unseen took effect, and resume goes on with an edited press that never left: the answer is not told as certain', async ({ world }) => {
  const tab = world.tab({ resends: true });
  const options = { namespace: 'ann', keep: { request: true } };
  await world.end(tab, pay(tab.once(options)), REFUSED);
  const next = await pressOffline(tab, (page) => pay(page.once(options), { body: CARD_B }));
  const { outcome } = await world.end(next, watched(resumeOne(next.once(options), NAME)), replays());
  expect(outcome).toMatchObject({ effect: 'done', certain: false, changed: true });
  expect(world.record()?.payloads).toHaveLength(2);
});

test('if the key window ends while a call under a key in use waits, the call goes on under a new key', async ({ world }) => {
  const { tab, once } = world.open({ limits: { totalMs: 10 * MINUTE, keyWindowMs: HOUR } });
  const { outcome } = await world.end(tab, pay(once), answers(400, { code: 'bad_card' }));
  await world.clock.advance(HOUR - 2 * MINUTE);
  const paid = await world.end(tab, pay(once), answers(429, '', { 'retry-after': '300' }), answers(201));
  expect(paid).toMatchObject({ status: 201, outcome: { type: 'fresh' } });
  expect(world.server.keys).toEqual([outcome?.key, outcome?.key, paid.outcome?.key]);
  expect(paid.outcome?.key).not.toBe(outcome?.key);
});

describe.each(['if-changed', 'always'] as const)('repeat %s, and reconcile says that the earlier payload is done', (repeat) => {
  test.for([
    ['after the key window', {}, DAY],
    ['at another address', { url: ELSEWHERE }, 0],
    ['after the key window, with a Response', { reconcile: async () => Response.json({ id: 'ch_1' }) }, DAY],
  ] as const)('%s: the new payload is sent all the same', async ([_, more, wait], { world }) => {
    const asked: unknown[] = [];
    const { tab, once } = world.open({ repeat, reconcile: saying(asked, 'done'), limits: { attempts: 1 } });
    await world.end(tab, pay(once), charged(lost()));
    await world.clock.advance(wait);
    expect((await world.end(tab, pay(once, { body: CARD_B, ...more }), answers(201))).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
    expect(world.server.arrivals).toHaveLength(2);
  });

  test('after a mismatch: the new payload is sent all the same', async ({ world }) => {
    const asked: unknown[] = [];
    const { tab, once } = world.open({ repeat, reconcile: saying(asked, 'done'), limits: { attempts: 1 } });
    await world.end(tab, pay(once), charged(lost()));
    const next = tab.reload();
    const again = next.once({ repeat, reconcile: saying(asked, 'done'), limits: { attempts: 1 } });
    world.server.plays(answers(422, { title: 'Idempotency-Key is already used' }), answers(201));
    expect((await world.end(next, pay(again, { body: CARD_B }))).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
    expect(world.server.arrivals).toHaveLength(3);
  });

  test.for([undefined, 'profile-0001'])('a payload that may be done itself is not sent again (key: %s)', async (key, { world }) => {
    const { tab, once } = world.open({ repeat, reconcile: saying([], 'done'), limits: { attempts: 1 } });
    await world.end(tab, pay(once, { key }), lost());
    await world.end(tab, pay(once, { key, body: CARD_B }), charged(lost()));
    expect((await world.end(tab, pay(once, { key, body: CARD_B }), answers(402))).outcome).toMatchObject({ effect: 'done' });
    expect(world.server.arrivals).toHaveLength(3);
  });

  test('a literal key can serve no second payload: nothing is sent, and the second payload is told as none', async ({ world }) => {
    const { tab, once } = world.open({ repeat, reconcile: saying([], 'done'), limits: { attempts: 1 } });
    const key = 'profile-0001';
    await world.end(tab, pay(once, { key }), charged(lost()));
    await world.clock.advance(DAY);
    expect(await world.end(tab, pay(once, { key, body: CARD_B }))).toMatchObject({ code: 'ERR_ONCE_KEY_BURNT', outcome: { effect: 'none' } });
    expect(world.record()).toMatchObject({ state: 'settled' });
  });

  test('the same payload again is told as done', async ({ world }) => {
    const { tab, once } = world.open({ repeat, reconcile: saying([], 'done'), limits: { attempts: 1 } });
    await world.end(tab, pay(once), charged(lost()));
    await world.clock.advance(DAY);
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done', from: 'reconcile' } });
  });
});

test('repeat never: if reconcile says done, another payload is told that the name is done, and nothing is sent', async ({ world }) => {
  const { tab, once } = world.open({ reconcile: saying([], 'done'), limits: { attempts: 1 } });
  await world.end(tab, pay(once), charged(lost()));
  await world.clock.advance(DAY);
  expect(await world.end(tab, pay(once, { body: CARD_B }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done' } });
});

describe('a log-out or a log-in while a call waits for the network loses no key in use', () => {
  const CARD_B = { ...CART, card: 'B' };
  const CARD_C = { ...CART, card: 'C' };
  const REFUSED = charged(answers(400, { code: 'bad_card' }));

  describe('a copy that the browser sent unseen took effect, and the other copy was refused', () => {
    test.for([
      ['the card of that press', CARD_B],
      ['yet another card', CARD_C],
    ] as const)('an offline press whose page dies, a log-out, a log-in, then %s: the same key is sent', async ([_, body], { world }) => {
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

    test.for([false, true])(
      'forget of a press that never left, with evenIfUnknown: %s; the key stays in use only without that',
      async (evenIfUnknown, { world }) => {
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
      },
    );

    test('forget of a press that never left is refused if the key in use can no longer be read', async ({ world }) => {
      const tab = world.tab({ resends: true });
      await world.end(tab, pay(tab.once()), answers(400, { code: 'bad_card' }));
      const next = await pressOffline(tab, (page) => pay(page.once(), { body: CARD_B }));
      world.damage(({ previous, ...record }) => ({ ...record, previous: { ...previous, key: 'x' } }));
      expect(await world.run(forget(next.once(), NAME).catch((error: unknown) => error))).toMatchObject({ code: 'ERR_ONCE_RECORD' });
      expect(world.record()).toMatchObject({ state: 'pending' });
    });
  });
});

describe('a key in use, without locks: a second tab resumes while the first one presses again', () => {
  const CARD_B = { ...CART, card: 'B' };
  const OPTIONS: OnceOptions = { namespace: 'ann', keep: { request: true }, limits: { attempts: 1 } };
  const TAB = { locks: false, resends: true } as const;
  const SLOW = (entry: Entry): Entry => delayed(5 * SECOND, entry);

  /** Checks that only one key ever left, and that it was charged once. */
  function oneKey(world: World, key: string | undefined): void {
    expect(new Set(world.server.keys)).toEqual(new Set([key]));
    expect([...world.server.charged]).toEqual([key]);
  }

  /** A key that stays in use after a 401 from in front of the application, behind which a copy has charged. */
  async function inUse() {
    const world = newWorld();
    const one = world.open(OPTIONS, TAB);
    const { outcome } = await world.end(one.tab, pay(one.once), charged(answers(401)));
    expect(outcome).toMatchObject({ effect: 'unknown', reason: 'refused' });
    return { world, one, other: world.open(OPTIONS, TAB), key: outcome?.key };
  }

  describe('refused in front of the application, so that the effect is unknown', () => {
    test.each([
      ['the same card', CART],
      ['another card', CARD_B],
    ])('the other tab resumes it, and this one presses with %s meanwhile: the press waits', async (_, body) => {
      const { world, one, other, key } = await inUse();
      const [resumed] = await world.begin(watched(resumeOne(other.once, NAME)), SLOW(replays()));
      const pressed = pay(one.once, { body });
      expect((await world.end(other.tab, resumed)).outcome).toMatchObject({ effect: 'done', key });
      expect((await world.end(one.tab, pressed)).outcome).toMatchObject({ effect: 'done', key });
      oneKey(world, key);
    });

    test('this tab presses with another card, and the other one resumes meanwhile: the resume waits', async () => {
      const { world, one, other, key } = await inUse();
      const [pressed] = await world.begin(pay(one.once, { body: CARD_B }), SLOW(replays()));
      const resumed = watched(resumeOne(other.once, NAME));
      expect((await world.end(one.tab, pressed)).outcome).toMatchObject({ effect: 'done', key });
      expect((await world.end(other.tab, resumed)).outcome).toMatchObject({ effect: 'done', key });
      oneKey(world, key);
    });

    test('the tab that resumes hangs until its lease has run out: the press goes on under the same key', async () => {
      const { world, one, other, key } = await inUse();
      const [resumed] = await world.begin(watched(resumeOne(other.once, NAME)), lost(), replays());
      other.tab.freeze();
      expect((await world.end(one.tab, pay(one.once, { body: CARD_B }))).outcome).toMatchObject({ effect: 'done', key });
      other.tab.thaw();
      await world.run(resumed.catch(() => {}));
      oneKey(world, key);
    });
  });

  describe('refused, and then taken over by an offline press whose page died', () => {
    const takenUp = async () => {
      const world = newWorld();
      const tab = world.tab(TAB);
      const { outcome } = await world.end(tab, pay(tab.once(OPTIONS)), charged(answers(400, { code: 'bad_card' })));
      const next = await pressOffline(tab, (page) => pay(page.once(OPTIONS), { body: CARD_B }));
      expect(world.record()).toMatchObject({ state: 'pending', ambiguous: false, key: outcome?.key });
      return { world, one: { tab: next, once: next.once(OPTIONS) }, other: world.open(OPTIONS, TAB), key: outcome?.key };
    };

    test.each([true, false])('the other tab resumes it beside a press of this one; the press comes first: %s', async (pressFirst) => {
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
});

test('every attempt was refused in front of a browser that may resend, then a resume sends nothing: a refusal still counts', async ({ world }) => {
  const tab = world.tab({ resends: true });
  const { outcome } = await world.end(tab, pay(tab.once(), { limits: { attempts: 1 } }), answers(429));
  expect(outcome).toMatchObject({ effect: 'unknown', reason: 'refused' });
  const next = tab.reload();
  expect((await world.end(next, watched(resumeOne(next.once(), NAME)))).outcome).toMatchObject({ effect: 'unknown', reason: 'record', attempts: 0 });
  expect((await world.end(next, pay(next.once()), answers(400, { code: 'bad_card' }))).outcome).toMatchObject({ type: 'rejected', effect: 'none' });
});

test('a payload that another tab has heard to be refused is not sent again to ask about it', async ({ world }) => {
  const [one, two] = [world.open({}, { resends: true }), world.open({}, { resends: true })];
  const mismatch = answers(422, { code: 'idempotency_key_reused', message: 'this idempotency key was used with a different payload' });
  expect((await world.end(one.tab, pay(one.once, ONE), answers(403))).outcome).toMatchObject({ effect: 'unknown', reason: 'refused' });
  expect((await world.end(two.tab, pay(two.once), answers(400, { code: 'no_stock' }))).outcome).toMatchObject({ effect: 'none' });
  const edited = { ...CART, amount: 20 };
  expect((await world.end(one.tab, pay(one.once, { body: edited, limits: { attempts: 2 } }), lost(), mismatch)).outcome).toMatchObject({ effect: 'unknown' });
  expect(new Set(world.server.keys).size).toBe(1);
  expect((await Promise.all(world.server.arrivals.map(textOf))).slice(2)).toEqual([JSON.stringify(edited), JSON.stringify(edited)]);
});
