/**
 * Goal: everybody can use the panel on a real page: axe finds nothing in light and dark, on a desktop and on a phone; a keyboard
 * alone does everything; an operation that a reload interrupted is resumed from the panel, with one charge. Method: the playground
 * with its panel, used with real keys; the ledger is the judge.
 */
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { fitsAnybody } from './support/axe.ts';
import { inPlayground, playground } from './support/playground.ts';
import { Tab } from './support/tab.ts';

inPlayground();

const open = async (): Promise<Tab> => {
  const tab = new Tab(await playground.visitor('/?devtools'));
  await tab.loaded();
  return tab;
};
const opener = (page: Page) => page.getByRole('button', { name: /^oncefetch: checkout/ });
const panel = (page: Page) => page.getByRole('dialog', { name: 'oncefetch: checkout devtools' });

test('axe finds nothing in the panel: closed, empty, with a payment, with a question, with a report', async () => {
  const tab = await open();
  const { page } = tab;
  await opener(page).waitFor();
  await fitsAnybody(tab, 'closed');
  await opener(page).click();
  await fitsAnybody(tab, 'empty');
  await panel(page).getByLabel('Lose the next answer').check();
  await tab.once.button('Pay €42.00').click();
  await panel(page).getByRole('listitem').filter({ hasText: 'Read as replayed' }).waitFor();
  await fitsAnybody(tab, 'done');
  await panel(page).getByRole('button', { name: 'Forget' }).click();
  await fitsAnybody(tab, 'asked');
  await panel(page).getByRole('button', { name: 'Report' }).click();
  await fitsAnybody(tab, 'report');
  expect(playground.charges('oncefetch')).toHaveLength(1);
});

test('a keyboard alone opens the panel, resumes an operation that a reload interrupted, and closes the panel', async () => {
  const tab = await open();
  const { page } = tab;
  await playground.breakNetwork('hang-after-commit', 1);
  await tab.once.button('Pay €42.00').click();
  await playground.charged('oncefetch', 1);
  await tab.reload();
  await opener(page).filter({ hasText: '1 unsettled' }).waitFor();
  await opener(page).focus();
  await page.keyboard.press('Enter');
  await expect
    .poll(() =>
      panel(page)
        .getByRole('option')
        .first()
        .evaluate((row) => row.matches(':focus')),
    )
    .toBe(true);
  await panel(page).getByText('It began before this panel, or elsewhere').waitFor();
  await page.keyboard.press('Tab'); // the operation
  await page.keyboard.press('Tab'); // its first button
  await page.keyboard.press('Enter');
  await panel(page).getByRole('status').filter({ hasText: 'Resumed: done.' }).waitFor();
  await panel(page).getByRole('option', { name: /done/ }).waitFor();
  await page.keyboard.press('Escape');
  expect(await opener(page).evaluate((button) => button.matches(':focus'))).toBe(true);
  expect(playground.charges('oncefetch')).toHaveLength(1);
});
