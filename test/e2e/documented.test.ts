/**
 * Goal: every snippet of README and of the guides for pages can be copied into a page unchanged, and keeps working
 * after a lost answer, after a reload, and after a log-out and the log-in of another user, in any order. Method: takes
 * each snippet from its Markdown file, bundles it as an app would, and runs it in real Chromium. The shop's count of
 * charges per customer is the judge. Another user must see what a device shows that nobody has used before.
 */
import type { Browser, BrowserContext, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Fence, fencesOf, readPages } from '../docs/support/markdown.ts';
import type { Stage } from './documented/page.ts';
import { type DocumentedShop, nameOf, openShop } from './documented/shop.ts';
import { launch } from './support/playground.ts';

declare const stage: Stage;

/** Every snippet of these guides is tested. In other guides, those snippets are tested that say how many charges they make. */
const WHOLE = ['README.md', 'docs/options.md', 'docs/react.md', 'docs/resume.md'];
const all = readPages()
  .flatMap(fencesOf)
  .filter(({ path, language, wants }) => /^(tsx?|jsx?)$/.test(language) && (WHOLE.includes(path) || wants.has('page charges')));
/** Snippets for servers and snippets that are only type-checked do not run on a page. */
const onPages = all.filter(({ wants }) => wants.get('place')?.[0] !== 'node' && !wants.has('types only'));
const programs = onPages.filter(({ wants }) => !wants.has('page'));
const screens = onPages.filter(({ wants }) => wants.has('page'));
const byId = (id: string): Fence => onPages.find(({ wants }) => wants.get('id')?.[0] === id) as Fence;
const named = (fences: readonly Fence[]) => fences.map((fence) => [`${fence.path}:${fence.line}`, fence] as const);

let shop: DocumentedShop;
let browser: Browser;
beforeAll(async () => {
  [shop, browser] = await Promise.all([openShop(onPages), launch()]);
});
afterAll(async () => {
  await browser?.close();
  await shop?.close();
});

const contexts: BrowserContext[] = [];
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
  shop.reset();
});

/** A device with its own browser, on which a user is logged in. */
class Device {
  readonly page: Page;
  readonly faults: string[] = [];
  /** The component on the screen, if the snippet is one. */
  readonly #screen: Fence | undefined;

  private constructor(page: Page, screen: Fence | undefined) {
    this.page = page;
    this.#screen = screen;
    page.on('pageerror', (error) => this.faults.push(String(error)));
    // The browser logs each lost answer as an error, which is expected here.
    page.on('console', (line) => line.type() === 'error' && !line.text().startsWith('Failed to load resource') && this.faults.push(line.text()));
  }

  static async of(user: string, screen?: Fence): Promise<Device> {
    const context = await browser.newContext();
    contexts.push(context);
    await context.addCookies([{ name: 'user', value: user, url: shop.origin }]);
    const device = new Device(await context.newPage(), screen);
    await device.load();
    return device;
  }

