/**
 * Goal: everybody can use every screen of the checkout: axe, 360 px, light and dark, by keyboard alone, with a screen
 * reader that announces each thing once. Method: as in `accessibility.test.ts`.
 */
import { test as anyTest, expect } from 'vitest';
import { fitsAnybody } from './support/axe.ts';
import { CheckoutPage } from './support/checkout.ts';
import { inPlayground, playground } from './support/playground.ts';

inPlayground();

const test = anyTest.extend('shop', async () => new CheckoutPage(await playground.visitor('/checkout/')));
const break_ = (fault: string): Promise<void> => playground.breakNetwork(fault, undefined, 'default');

test('axe finds nothing on any screen, and nothing scrolls sideways', async ({ shop }) => {
  await shop.button(/^Pay €/).waitFor();
  await fitsAnybody(shop, 'form');
  await shop.card('declined');
  await shop.pay();
  await shop.says(/declined/);
  await fitsAnybody(shop, 'declined');

  await shop.card('accepted');
  await break_('delay');
  await shop.pay();
  await shop.says('Paying…');
  await fitsAnybody(shop, 'paying');
  await shop.reload();
  await shop.bags(3);
  await shop.says(/You have changed your cart since/);
  await fitsAnybody(shop, 'unsure, edited');

  await shop.button('Log in as Anna').click();
  await shop.account.getByText('You are Anna').waitFor();
  // The checkout is shown again when the guest's payment has moved to Anna.
  await shop.button(/^Pay/).waitFor();
  await shop.button('Log out').click();
  await shop.account.getByText(/We will show it when you log in again/).waitFor();
  await fitsAnybody(shop, 'logged out');
  await shop.page.evaluate(() => localStorage.removeItem('shop.cart.user-anna'));
  await shop.button('Log in as Anna').click();
  await shop.banner.getByText(/is still being confirmed/).waitFor();
  await fitsAnybody(shop, 'banner');

  await playground.mendNetwork();
  await shop.pay();
  await shop.says(/^Paid/);
  await fitsAnybody(shop, 'paid');
});

test('by keyboard alone: declined, corrected, unsure, checked, paid, and the focus is never lost', async ({ shop }) => {
  const { keyboard } = shop.page;
  const tabTo = async (words: RegExp): Promise<void> => {
    for (let presses = 0; presses < 30; presses++) {
      const { says, outline } = await shop.page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        return { says: (element.closest('label') ?? element).textContent ?? '', outline: outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth) };
      });
      if (words.test(says)) return expect(outline, says).toBeGreaterThanOrEqual(2);
      await keyboard.press('Tab');
    }
    throw new Error(`no way to ${words}`);
  };
  await shop.button(/^Pay €/).waitFor();
  await tabTo(/^Card/);
  await keyboard.press('End');
  await tabTo(/^Pay €/);
  await keyboard.press('Enter');
  await shop.says(/declined/);
  await keyboard.press('Shift+Tab');
  await tabTo(/^Card/);
  await keyboard.press('Home');
  await break_('lose-response');
  await tabTo(/^Pay €/);
  await keyboard.press('Space');
  await shop.says(/^We are still/);
  await playground.mendNetwork();
  await keyboard.press('Tab');
  await tabTo(/^Check my payment/);
  await keyboard.press('Enter');
  await shop.says(/^Paid/);
  // The focused button is gone, so the focus moves to the message.
  expect(await shop.page.evaluate(() => document.activeElement?.textContent)).toMatch(/^Paid/);
  expect(playground.charges('default')).toHaveLength(1);
});

test('a screen reader announces each thing once', async ({ shop }) => {
  await shop.button(/^Pay €/).waitFor();
  await shop.page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(window, { heard });
    const region = document.querySelector('section [role=status]') as Element;
    new MutationObserver(() => heard.at(-1) !== region.textContent && heard.push(region.textContent ?? '')).observe(region, {
      childList: true,
      characterData: true,
      subtree: true,
    });
  });
  await shop.pay();
  await shop.says(/^Paid €42\.00/);
  const heard = await shop.page.evaluate(() => (window as unknown as { heard: string[] }).heard);
  expect(heard.filter((words) => !/^Paid\. Thank you!$/.test(words))).toEqual(['Paying…', expect.stringMatching(/^Paid €42\.00/)]);
});
