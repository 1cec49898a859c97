/**
 * Goal: an ordinary form charges once for what the customer meant, with script and without: Enter plus click, lost answers,
 * reloads, the back-forward cache. Method: real Chromium, a real server that renders the key, and its ledger as judge.
 */
import type { Page } from 'playwright';
import { test as anyTest, describe, expect } from 'vitest';
import { fitsAnybody } from './support/axe.ts';
import {
  asksToLogIn,
  card,
  holdAnswers,
  isAnothers,
  isDeclined,
  isUnsure,
  ledger,
  PAID,
  pay,
  pays,
  renderedKey,
  says,
  second,
  UNSURE,
} from './support/form.ts';
import { inPlayground, type Playground, playground } from './support/playground.ts';

inPlayground();

const DECLINED = 'Your card was declined. Nothing was charged.';
const ANOTHERS = 'This form is another user’s. Nothing was done.';

const open = (options: Parameters<Playground['visitor']>[1] = {}): Promise<Page> => playground.visitor('/form/', options);
const test = anyTest.extend('page', () => open()).extend('key', ({ page }) => renderedKey(page));

describe('with script', () => {
  test('Enter plus click: aria-busy, a status line, one charge under the key that the server rendered', async ({ page, key }) => {
    const release = await holdAnswers(page);
    await page.getByLabel(/^Bags/).press('Enter');
    await pay(page);
    await says(page, 'Paying…');
    await expect.poll(() => page.locator('#pay').getAttribute('aria-busy')).toBe('true');
    release();
    await says(page, PAID);
    await expect.poll(() => page.locator('#pay').getAttribute('aria-busy')).toBe('false');
    expect(await ledger()).toEqual([{ amount: 4200, key }]);
  });

  test('a declined card, then a corrected one: one charge, under the next key of the server', async ({ page }) => {
    const first = await renderedKey(page);
    await isDeclined(page, DECLINED);
    const next = await renderedKey(page);
    expect(next).not.toBe(first);
    await card(page, '4242, is accepted');
    await pays(page);
    expect(await ledger()).toEqual([{ amount: 4200, key: next }]);
  });

  test('a declined card in one tab, then a press in a second tab that was opened before: it asks to be reloaded, then pays once', async ({ page }) => {
    const other = await second(page);
    await isDeclined(page, DECLINED);
    await pay(other);
    await says(other, 'This page is out of date, and nothing was sent. Load it again.');
    await other.reload();
    await pays(other);
    expect(await ledger()).toHaveLength(1);
  });

  test('shows "not sure" while another tab pays, and clears it when that payment is refused', async ({ page }) => {
    const other = await second(page);
    await playground.breakNetwork('delay', 1, 'default');
    await card(other, '0002, is declined');
    await pay(other);
    await says(page, UNSURE);
    await says(other, DECLINED);
    await expect.poll(() => page.getByRole('status').textContent()).toBe('');
    await page.reload();
    await pays(page);
    expect(await ledger()).toHaveLength(1);
  });

  test('the request is lost, then the page is reloaded: the form says so and has the same key, and Pay charges once', async ({ page, key }) => {
    await isUnsure(page, 'lose-request');
    await page.reload();
    await says(page, UNSURE);
    expect(await renderedKey(page)).toBe(key);
    await playground.mendNetwork();
    await pays(page);
    expect(await ledger()).toEqual([{ amount: 4200, key }]);
  });

  test('a screen reader announces each thing once', async ({ page }) => {
    const said = await page.getByRole('status').evaluateHandle((line) => {
      const texts: (string | null)[] = [];
      new MutationObserver(() => texts.push(line.textContent)).observe(line, { childList: true });
      return texts;
    });
    await isUnsure(page, 'lose-request');
    await expect.poll(() => page.locator('#pay').getAttribute('aria-busy')).toBe('false');
    expect(await said.jsonValue()).toEqual(['Paying…', UNSURE]);
  });

  test('the answer is lost, then the page is reloaded: the server renders the receipt, and the form is gone', async ({ page }) => {
    await isUnsure(page, 'lose-response');
    await page.reload();
    await says(page, PAID);
    expect(await page.getByRole('button', { name: 'Pay' }).isVisible()).toBe(false);
    expect(await ledger()).toHaveLength(1);
  });

  test('restored from the back-forward cache: the page says paid, one charge', async () => {
    const page = await playground.visitorOfWholeBrowser('/form/');
    await page.evaluate(() => addEventListener('pageshow', ({ persisted }) => persisted && sessionStorage.setItem('persisted', 'yes')));
    await pays(page);
    await page.goto(`${playground.shop.url}/checkout/`);
    await page.evaluate(() => history.back());
    await page.waitForURL('**/form/');
    await says(page, PAID);
    await expect.poll(() => page.evaluate(() => sessionStorage.getItem('persisted')).catch(String)).toBe('yes');
    await says(page, PAID);
    expect(await ledger()).toHaveLength(1);
  });

  test('rendered for Ann, sent in the session of Bert: nobody is charged, and each pays for their own cart', ({ page }) => isAnothers(page, ANOTHERS));

  test('the log-in has expired: the page says to log in, and the press after that pays under the same key', ({ page, key }) => asksToLogIn(page, key));

  test('declined, with an answer that is no JSON: says declined, and the next press says that the page must be loaded again', async ({ page }) => {
    await page.route('**/form/', (route) => (route.request().method() === 'POST' ? route.fulfill({ status: 402, body: '<html>' }) : route.fallback()));
    await isDeclined(page, DECLINED);
    await page.unroute('**/form/');
    await pay(page);
    await says(page, 'This page is out of date, and nothing was sent. Load it again.');
    expect(await ledger()).toEqual([]);
  });

  test('paid, with an answer that is no JSON: says paid, without a receipt', async ({ page }) => {
    await page.route('**/form/', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      return route.fulfill({ response: await route.fetch(), contentType: 'application/json', body: 'cut' });
    });
    await pay(page);
    await says(page, /^Paid\. Thank you!$/);
    expect(await ledger()).toHaveLength(1);
  });

  test('axe finds nothing: ready, declined, paid', async ({ page }) => {
    await fitsAnybody({ page }, 'ready');
    await isDeclined(page, DECLINED);
    await fitsAnybody({ page }, 'declined');
    await card(page, '4242, is accepted');
    await pays(page);
    await fitsAnybody({ page }, 'paid');
  });
});