  async load(): Promise<void> {
    await this.page.goto(`${shop.origin}/page${this.#screen ? `?screen=${nameOf(this.#screen)}` : ''}`);
    await this.page.waitForFunction(() => 'stage' in globalThis);
    if (this.#screen) await this.rests();
  }

  run(fence: Fence): Promise<{ shown: readonly string[]; ends: string; outcome?: string }> {
    return this.page.evaluate((path) => stage.run(path), `/${nameOf(fence)}.js`);
  }

  open(): Promise<void> {
    return this.page.evaluate(() => stage.open());
  }

  /** Logs out as the guide shows, then logs the next user in. */
  async change(user: string): Promise<void> {
    const cookies = await this.page.context().cookies();
    if (cookies.find(({ name }) => name === 'user')?.value) expect((await this.run(byId('log-out'))).ends).toBe('well');
    await this.page.evaluate((user) => stage.logIn(user), user);
  }

  /** The text on the screen, once it no longer changes. */
  async rests(): Promise<string> {
    let before: string | undefined;
    for (let same = 0; same < 3; ) {
      await this.page.waitForTimeout(60);
      const now = await this.page.locator('body').innerText();
      same = now === before ? same + 1 : 0;
      before = now;
    }
    return before as string;
  }

  /** Presses the first button on the screen. */
  async press(): Promise<string> {
    const button = this.page.getByRole('button').first();
    if ((await button.count()) > 0) await button.click();
    return this.rests();
  }

  async lost(work: () => Promise<unknown>): Promise<void> {
    shop.lose(true);
    await work();
    shop.lose(false);
  }
}

const number = (fence: Fence, name: string, otherwise: number): number => Number(fence.wants.get(name)?.[0] ?? otherwise);
/** Whether the snippet begins a payment itself. Other snippets only show unsettled payments, so for them the test begins one. */
const begins = (fence: Fence): boolean => fence.wants.get('setup')?.[0] !== 'unsettled' && number(fence, 'page charges', 1) > 0;

test('the guides contain programs, screens and the log-out', () => {
  expect(programs.length).toBeGreaterThan(5);
  expect(screens.length).toBeGreaterThan(3);
  expect(byId('log-out').path).toBe('docs/log-out.md');
  // No test would run a component that is not mounted.
  expect(onPages.filter(({ language, wants }) => language === 'tsx' && !wants.has('page'))).toEqual([]);
});

describe('a program', () => {
  test.each(named(programs))('%s: a lost answer, a reload, a log-out, another user, and back', async (_, fence) => {
    const ann = await Device.of('ann');
    const once = number(fence, 'page charges', 1);
    await ann.lost(() => (begins(fence) ? ann.run(fence) : ann.open()));
    await ann.load();
    await ann.change('bert');
    const bert = await ann.run(fence);
    const stranger = await (await Device.of('carl')).run(fence);
    expect(bert, 'another user sees what a stranger sees').toEqual(stranger);
    expect(bert.ends).toBe('well');
    await ann.change('ann');
    const back = await ann.run(fence);
    expect(back.ends).toMatch(/^(well|done|unknown)$/);
    if (begins(fence)) expect(back.ends).toBe('well');
    expect(shop.charges('ann')).toBe(Math.max(1, once));
    await ann.load();
    expect((await ann.run(fence)).ends).toMatch(/^(well|done|unknown)$/);
    expect(shop.charges('ann')).toBe(number(fence, 'page charges again', Math.max(1, once)));
    expect(ann.faults).toEqual([]);
  });

  test.each(named(programs.filter(begins)))('%s: one answer is lost, and the program retries', async (_, fence) => {
    const ann = await Device.of('ann');
    shop.lose(true);
    const running = ann.run(fence);
    await expect.poll(() => shop.charges('ann')).toBeGreaterThan(0);
    shop.lose(false);
    const { ends, outcome } = await running;
    expect(ends, outcome).toBe('well');
    expect(shop.charges('ann')).toBe(number(fence, 'page charges', 1));
    expect(ann.faults).toEqual([]);
  });
});

describe('a screen', () => {
  test.each(named(screens))('%s: a lost answer, a reload, a log-out, another user, and back', async (_, fence) => {
    const ann = await Device.of('ann', fence);
    const empty = await ann.rests();
    await ann.lost(async () => {
      await (begins(fence) ? ann.press() : ann.open());
      await ann.rests();
    });
    const unsure = await ann.rests();
    expect(unsure).not.toBe(empty);
    expect(shop.charges('ann')).toBe(1);
    await ann.load();
    if (!fence.wants.has('forgets')) expect(await ann.rests(), 'it is known after a reload').not.toBe(empty);

    await ann.change('bert');
    expect(await ann.rests(), 'another user sees what a stranger sees').toBe(empty);
    const carl = await Device.of('carl', fence);
    expect(await ann.press()).toBe(await carl.press());
    expect(shop.charges('bert')).toBe(shop.charges('carl'));

    await ann.change('ann');
    await ann.press();
    await ann.load();
    await ann.press();
    expect(shop.charges('ann')).toBe(1);
    expect([...ann.faults, ...carl.faults]).toEqual([]);
  });

  test.each(named(screens.filter(begins)))('%s: one answer is lost, and the customer does not notice', async (_, fence) => {
    const ann = await Device.of('ann', fence);
    const empty = await ann.rests();
    shop.lose('next');
    await ann.page.getByRole('button').first().click();
    await expect.poll(() => shop.charges('ann')).toBe(1);
    await expect.poll(() => ann.rests()).not.toBe(empty);
    expect(await ann.rests()).toMatch(/Paid|success/);
    await ann.press();
    expect(shop.charges('ann')).toBe(1);
    expect(ann.faults).toEqual([]);
  });

  test.each(named(screens.filter(begins)))('%s: does not show a refusal as paid, and shows a payment as paid after a reload', async (_, fence) => {
    const ann = await Device.of('ann', fence);
    shop.refuse(402);
    expect(await ann.press()).toMatch(/Not paid/);
    shop.refuse(401); // A 401 may come from a gateway while a copy of the request has reached the shop.
    expect(await ann.press()).toMatch(/Not sure yet/);
    shop.refuse(undefined);
    expect(await ann.press()).toMatch(/Paid/);
    await ann.load();
    expect(await ann.press()).toMatch(/Paid/);
    expect(shop.charges('ann')).toBe(1);
    expect(ann.faults).toEqual([]);
  });
});
