/**
 * Goal: under every fault of the panel, one click is one charge in the oncefetch lane, and its screen tells the truth.
 * Method: a customer in Chromium, the real server, and the ledger, which the test finally reads from its SQLite file.
 * The plain lane meets the same faults, to show that each fault would do harm.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inPlayground, playground } from './support/playground.ts';
import type { Tab } from './support/tab.ts';

let tab: Tab;
inPlayground({ keep: true });
beforeAll(async () => void (tab = await playground.customer()));
beforeEach(() => playground.startOver(tab));

/** Checks that there is one charge, and that the screen names it. */
async function paidOnce(): Promise<void> {
  await tab.once.paidByOneClick();
  const receipt = await tab.once.receipt();
  await tab.once.verdict('Charged once, €42.00, and the customer knows.');
  expect((await playground.exactlyOnce()).map(({ id, amount }) => ({ id, amount }))).toEqual([receipt]);
}

describe('under the fault', () => {
  test.each([
    { fault: 'Nothing', plain: 1, told: /^Paid/ },
    { fault: 'Lose the response', plain: 2, told: /^Paid/ },
    { fault: 'Delay', plain: 2, told: /^Paid/ },
    { fault: '503', plain: 0, told: /^Payment failed/ },
    { fault: '503 after charging', plain: 1, told: /^Payment failed/ },
    { fault: 'Drop the connection', plain: 1, told: /^Paid/ },
    { fault: 'Truncate', plain: 2, told: /^Paid/ },
    { fault: 'Duplicate', plain: 2, told: /^Paid/ },
  ])('$fault: one click in both lanes is 1 charge with oncefetch, $plain with plain fetch', async ({ fault, plain, told }) => {
    await tab.choose(fault);
    await tab.button('Pay in both lanes').click();
    await paidOnce();
    await tab.plain.says(told);
    await playground.charged('plain fetch', plain);
    if (plain === 2) await tab.plain.verdict('Charged 2 times, €84.00 in all. The customer was told “paid”.');
    if (fault === '503 after charging') await tab.plain.verdict('Charged once, €42.00, but the customer was told “failed, try again”.');
  });

  test('Refuse once (401): the screen claims nothing, and the next click is one charge', async () => {
    await tab.choose('Refuse once (401)');
    await tab.once.pay();
    // Chromium may have sent a copy of the request unseen, so a 401 proves nothing.
    await tab.once.says(/^Not sure yet/);
    expect(playground.charges('oncefetch')).toEqual([]);
    await tab.once.pay();
    await paidOnce();
  });

  test.each(['Kill the server mid-charge', 'Kill it after charging'])('%s: one charge after the restart', async (fault) => {
    const { boot } = await playground.shop.health();
    await tab.choose(fault);
    await tab.once.pay();
    await tab.once.says(/^(Paid|Not sure)/);
    await tab.once.insist();
    await paidOnce();
    expect((await playground.shop.health()).boot).not.toBe(boot);
    const afterCommit = fault === 'Kill it after charging';
    await tab.plain.pay();
    await tab.plain.says('Payment failed. Please try again.');
    await playground.charged('plain fetch', afterCommit ? 1 : 0);
    await playground.calm();
    // The customer tries again, as the screen says.
    await tab.plain.pay();
    await tab.plain.says(/^Paid/);
    await playground.charged('plain fetch', afterCommit ? 2 : 1);
  });
});

test('mashing Pay while a gateway turns charges into 503s: one charge with oncefetch, several with plain fetch', async () => {
  await tab.choose('503 after charging', 'the first 3 requests');
  await tab.once.mash();
  await paidOnce();
  await tab.plain.mash();
  await tab.plain.verdict(/^Charged [2-9] times/);
  expect(playground.charges('plain fetch').length).toBeGreaterThan(1);
});
