/**
 * Goal: on each screen of the checkout that teams copy, a customer is charged once for what they meant, and the screen tells
 * the truth. Method: real Chromium, a real server with faults, and its SQLite ledger as judge.
 */
import { test as anyTest, describe, expect } from 'vitest';
import { CheckoutPage } from './support/checkout.ts';
import { inPlayground, playground } from './support/playground.ts';

inPlayground();

const open = async (): Promise<CheckoutPage> => new CheckoutPage(await playground.visitor('/checkout/'));
const test = anyTest.extend('shop', () => open());

const UNSURE = /^We are still finding out whether you have paid €42\.00\. Check, or pay again: you will be charged once\./;
const DECLINED = 'Your card was declined. Nothing was charged.';

/** The amounts in the ledger. Fails if a cart was charged twice. */
async function ledger(): Promise<readonly number[]> {
  await playground.calm();
  const charges = playground.charges('default');
  expect(new Set(charges.map(({ cart }) => cart)).size, 'no cart is charged twice').toBe(charges.length);
  return charges.map(({ amount }) => amount);
}
const keys = (): number => playground.shop.query("SELECT 1 FROM idempotency_keys WHERE lane = 'default'").length;

/** Pays with a fault, by default one that charges and loses the answer. The screen is unsure, then the network works again. */
async function unsure(shop: CheckoutPage, fault = 'lose-response'): Promise<void> {
  await playground.breakNetwork(fault, undefined, 'default');
  await shop.pay();
  await shop.says(UNSURE);
  await playground.mendNetwork();
}

describe('leaving the page', () => {
  /** Closes the page as the browser's close button does. Resolves with whether the browser asked. */
  const close = async ({ page }: CheckoutPage): Promise<boolean> => {
    const asked = new Promise<boolean>((resolve) => {
      page.on('dialog', (dialog) => {
        resolve(dialog.type() === 'beforeunload');
        void dialog.accept();
      });
      page.on('close', () => resolve(false));
    });
    await page.close({ runBeforeUnload: true });
    return asked;
  };

  test('while it pays: the browser asks, and a customer who leaves is charged once', async ({ shop }) => {
    await playground.breakNetwork('hang-after-commit', undefined, 'default');
    await shop.pay();
    await expect.poll(() => playground.charges('default').length).toBe(1);
    expect(await close(shop)).toBe(true);
    await playground.mendNetwork();
    expect(await ledger()).toEqual([4200]);
  });

  test('before and after a payment: the browser does not ask', async () => {
    const early = await open();
    await early.bags(2);
    expect(await close(early)).toBe(false);
    const late = await open();
    await late.pay();
    await late.says(/^Paid/);
    expect(await close(late)).toBe(false);
  });
});

describe('the happy path', () => {
  test('Enter, and five clicks at the same moment: one charge', async ({ shop }) => {
    // The answer comes late enough for the clicks, which Playwright sends one message after Enter.
    await playground.breakNetwork('delay', 1, 'default');
    const pay = shop.button(/^Pay €/);
    await pay.focus();
    await shop.page.keyboard.press('Enter');
    await pay.evaluate((button: HTMLButtonElement) => {
      for (let click = 0; click < 5; click++) button.click();
    });
    await shop.says(/^Paid/);
    expect(await ledger()).toEqual([4200]);
    expect(keys()).toBe(1);
  });

  test('another cart afterwards is another charge', async ({ shop }) => {
    await shop.pay();
    await shop.says(/^Paid/);
    await shop.button('Shop again').click();
    await shop.bags(1);
    await shop.pay();
    await shop.says(/^Paid €21\.00\. Thank you! Receipt no\. \d+\.$/);
    expect(await ledger()).toEqual([4200, 2100]);
    expect(await shop.status.textContent()).toContain(`no. ${playground.charges('default')[1]?.id}.`);
  });
});

