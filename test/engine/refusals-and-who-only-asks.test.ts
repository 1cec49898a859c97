/**
 * Goal: a call that must not send anything, and could only ask `reconcile`, does not take a refusal that came before an attempt of unknown end for proof.
 * Method: a press is refused after a lost answer. Minutes later, its page dies while the attempt of its next press is under way. Then comes the call that
 * sends nothing, and the same refusal once more.
 */
import { expect } from 'vitest';
import { answers, charged, hangs, lost } from '../support/server.js';
import { CART, DAY, MINUTE, ONE, type PayOptions, pay, test } from '../support/world.js';

const DECLINED = answers(402, { code: 'card_declined' });

test.for<[string, PayOptions]>([
  ['another address', { url: 'https://eu.shop.example/api/payments' }],
  ['a key of its own', { key: 'mine-0001' }],
  ['an edited form, where edits are refused', { body: { cart: 'c1', amount: 20 }, whenChanged: 'refuse' }],
  ['a key window of its own, which is over', { limits: { keyWindowMs: MINUTE } }],
])('%s: the call sends nothing, and the copy may still charge, so no call is told none', async ([_, asks], { world }) => {
  const [page, other] = [world.open(ONE), world.open(ONE)];
  await world.end(page.tab, pay(page.once), lost());
  // Both pages get the refusal, so each can measure the time since then itself.
  for (const { tab, once } of [page, other])
    expect((await world.end(tab, pay(once), DECLINED)).outcome).toMatchObject({ effect: 'unknown', reason: 'refused-after-ambiguity' });
  await world.clock.advance(3 * MINUTE);
  await world.dies(page, {}, hangs());
  expect((await world.end(other.tab, pay(other.once, asks))).outcome).toMatchObject({ effect: 'unknown', attempts: 0 });
  expect((await world.end(other.tab, pay(other.once), DECLINED)).outcome).toMatchObject({ effect: 'unknown', reason: 'refused-after-ambiguity' });
});

test.for(['if-changed', 'always'] as const)(
  'with repeat %s, a form that was edited and sent before its key expired is not sent again after reconcile says done',
  async (repeat, { world }) => {
    const { tab, once } = world.open({ repeat, reconcile: async () => 'done', limits: { attempts: 1 } });
    const edited = { ...CART, amount: 20 };
    await world.end(tab, pay(once), lost());
    await world.end(tab, pay(once, { body: edited }), charged(lost()));
    await world.clock.advance(2 * DAY);
    expect(await world.end(tab, pay(once, { body: edited }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_DONE', outcome: { effect: 'done', from: 'reconcile' } });
    expect(world.server.arrivals).toHaveLength(2);
  },
);
