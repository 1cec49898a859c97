/** The checkout, used through its roles and texts. */
import type { Locator, Page } from 'playwright';

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

  /** Waits until the status line has this text. */
  async says(words: RegExp | string): Promise<void> {
    await this.status.filter({ hasText: words }).waitFor();
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.page.getByRole('heading', { name: 'Payment' }).waitFor();
  }
}
