/** A tab with the playground, used through its roles and texts, as by a customer. */
import type { Locator, Page } from 'playwright';
import { expect } from 'vitest';

/** Long enough for a busy machine. */
const WAIT_MS = 40_000;

export type Card = 'accepted' | 'declined';

export class Tab {
  readonly page: Page;
  readonly plain: LaneOnScreen;
  readonly once: LaneOnScreen;
  readonly banner: Locator;

  constructor(page: Page) {
    this.page = page;
    this.plain = new LaneOnScreen(page, 'plain fetch');
    this.once = new LaneOnScreen(page, 'oncefetch');
    this.banner = page.getByText(/^A payment of .* is still being confirmed/);
  }

  /** Waits until the page has asked the server at least once. */
  async loaded(): Promise<void> {
    await this.plain.root.locator('[data-part=next]', { hasText: /\w/ }).waitFor({ timeout: WAIT_MS });
    await this.once.status.filter({ hasText: /\w/ }).waitFor();
  }

  /** Another tab of the same customer. */
  async another(): Promise<Tab> {
    const [page] = await Promise.all([this.page.context().waitForEvent('page'), this.page.getByRole('link', { name: 'Open a second tab' }).click()]);
    const tab = new Tab(page);
    await tab.loaded();
    return tab;
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.loaded();
  }

  /** Chooses a fault in the panel, and waits until the server has it. */
  async choose(fault: string, times: 'the first request' | 'the first 3 requests' | 'every request' = 'the first request'): Promise<void> {
    const panel = this.page.locator('details', { hasText: 'What goes wrong' });
    if ((await panel.getAttribute('open')) === null) await panel.locator('summary').click();
    await panel.getByRole('combobox').selectOption({ label: times });
    const radio = panel.getByRole('radio', { name: fault, exact: true });
    await radio.check();
    const name = await radio.getAttribute('value');
    const count = { 'the first request': 1, 'the first 3 requests': 3, 'every request': null }[times];
    const armed = async () =>
      ((await (await fetch(new URL('/api/faults', this.page.url()))).json()) as { armed: { fault: string; times: number | null }[] }).armed;
    const wanted = fault === 'Nothing' ? [] : [name, name].map((fault) => ({ fault, times: count }));
    await expect.poll(async () => (await armed()).map(({ fault, times }) => ({ fault, times })), { timeout: 20_000, interval: 20 }).toEqual(wanted);
    await panel.locator('summary').click();
  }

  async quantity(bags: number): Promise<void> {
    await this.page.getByLabel('Bags of coffee').fill(String(bags));
  }

  async card(card: Card): Promise<void> {
    await this.page.getByLabel('Card').selectOption(card === 'accepted' ? 'works' : 'declined');
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }
}

export class LaneOnScreen {
  readonly root: Locator;
  readonly status: Locator;
  readonly attempts: Locator;

  constructor(page: Page, name: string) {
    this.root = page.getByRole('region', { name });
    this.status = this.root.getByRole('status');
    this.attempts = this.root.getByRole('list').getByRole('listitem');
  }

  button(name: string | RegExp): Locator {
    return this.root.getByRole('button', { name });
  }

  async pay(): Promise<void> {
    await this.button(/^Pay/).click();
  }

  async mash(): Promise<void> {
    await this.button('Mash Pay').click();
  }

  /**
   * Waits for "Paid", and presses Pay if the lane gave up before. This is right only if the machine is so busy that attempts
   * time out, or if a restart takes longer than all attempts. Elsewhere one click must be enough.
   */
  async insist(): Promise<void> {
    const look = async (): Promise<string> => {
      const said = (await this.status.textContent()) ?? '';
      if (/^(Ready|Not|Check)/.test(said)) await this.button(/^Pay/).click({ timeout: 5000 });
      return said;
    };
    await expect.poll(() => look().catch(String), { timeout: 90_000, interval: 100 }).toMatch(/^Paid/);
  }

  /** Expects one click to be enough. Presses again only if at least two attempts have timed out. */
  async paidByOneClick(): Promise<void> {
    await this.says(/^(Paid|Not sure yet)/);
    const late = await this.attempts.filter({ hasText: 'no answer in time' }).count();
    if (late < 2) await this.says(/^Paid/);
    await this.insist();
  }

  async check(): Promise<void> {
    await this.button('Check my payment').click();
  }

  /** Waits until the status line of the lane has this text. */
  async says(words: RegExp | string): Promise<void> {
    await this.status.filter({ hasText: words }).waitFor({ timeout: WAIT_MS });
  }

  /** Waits until the page shows this verdict of the ledger. */
  async verdict(words: RegExp | string): Promise<void> {
    await this.root.getByText(words).waitFor({ timeout: WAIT_MS });
  }

  /** The receipt on the screen, as data. */
  async receipt(): Promise<{ readonly amount: number; readonly id: number }> {
    await this.says(/Receipt no\./);
    const said = (await this.status.textContent()) ?? '';
    const [, euros, cents, id] = /Paid €(\d+)\.(\d\d)\. Thank you! Receipt no\. (\d+)\./.exec(said) ?? [];
    return { amount: Number(euros) * 100 + Number(cents), id: Number(id) };
  }
}
