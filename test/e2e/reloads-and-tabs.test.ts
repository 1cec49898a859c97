/**
 * Goal: after reloads, second tabs and a killed server, the oncefetch lane has one charge per cart, and every tab tells the
 * truth. Method: as in `faults.test.ts`; the test reads the moment of a reload or kill off the SQLite file.
 */
import { test as anyTest, describe, expect } from 'vitest';
import { inPlayground, playground } from './support/playground.ts';
import type { Tab } from './support/tab.ts';

inPlayground();

const test = anyTest.extend('tab', () => playground.customer()).extend('first', () => playground.customer());

async function paidOnce(...tabs: Tab[]): Promise<void> {
  for (const tab of tabs) {
    await tab.once.paidByOneClick();
    const receipt = await tab.once.receipt();
    expect((await playground.exactlyOnce()).map(({ id, amount }) => ({ id, amount }))).toContainEqual(receipt);
  }
}

describe('a reload', () => {
  test('in the middle of a payment: a banner, whose Check resumes, one charge; plain fetch forgets the payment and charges again', async ({ tab }) => {
    await playground.chargeSlowly();
    await tab.button('Pay, and reload mid-flight').click();
    await tab.banner.waitFor();
    await expect.poll(() => tab.banner.textContent()).toBe('A payment of €42.00 is still being confirmed.');
    await expect.poll(() => tab.once.status.textContent()).toBe('Check it, or pay again: you will be charged once.');
    await expect.poll(() => tab.plain.status.textContent()).toBe('Ready to pay.');
    await tab.once.button('Check').click();
    await paidOnce(tab);
    await expect.poll(() => tab.banner.isVisible()).toBe(false);
    expect(new Set(playground.charges('oncefetch').map(({ key }) => key)).size).toBe(1);

    // At least one charge, because a page that is being left may still send its retry.
    await expect.poll(() => playground.charges('plain fetch').length).toBeGreaterThan(0);
    await tab.plain.verdict(/^Charged .* the customer was told nothing\.$/i);
    await tab.plain.pay();
    await tab.plain.verdict(/^Charged [23] times, .* told “paid”\.$/);
  });

  test('after the payment: the page says paid, and Pay is disabled', async ({ tab }) => {
    await tab.choose('Nothing');
    await tab.once.pay();
    await paidOnce(tab);
    await tab.reload();
    await paidOnce(tab);
    await expect.poll(() => tab.once.button(/^Pay/).isDisabled()).toBe(true);
  });

  test('and another cart: the banner still shows the first payment, and its Check ends it', async ({ tab }) => {
    await tab.choose('503 after charging', 'every request');
    await tab.once.pay();
    await playground.charged('oncefetch', 1);
    await tab.reload();
    await tab.button('New cart').click();
    await tab.choose('Nothing');
    await tab.quantity(1);
    await tab.once.pay();
    await tab.once.says(/^Paid €21\.00/);
    await expect.poll(() => tab.banner.textContent()).toBe('A payment of €42.00 is still being confirmed.');
    await tab.once.button('Check').click();
    await tab.page.getByText('The payment of €42.00 was made.').waitFor();
    expect((await playground.exactlyOnce()).map(({ amount }) => amount)).toEqual([4200, 2100]);
  });
});

describe('two tabs', () => {
  test('that press Pay at once: one charge, and both say paid; with plain fetch two charges', async ({ first }) => {
    await first.choose('Nothing');
    const second = await first.another();
    await Promise.all([first.once.pay(), second.once.pay()]);
    await paidOnce(first, second);
    await Promise.all([first.plain.pay(), second.plain.pay()]);
    await Promise.all([first.plain.says(/^Paid/), second.plain.says(/^Paid/)]);
    expect(playground.charges('plain fetch')).toHaveLength(2);
  });

  test('of which one is closed in the middle of its attempt: the other tab takes over, one charge', async ({ first }) => {
    await first.choose('Delay');
    const second = await first.another();
    await first.once.pay();
    await playground.charged('oncefetch', 1);
    await second.once.pay();
    await second.once.root.getByText('Another tab is paying this cart.').waitFor();
    await first.page.close();
    await paidOnce(second);
  });

  test('of which one only watches: it says paid as soon as the other tab does', async ({ first }) => {
    await first.choose('Lose the response');
    const second = await first.another();
    await first.once.pay();
    await paidOnce(first, second);
  });
});

test('a SIGKILL to the server while two tabs pay and one of them reloads: one charge', async ({ first }) => {
  const second = await first.another();
  await playground.chargeSlowly();
  await Promise.all([first.once.pay(), second.once.pay()]);
  await playground.charging('oncefetch');
  await playground.shop.kill();
  await first.reload();
  await second.once.insist();
  await first.once.insist();
  await paidOnce(second, first);
});
