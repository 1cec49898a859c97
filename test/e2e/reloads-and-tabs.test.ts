/**
 * Goal: reloads, second tabs and a killed server leave one charge per intention in the oncefetch lane, and every tab
 * says what is true. Method: as in `faults.test.ts`; the moment of a reload or kill is read off the SQLite file.
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
    const charges = await playground.exactlyOnce();
    expect(charges.map(({ id, amount }) => ({ id, amount }))).toContainEqual(receipt);
  }
}

describe('a reload', () => {
  test('mid-flight, by the page’s own button: a banner, its Check resumes, one charge; plain fetch forgets and charges twice', async ({ tab }) => {
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

    // One at least: a page that is being left may still get round to its retry.
    await expect.poll(() => playground.charges('plain fetch').length).toBeGreaterThan(0);
    await tab.plain.verdict(/^Charged .* the customer was told nothing\.$/i);
    await tab.plain.pay();
    await tab.plain.verdict(/^Charged [23] times, .* told “paid”\.$/);
  });

  test('after the end remembers it: paid, and a press of Pay is not possible', async ({ tab }) => {
    await tab.choose('Nothing');
    await tab.once.pay();
    await paidOnce(tab);
    await tab.reload();
    await paidOnce(tab);
    await expect.poll(() => tab.once.button(/^Pay/).isDisabled()).toBe(true);
  });

  test('and another cart: the banner keeps the old payment in mind, its Check ends it', async ({ tab }) => {
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
  test('that press Pay at once: one charge and both say so; with plain fetch two', async ({ first }) => {
    await first.choose('Nothing');
    const second = await first.another();
    await Promise.all([first.once.pay(), second.once.pay()]);
    await paidOnce(first, second);
    await Promise.all([first.plain.pay(), second.plain.pay()]);
    await Promise.all([first.plain.says(/^Paid/), second.plain.says(/^Paid/)]);
    expect(playground.charges('plain fetch')).toHaveLength(2);
  });

  test('of which one is closed in the middle of its attempt: the other takes over, one charge', async ({ first }) => {
    await first.choose('Delay');
    const second = await first.another();
    await first.once.pay();
    await playground.charged('oncefetch', 1);
    await second.once.pay();
    await second.once.root.getByText('Another tab is paying this cart.').waitFor();
    await first.page.close();
    await paidOnce(second);
  });

  test('of which one only watches: it says paid as soon as the other is told', async ({ first }) => {
    await first.choose('Lose the response');
    const second = await first.another();
    await first.once.pay();
    await paidOnce(first, second);
  });
});

describe('a SIGKILL to the server', () => {
  test('while two tabs pay and one of them reloads: one charge', async ({ first }) => {
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
});