test('a declined card, then a corrected one: one charge, under another key', async ({ shop }) => {
  await shop.card('declined');
  await shop.pay();
  await shop.says(DECLINED);
  expect(await ledger()).toEqual([]);
  await shop.card('accepted');
  await shop.pay();
  await shop.says(/^Paid/);
  expect(await ledger()).toEqual([4200]);
  expect(keys()).toBe(2);
});

describe('a cart that is edited while its payment is unsure', () => {
  test('after a charge: the first payment stands, and the screen says so', async ({ shop }) => {
    await unsure(shop);
    await shop.bags(3);
    await shop.says(/You have changed your cart since: if €42\.00 was paid, that stands\.$/);
    await shop.pay();
    await shop.says(/^Paid €42\.00\. .* This is the cart as it was before you changed it\.$/);
    expect(await ledger()).toEqual([4200]);
  });

  test('without a charge: the edited cart is charged once', async ({ shop }) => {
    await unsure(shop, 'lose-request');
    await shop.bags(3);
    await shop.pay();
    await shop.says(/^Paid €63\.00\. Thank you! Receipt no\. \d+\.$/);
    expect(await ledger()).toEqual([6300]);
    expect(keys()).toBe(1);
  });
});

describe('a reload', () => {
  test('of an unsettled payment: the screen still says so, and Check shows the receipt', async ({ shop }) => {
    await unsure(shop);
    await shop.reload();
    await shop.says(UNSURE);
    await shop.button('Check my payment').click();
    await shop.says(/^Paid €42\.00/);
    expect(await ledger()).toEqual([4200]);
  });

  test('in the middle of an attempt, three times: one charge', async ({ shop }) => {
    await playground.breakNetwork('delay', undefined, 'default');
    for (let reloads = 0; reloads < 3; reloads++) {
      await shop.pay();
      await shop.says('Paying…');
      await shop.reload();
      await shop.says(UNSURE);
    }
    await playground.mendNetwork();
    await shop.pay();
    await shop.says(/^Paid €42\.00/);
    expect(await ledger()).toEqual([4200]);
  });

  test('with another cart on the screen: the banner names the unsettled payment, and its Check ends it', async ({ shop }) => {
    await unsure(shop);
    // Without the stored cart, the shop starts a new one for this customer.
    await shop.page.evaluate(() => {
      for (const key of Object.keys(localStorage)) if (key.startsWith('shop.cart.')) localStorage.removeItem(key);
    });
    await shop.reload();
    await shop.banner.getByText('Your payment of €42.00 is still being confirmed.').waitFor();
    await shop.banner.getByRole('button', { name: 'Check' }).click();
    await shop.banner.getByText('The payment of €42.00 was made.').waitFor();
    expect(await ledger()).toEqual([4200]);
  });
});

