/**
 * Goal: whether a payment is declined, corrected, edited, cancelled, offline, or refused after a lost answer: whatever
 * the customer does next, a cart is charged once, and the screen tells the truth. Method: as in `faults.test.ts`.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inPlayground, playground } from './support/playground.ts';
import type { Tab } from './support/tab.ts';

let tab: Tab;
inPlayground({ keep: true });
beforeAll(async () => void (tab = await playground.customer()));
beforeEach(async () => {
  await playground.startOver(tab);
  await tab.quantity(2);
  await tab.card('accepted');
});

const UNSURE = 'Not sure yet: the shop may have charged you. Check, or pay again: you will be charged once.';
const DECLINED = 'Your card was declined, nothing was charged. Choose another card.';

async function paidOnce(amount = 4200): Promise<void> {
  await tab.once.paidByOneClick();
  const receipt = await tab.once.receipt();
  expect(receipt.amount).toBe(amount);
  expect((await playground.exactlyOnce()).map(({ id, amount }) => ({ id, amount }))).toEqual([receipt]);
}

/** Pays with a fault that charges and turns every answer into a 503, so that the screen is unsure. */
async function unsure(): Promise<void> {
  await tab.choose('503 after charging', 'every request');
  await tab.once.pay();
  await tab.once.says(UNSURE);
  await tab.once.verdict(/^Charged once, .*which is true\.$/);
}

describe('a declined card', () => {
  test('whose refusal is lost every time, then a corrected card: one charge', async () => {
    await tab.choose('503 after charging', 'every request');
    await tab.card('declined');
    await tab.once.pay();
    await tab.once.says(UNSURE);
    expect(playground.charges('oncefetch')).toEqual([]);
    await tab.choose('Nothing');
    await tab.card('accepted');
    await tab.once.pay();
    await paidOnce();
  });

  test('whose refusal is lost, then a reload: Check shows the refusal', async () => {
    await tab.choose('503 after charging', 'every request');
    await tab.card('declined');
    await tab.once.pay();
    await tab.once.says(UNSURE);
    await tab.choose('Nothing');
    await tab.reload();
    await tab.once.button('Check').click();
    await tab.once.says(DECLINED);
    expect(await playground.exactlyOnce()).toEqual([]);
  });
});

describe('an unknown outcome', () => {
  test('then Pay again: the same charge; with plain fetch a second one', async () => {
    await unsure();
    await tab.plain.pay();
    await tab.plain.says('Payment failed. Please try again.');
    await tab.choose('Nothing');
    await tab.once.pay();
    await paidOnce();
    await tab.plain.pay();
    await tab.plain.verdict('Charged 2 times, €84.00 in all. The customer was told “paid”.');
  });

  test('then a reload and an edited cart: the first payment stands, and the screen names its amount', async () => {
    await unsure();
    await tab.choose('Nothing');
    await tab.reload();
    await tab.quantity(3);
    await tab.once.pay();
    await paidOnce(4200);
  });

  test('then a 401 after a charge: paid, because the order page says so', async () => {
    await unsure();
    await tab.choose('Refuse once (401)');
    await tab.once.pay();
    await paidOnce();
    await tab.once.attempts.filter({ hasText: 'HTTP 401' }).waitFor();
  });

  test('then a 401 without a charge: not sure, because an earlier attempt may still arrive; Check makes one charge', async () => {
    await tab.choose('503', 'every request');
    await tab.once.pay();
    await tab.once.says(UNSURE);
    await tab.once.verdict('Not charged. The customer was told “not sure yet”, which is true.');
    await tab.choose('Refuse once (401)');
    await tab.once.pay();
    await tab.once.attempts.filter({ hasText: 'HTTP 401' }).waitFor();
    await tab.once.says(UNSURE);
    await tab.once.check();
    await paidOnce();
  });
});

describe('Cancel', () => {
  test('while an attempt is on its way: not sure; Check makes one charge', async () => {
    await tab.choose('Delay');
    await tab.once.pay();
    await playground.charged('oncefetch', 1);
    await tab.once.button('Cancel').click();
    await tab.once.says(UNSURE);
    await tab.once.check();
    await paidOnce();
  });

  test('while offline, before anything was sent: not sent, now or later; then one charge', async () => {
    await tab.choose('Nothing');
    await tab.page.context().setOffline(true);
    await tab.once.pay();
    await tab.once.root.getByText('You are offline. It goes on with the network.').waitFor();
    await tab.once.button('Cancel').click();
    await tab.once.says('Not sent. Nothing was charged.');
    await tab.page.context().setOffline(false);
    expect(await playground.exactlyOnce()).toEqual([]);
    await tab.once.pay();
    await paidOnce();
  });
});

test('offline, and online again before the page gives up: one charge', async () => {
  await tab.choose('Nothing');
  await tab.page.context().setOffline(true);
  await tab.once.pay();
  await tab.once.root.getByText('You are offline. It goes on with the network.').waitFor();
  await tab.page.context().setOffline(false);
  await paidOnce();
});
