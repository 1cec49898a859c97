/** Goal: a key that stays in use is the next one, and what is told under it is true, whatever came in between. */
import { describe, expect } from 'vitest';
import { resumeOne } from '../../src/entries/index.js';
import { pressOffline } from '../support/press-offline.js';
import { answers, charged, lost, replays } from '../support/server.js';
import { CART, DAY, HOUR, MINUTE, NAME, pay, saying, test, watched } from '../support/world.js';

const CARD_B = { ...CART, card: 'B' };
const REFUSED = charged(answers(400, { code: 'bad_card' }));
const ELSEWHERE = 'https://other.example/api/payments';

describe('a press that went under another key, and never left', () => {
  test.for([
    ['edited, where an edit is refused', { body: CARD_B, whenChanged: 'refuse' }, { whenChanged: 'refuse' }],
    ['to another address', { url: ELSEWHERE }, {}],
    ['to another address, edited', { url: ELSEWHERE, body: CARD_B }, {}],
  ] as const)('%s: the next one of the first kind sends the key in use', async ([_, between, last], { world }) => {
    const tab = world.tab({ resends: true });
    const { outcome } = await world.end(tab, pay(tab.once(), last), REFUSED);
    const next = await pressOffline(tab, (page) => pay(page.once(), between));
    expect(world.record()).toMatchObject({ state: 'pending', ambiguous: false });
    await world.end(next, pay(next.once(), last), replays());
    expect(new Set(world.server.keys)).toEqual(new Set([outcome?.key]));
  });
});

describe('a copy that went out unseen charged, the other one was refused, and the server repeats the first answer to another payload', () => {
  test('it is not told for certain', async ({ world }) => {
    const tab = world.tab({ resends: true });
    const once = tab.once();
    await world.end(tab, pay(once), REFUSED);
    expect((await world.end(tab, pay(once, { body: CARD_B }), replays())).outcome).toMatchObject({ effect: 'done', certain: false, changed: true });
  });

  test('if-changed: the change is made all the same', async ({ world }) => {
    const tab = world.tab({ resends: true });
    const once = tab.once();
    await world.end(tab, pay(once, { repeat: 'if-changed' }), REFUSED);
    expect((await world.end(tab, pay(once, { body: CARD_B, repeat: 'if-changed' }), replays(), answers(201))).outcome).toMatchObject({ type: 'fresh' });
    expect(world.server.arrivals).toHaveLength(3);
  });
});

test('the same, where the edited press never left, and resume takes it up', async ({ world }) => {
  const tab = world.tab({ resends: true });
  const options = { namespace: 'ann', keep: { request: true } };
  await world.end(tab, pay(tab.once(options)), REFUSED);
  const next = await pressOffline(tab, (page) => pay(page.once(options), { body: CARD_B }));
  const { outcome } = await world.end(next, watched(resumeOne(next.once(options), NAME)), replays());
  expect(outcome).toMatchObject({ effect: 'done', certain: false, changed: true });
  expect(world.record()?.payloads).toHaveLength(2);
});

test('the key window ends while a call under a key in use waits: it goes on under a new key', async ({ world }) => {
  const { tab, once } = world.open({ limits: { totalMs: 10 * MINUTE, keyWindowMs: HOUR } });
  const { outcome } = await world.end(tab, pay(once), answers(400, { code: 'bad_card' }));
  await world.clock.advance(HOUR - 2 * MINUTE);
  const paid = await world.end(tab, pay(once), answers(429, '', { 'retry-after': '300' }), answers(201));
  expect(paid).toMatchObject({ status: 201, outcome: { type: 'fresh' } });
  expect(world.server.keys).toEqual([outcome?.key, outcome?.key, paid.outcome?.key]);
  expect(paid.outcome?.key).not.toBe(outcome?.key);
});

describe.each(['if-changed', 'always'] as const)('%s, and reconcile says that the earlier payload is done', (repeat) => {
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

  test('after a mismatch', async ({ world }) => {
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

  test('a text of your own as its key can be for no second payload: nothing is sent, and it is told that this one had no effect', async ({ world }) => {
    const { tab, once } = world.open({ repeat, reconcile: saying([], 'done'), limits: { attempts: 1 } });
    const key = 'profile-0001';
    await world.end(tab, pay(once, { key }), charged(lost()));
    await world.clock.advance(DAY);
    expect(await world.end(tab, pay(once, { key, body: CARD_B }))).toMatchObject({ code: 'ERR_ONCE_KEY_BURNT', outcome: { effect: 'none' } });
    expect(world.record()).toMatchObject({ state: 'settled' });
  });

  test('the same payload again is what is done', async ({ world }) => {
    const { tab, once } = world.open({ repeat, reconcile: saying([], 'done'), limits: { attempts: 1 } });
    await world.end(tab, pay(once), charged(lost()));
    await world.clock.advance(DAY);
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done', from: 'reconcile' } });
  });
});

test('never, another payload, and reconcile says done: it is told that the name is done, and nothing is sent', async ({ world }) => {
  const { tab, once } = world.open({ reconcile: saying([], 'done'), limits: { attempts: 1 } });
  await world.end(tab, pay(once), charged(lost()));
  await world.clock.advance(DAY);
  expect(await world.end(tab, pay(once, { body: CARD_B }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done' } });
});