describe('without script', () => {
  test.override('page', () => open({ javaScriptEnabled: false }));

  test('rendered for Ann, sent in the session of Bert: nobody is charged, and each pays for their own cart', ({ page }) => isAnothers(page, ANOTHERS));

  test('pays under the rendered key; a reload charges nothing more', async ({ page, key }) => {
    await pays(page);
    await page.reload();
    await says(page, PAID);
    expect(await ledger()).toEqual([{ amount: 4200, key }]);
  });

  test('two copies of the form, both sent at once: one charge', async ({ page }) => {
    const other = await second(page);
    await Promise.all([pay(page), pay(other)]);
    await Promise.all([says(page, PAID), says(other, PAID)]);
    expect(await ledger()).toHaveLength(1);
  });

  test('the answer is lost, and the customer sends the form again from a page that was opened before: one charge', async ({ page }) => {
    const old = await second(page);
    await playground.breakNetwork('lose-response', undefined, 'default');
    await page.getByRole('button', { name: 'Pay' }).click({ noWaitAfter: true });
    await playground.charged('default', 1);
    await playground.mendNetwork();
    await pays(old);
    expect(await ledger()).toHaveLength(1);
  });

  test('a declined card, then a corrected one: one charge, under another key', async ({ page }) => {
    const first = await renderedKey(page);
    await isDeclined(page, DECLINED);
    await card(page, '4242, is accepted');
    await pays(page);
    const charges = await ledger();
    expect(charges).toHaveLength(1);
    expect(charges[0]?.key).not.toBe(first);
  });

  test('sent without script, then with script: the page adopts the key, one charge', async ({ page, key }) => {
    await playground.breakNetwork('lose-request', undefined, 'default');
    await Promise.all([page.waitForEvent('requestfailed'), page.getByRole('button', { name: 'Pay' }).click({ noWaitAfter: true })]);
    await playground.mendNetwork();
    const scripted = await open({ storageState: await page.context().storageState() });
    expect(await renderedKey(scripted)).toBe(key);
    await pays(scripted);
    expect(await ledger()).toEqual([{ amount: 4200, key }]);
  });
});