describe('one device, several users', () => {
  const logIn = async (shop: CheckoutPage, name: string): Promise<void> => {
    await shop.button(`Log in as ${name}`).click();
    await shop.account.getByText(`You are ${name}`).waitFor();
  };
  const stored = (shop: CheckoutPage): Promise<string> =>
    shop.page.evaluate(async () => {
      const texts: string[] = [];
      for (const { name } of await indexedDB.databases()) {
        const db = await new Promise<IDBDatabase>((resolve, reject) => {
          const asked = indexedDB.open(name as string);
          asked.onsuccess = () => resolve(asked.result);
          asked.onerror = () => reject(asked.error);
        });
        for (const store of db.objectStoreNames) {
          const all = db.transaction(store).objectStore(store).getAll();
          await new Promise((resolve) => void (all.onsuccess = resolve));
          texts.push(JSON.stringify(all.result));
        }
        db.close();
      }
      return texts.join('\n');
    });

  test('log-out keeps the unsettled payment for its user alone; after the next log-in, Pay ends it with one charge', async ({ shop }) => {
    await logIn(shop, 'Anna');
    await unsure(shop);
    expect(await stored(shop)).toContain('4242424242424242');

    await shop.button('Log out').click();
    await shop.account.getByText('A payment is still being confirmed. We will show it when you log in again.').waitFor();
    expect(await stored(shop), 'nothing that can be read').not.toContain('4242424242424242');
    await logIn(shop, 'Bert');
    await shop.bags(1);
    await shop.pay();
    await shop.says(/^Paid €21\.00/);
    expect(await shop.banner.count()).toBe(0);

    await shop.button('Log out').click();
    await shop.account.getByText('You are logged out.').waitFor();
    await logIn(shop, 'Anna');
    // The log-out has also cleared the amount.
    await shop.says(/^We are still finding out whether you have paid\. Check/);
    const turnTo = (cart: string): Promise<void> => shop.page.evaluate((cart) => localStorage.setItem('shop.cart.user-anna', cart), cart);
    const cart = (await shop.page.evaluate(() => localStorage.getItem('shop.cart.user-anna'))) as string;
    await turnTo('{"id":"another","bags":1}');
    await shop.reload();
    await shop.banner.getByText('Your payment is still being confirmed.').waitFor();
    await turnTo(cart);
    await shop.reload();
    // The log-out has cleared her request. Pressing Pay sends it again, under the same key.
    await shop.pay();
    await shop.says(/^Paid €42\.00/);
    expect(await ledger()).toEqual([4200, 2100]);
    expect(keys()).toBe(2);
  });

  test('a guest who logs in takes the unsettled payment along: one charge, one key', async ({ shop }) => {
    await unsure(shop);
    await logIn(shop, 'Anna');
    await shop.says(UNSURE);
    await shop.button('Check my payment').click();
    await shop.says(/^Paid €42\.00/);
    expect(await ledger()).toEqual([4200]);
    expect(keys()).toBe(1);
  });

  test('a log-in during which the store fails and the page is reloaded: the next page moves the payment first', async ({ shop }) => {
    await unsure(shop);
    await shop.page.evaluate(() => {
      IDBDatabase.prototype.transaction = () => {
        throw new DOMException('the disk', 'UnknownError');
      };
    });
    await shop.button('Log in as Anna').click();
    await shop.account.getByText('You are Anna').waitFor();
    expect(await shop.button(/^Pay €/).count(), 'nothing can be pressed before').toBe(0);
    await shop.reload();
    await shop.says(UNSURE);
    await shop.pay();
    await shop.says(/^Paid €42\.00/);
    expect(await ledger()).toEqual([4200]);
    expect(keys()).toBe(1);
  });

  test('a log-in during which the store fails, then a log-out: the payment goes to nobody else who logs in', async ({ shop }) => {
    await unsure(shop);
    await shop.page.evaluate(() => {
      const { transaction } = IDBDatabase.prototype;
      Object.assign(globalThis, { mend: () => Object.assign(IDBDatabase.prototype, { transaction }) });
      IDBDatabase.prototype.transaction = () => {
        throw new DOMException('the disk', 'UnknownError');
      };
    });
    await logIn(shop, 'Anna');
    // The log-out succeeds even if the store fails.
    await shop.button('Log out').click();
    await shop.account.getByText('You are logged out, but this device could not be cleared.').waitFor();
    await logIn(shop, 'Bert');
    await shop.page.evaluate(() => (globalThis as unknown as { mend(): void }).mend());
    await shop.button(/^Pay €/).waitFor();
    await shop.page.waitForTimeout(1500);
    expect([await shop.status.textContent(), await shop.banner.count()]).toEqual(['', 0]);
    await shop.button('Log out').click();
    await logIn(shop, 'Anna');
    await shop.says(UNSURE);
    await shop.pay();
    await shop.says(/^Paid €42\.00/);
    expect(await ledger()).toEqual([4200]);
    expect(keys()).toBe(1);
  });

  test('a guest after that log-out is a different guest, and sees no payment', async ({ shop }) => {
    await unsure(shop);
    await logIn(shop, 'Anna');
    await shop.says(UNSURE);
    await shop.button('Log out').click();
    await shop.account.getByText('You are Guest').waitFor();
    expect(await shop.status.textContent()).toBe('');
    expect(await shop.banner.count()).toBe(0);
  });
});
