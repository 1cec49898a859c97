/** What customers do with a form of the playground, plain or in `<once-form>`, and the charges in its ledger. */
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { playground } from './playground.ts';

export const PAID = /^Paid €42\.00\. Thank you! Receipt no\. \d+\.$/;
export const UNSURE = 'Not sure yet whether you have paid. Pay again: you will be charged once.';

export const says = (page: Page, words: string | RegExp): Promise<void> => page.getByRole('status').filter({ hasText: words }).waitFor();
export const pay = (page: Page): Promise<void> => page.getByRole('button', { name: /^Pay/ }).click();
export const card = (page: Page, label: string): Promise<unknown> => page.getByLabel('Card').selectOption({ label });
export const renderedKey = (page: Page): Promise<string> => page.locator('input[name=key], input[name=idempotency-key]').inputValue();

/** The same page in another tab. */
export async function second(page: Page): Promise<Page> {
  const other = await page.context().newPage();
  await other.goto(page.url());
  return other;
}

/** Presses Pay, and waits for "Paid". */
export async function pays(page: Page): Promise<void> {
  await pay(page);
  await says(page, PAID);
}

/** Logs in with the buttons of the page. */
export async function logIn(page: Page, user: 'Ann' | 'Bert'): Promise<void> {
  await page.getByRole('button', { name: `Log in as ${user}` }).click();
  await page.getByText(`You are ${user}.`).waitFor();
}

/**
 * A form is rendered for Ann, and Bert logs in in another tab. Pay in Ann's page says that it is another user's, and charges nobody. After
 * that each of them pays for their own cart, Ann under the key that was rendered first.
 */
export async function isAnothers(page: Page, words: string): Promise<void> {
  await logIn(page, 'Ann');
  const key = await renderedKey(page);
  const other = await second(page);
  await logIn(other, 'Bert');
  await pay(page);
  await says(page, words);
  expect(await ledger()).toEqual([]);
  await pays(other);
  await logIn(other, 'Ann');
  expect(await renderedKey(other)).toBe(key);
  await pays(other);
  expect((await ledger()).map((charge) => charge.key === key)).toEqual([false, true]);
}

/** The log-in has expired on the server: the page says so, and the press after that pays under the same key. */
export async function asksToLogIn(page: Page, key: string): Promise<void> {
  await playground.breakNetwork('unauthorized', 1, 'default');
  await pay(page);
  await says(page, 'Please log in again, then pay again: you will be charged once.');
  await pays(page);
  expect(await ledger()).toEqual([{ amount: 4200, key }]);
}

/** Holds back the answers to what the page sends, so that a test can look at the page meanwhile. The result lets them arrive. */
export async function holdAnswers(page: Page): Promise<() => void> {
  let release!: () => void;
  const released = new Promise<void>((resolve) => void (release = resolve));
  await page.route('**/*', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    const response = await route.fetch();
    await released;
    return route.fulfill({ response });
  });
  return release;
}

/** Pays with a card that is declined, and waits for the message. */
export async function isDeclined(page: Page, words: string): Promise<void> {
  await card(page, '0002, is declined');
  await pay(page);
  await says(page, words);
}

/** Pays under a fault, and waits for "Not sure yet". */
export async function isUnsure(page: Page, fault: string): Promise<void> {
  await playground.breakNetwork(fault, undefined, 'default');
  await pay(page);
  await says(page, UNSURE);
}

export async function ledger(): Promise<readonly { amount: number; key: string | null }[]> {
  await playground.calm();
  return playground.charges('default').map(({ amount, key }) => ({ amount, key }));
}
