/**
 * Goal: a plain form in `<once-form>` charges once for what the customer meant, with script and without; everybody can use it, and it
 * shows the outcome. Method: real Chromium, a real server that renders the key, and its ledger as judge.
 */
import type { Page } from 'playwright';
import { test as anyTest, describe, expect } from 'vitest';
import { fitsAnybody } from './support/axe.ts';
import { asksToLogIn, card, isAnothers, isDeclined, isUnsure, ledger, PAID, pay, pays, renderedKey, says, second, UNSURE } from './support/form.ts';
import { inPlayground, type Playground, playground } from './support/playground.ts';

inPlayground();

const DECLINED = 'The card was declined';

const open = (options: Parameters<Playground['visitor']>[1] = {}): Promise<Page> => playground.visitor('/once-form/', options);
const test = anyTest.extend('page', () => open()).extend('key', ({ page }) => renderedKey(page));
const state = (page: Page): Promise<string | null> => page.locator('once-form').getAttribute('state');
const check = (page: Page) => page.getByRole('button', { name: 'Check' });

describe('with script', () => {
  test('a reload in the middle of the payment: one charge, and the page says paid', async ({ page }) => {
    await playground.breakNetwork('delay', 1, 'default');
    await pay(page);
    await says(page, 'Paying…');
    // A reload before the request has arrived ends as "not sure".
    await expect.poll(() => playground.charges('default')).toHaveLength(1);
    await page.reload();
    await says(page, PAID);
    expect(await state(page)).toBe('done');
    expect(await page.getByRole('button', { name: 'Pay' }).isVisible()).toBe(false);
    expect(await ledger()).toHaveLength(1);
  });

  test('the log-in has expired: the page says to log in, and the press after that pays under the same key', ({ page, key }) => asksToLogIn(page, key));

  test('rendered for Ann, sent in the session of Bert: nobody is charged, and each pays for their own cart', ({ page }) =>
    isAnothers(page, 'Somebody else has logged in. Load this page again.'));

  test('a second tab pays at the same time: both tabs say paid, one charge', async ({ page }) => {
    const other = await second(page);
    await playground.breakNetwork('delay', 1, 'default');
    await pay(page);
    await says(page, 'Paying…');
    await pay(other);
    await says(other, 'Paying…');
    // The tab that gets the answer shows the receipt. The other tab only knows that the payment is done.
    await Promise.all([says(page, /^Paid/), says(other, /^Paid/)]);
    expect(await ledger()).toHaveLength(1);
  });

  test('a declined card, another page, and back to the first page from the HTTP cache: one charge, under the next key', async ({ page }) => {
    const first = await renderedKey(page);
    // A page with an `unload` listener does not enter the back-forward cache.
    await page.evaluate(() => addEventListener('unload', () => {}));
    await isDeclined(page, DECLINED);
    const next = await renderedKey(page);
    await page.goto(`${playground.shop.url}/checkout/`);
    await page.goBack();
    expect(await renderedKey(page)).toBe(first);
    await card(page, '4242, is accepted');
    await pays(page);
    expect(await ledger()).toEqual([{ amount: 4200, key: next }]);
  });

  test('restored from the back-forward cache: the page says paid and sends nothing, one charge', async () => {
    const page = await playground.visitorOfWholeBrowser('/once-form/');
    await page.evaluate(() => addEventListener('pageshow', ({ persisted }) => persisted && Object.assign(window, { persisted })));
    await pays(page);
    await page.goto(`${playground.shop.url}/checkout/`);
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await page.evaluate(() => history.back());
    await expect.poll(() => page.url()).toMatch(/once-form\/$/);
    await expect.poll(() => page.evaluate(() => 'persisted' in window).catch(String)).toBe(true);
    await says(page, PAID);
    expect(await page.getByRole('button', { name: 'Pay' }).isVisible()).toBe(false);
    expect(sent).toEqual([]);
    expect(await ledger()).toHaveLength(1);
  });

  test('a fault chosen on the page loses the answer; Check ends the payment', async ({ page }) => {
    const armed = page.waitForResponse((response) => response.request().method() === 'POST' && response.url().endsWith('/api/faults'));
    await page.getByLabel('What goes wrong').selectOption('lose-response');
    await armed;
    await pay(page);
    await says(page, UNSURE);
    await playground.mendNetwork();
    await check(page).click();
    await says(page, PAID);
    expect(await ledger()).toHaveLength(1);
  });

  test('with the attribute `next`, the browser goes to that page after the payment', async ({ page }) => {
    await page.locator('once-form').evaluate((element) => element.setAttribute('next', '/checkout/'));
    await pay(page);
    await page.waitForURL('**/checkout/');
    expect(await ledger()).toHaveLength(1);
  });
});

describe('everybody can use it', () => {
  test('axe finds nothing: ready, declined, not sure, paid', async ({ page }) => {
    await fitsAnybody({ page }, 'ready');
    await isDeclined(page, DECLINED);
    await fitsAnybody({ page }, 'declined');
    await card(page, '4242, is accepted');
    await isUnsure(page, 'lose-request');
    await fitsAnybody({ page }, 'not sure');
    await playground.mendNetwork();
    await pays(page);
    await fitsAnybody({ page }, 'paid');
  });

  test('by keyboard alone: Enter pays, Tab leads to Check, Space checks', async ({ page }) => {
    await playground.breakNetwork('lose-response', undefined, 'default');
    await page.getByLabel(/^Bags/).focus();
    await page.keyboard.press('Enter');
    await says(page, UNSURE);
    await playground.mendNetwork();
    // "Check" is in a shadow root, which has its own `activeElement`.
    const isFocused = () => check(page).evaluate((one) => one === (one.getRootNode() as ShadowRoot).activeElement);
    for (let presses = 0; presses < 10 && !(await isFocused()); presses++) await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await says(page, PAID);
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('status');
    expect(await ledger()).toHaveLength(1);
  });
});

describe('without script', () => {
  test.override('page', () => open({ javaScriptEnabled: false }));

  test('the answer to a form without script is lost, then a page with script sends the same form: one charge under one key', async ({ page, key }) => {
    const scripted = await open({ storageState: await page.context().storageState() });
    expect(await renderedKey(scripted)).toBe(key);
    await playground.breakNetwork('lose-response', 1, 'default');
    await page.getByRole('button', { name: 'Pay' }).click({ noWaitAfter: true });
    await playground.charged('default', 1);
    await playground.mendNetwork();
    await pays(scripted);
    expect(await ledger()).toEqual([{ amount: 4200, key }]);
  });
});
