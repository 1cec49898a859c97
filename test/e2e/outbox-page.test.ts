/**
 * Goal: if the customer agreed, a payment whose tab is closed in the middle is charged once, and a second tab shows it; otherwise it is
 * not sent. Method: real Chromium, its service worker, a real server, and its ledger as judge.
 */
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { fitsAnybody } from './support/axe.ts';
import { inPlayground, playground } from './support/playground.ts';

inPlayground();

const charges = () => playground.shop.query("SELECT key FROM charges WHERE lane = 'outbox'");

const armed = () => playground.shop.query("SELECT fault FROM armed_faults WHERE lane = 'outbox'").length;
/** Resolves when the shop has stored the fault: a payment that arrives before would be charged. */
async function goesWrong(page: Page, what: string): Promise<void> {
  await page.getByLabel('What goes wrong').selectOption({ label: what });
  await expect.poll(armed).toBe(what === 'The network works' ? 0 : 1);
}

/** Two tabs of one browser: the network breaks, the first tab pays and is closed. Returns the second tab. */
async function closedInMidPayment(agreed: boolean): Promise<Page> {
  const first = await playground.visitor('/outbox/');
  await first.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  const second = await first.context().newPage();
  await second.goto(first.url());
  await goesWrong(second, 'No request ever reaches the shop');
  await first.getByLabel('If this page is closed').setChecked(agreed);
  await first.getByRole('button', { name: 'Pay' }).click();
  await second.getByText('still being confirmed').waitFor();
  await first.close();
  return second;
}

test('closed with consent, then the network works: one charge, and the other tab shows it', async () => {
  const page = await closedInMidPayment(true);
  expect(charges()).toEqual([]);
  await goesWrong(page, 'The network works');
  await page.getByText('charged once').waitFor();
  await expect.poll(() => page.getByText('still being confirmed').isVisible()).toBe(false);
  expect(charges()).toHaveLength(1);
});

test('two clicks are one charge, and the page follows its payment, also after a reload; another cart is another charge', async () => {
  const page = await playground.visitor('/outbox/');
  await goesWrong(page, 'The shop charges; no answer ever arrives');
  await page.getByRole('button', { name: 'Pay' }).dblclick();
  await expect.poll(() => charges().length).toBe(1);
  await page.reload();
  await page.getByText('Not sure yet whether you have paid.').waitFor();
  await goesWrong(page, 'The network works');
  await page.getByText('Paid. Thank you!').waitFor();
  expect(charges()).toHaveLength(1);
  await page.getByRole('button', { name: 'Shop again' }).click();
  await page.getByText('Ready to pay').waitFor();
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.getByText('Paid. Thank you!').waitFor();
  expect(charges()).toHaveLength(2);
});

test('closed without consent: nothing is charged, and the payment stays unsettled', async () => {
  const page = await closedInMidPayment(false);
  await goesWrong(page, 'The network works');
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(charges()).toEqual([]);
  await expect.poll(() => page.getByText('still being confirmed').isVisible()).toBe(true);
});

test('axe finds nothing', async () => {
  const page = await playground.visitor('/outbox/');
  await page.getByText('none yet').waitFor();
  await fitsAnybody({ page }, 'ready');
});
