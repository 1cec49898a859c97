/** The checkout on the screen, used by its roles and words. */
import type { Locator, Page } from 'playwright';
import { expect } from 'vitest';

export class CheckoutPage {
  readonly page: Page;
  readonly status: Locator;
  readonly banner: Locator;
  readonly account: Locator;

  constructor(page: Page) {
    this.page = page;
    this.status = page.getByRole('region', { name: 'Payment' }).getByRole('status');
    this.banner = page.getByRole('complementary', { name: 'An open payment' });
    this.account = page.getByRole('navigation', { name: 'Account' });
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  async pay(): Promise<void> {
    await this.button(/^Pay €/).click();
  }

  async card(does: 'accepted' | 'declined'): Promise<void> {
    await this.page.getByLabel('Card').selectOption({ label: does === 'accepted' ? '4242, is accepted' : '0002, is declined' });
  }

  async bags(count: number): Promise<void> {
    await this.page.getByLabel('Bags of coffee').fill(String(count));
  }

  /** Waits until the customer is told this. */
  async says(words: RegExp | string): Promise<void> {
    await this.status.filter({ hasText: words }).waitFor();
  }

  /** Presses Check as often as it takes: a server that starts again may need longer than one check. */
  async checkUntil(words: RegExp): Promise<void> {
    const told = this.status.filter({ hasText: words });
    const check = this.button('Check my payment');
    await expect
      .poll(
        async () => {
          if (await check.isEnabled({ timeout: 100 }).catch(() => false)) await check.click({ timeout: 1000 }).catch(() => {});
          return told.count();
        },
        { timeout: 60_000, interval: 500 },
      )
      .toBe(1);
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.page.getByRole('heading', { name: 'Payment' }).waitFor();
  }
}
