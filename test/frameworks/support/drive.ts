/**
 * Goal: in apps built with popular frameworks, a customer is charged once for each cart, and is told so. Method: builds
 * and starts each app as its framework does, and opens it in real Chromium. A proxy loses answers of the app, and the
 * bank behind the app loses its own answers. The bank's ledger is the judge.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { browserNamed, executableOf, howToGet } from '../../../scripts/browsers.mjs';
import type { App } from './apps.ts';
import { hydrated, World } from './world.ts';

const made = join(import.meta.dirname, '../../../.tmp/frameworks');
const reasonFile = join(made, 'missing');
const chromium = browserNamed('chromium');
const missing = existsSync(reasonFile) ? readFileSync(reasonFile, 'utf8') : executableOf(chromium) ? undefined : `there is no Chromium: ${howToGet(chromium)}`;

const PAID = /^Paid\. Receipt no\. \d+\.$/;
/** With or without a receipt: a browser that got the outcome itself has no receipt until it reloads. */
const DONE = /^Paid\./;
const NOT_PAID = 'Not paid. Nothing was charged.';
const UNSURE = 'Not sure yet. Pay again: you will be charged once.';
const LOST = 'Not sure yet whether you have paid.';

const EVERY = Number.POSITIVE_INFINITY;
const NO_SCRIPT = { javaScriptEnabled: false };

const says = (page: Page, words: string | RegExp): Promise<void> => page.getByRole('status').filter({ hasText: words }).waitFor();
const pay = (page: Page): Promise<void> => page.getByRole('button', { name: 'Pay' }).click({ noWaitAfter: true });

/** Runs the same tests on each app. */
export function drive(app: App): void {
  describe(app.name, () => (missing === undefined ? suite(app) : absent(missing)));
}

function absent(why: string): void {
  test('an app that runs', ({ skip }) => {
    if (process.env['CI']) throw new Error(why);
    skip(why);
  });
}

function suite(app: App): void {
  let world: World;
  beforeAll(async () => {
    world = await World.start(app);
  });
  afterAll(() => world?.stop());
  afterEach(() => world.clear());

  describe.each(['/action', '/form', ...app.pages])('%s', (path) => {
    withScript(path, () => world);
    withoutScript(path, () => world);
  });
  describe('a lost answer of the app', () => lost(['/action', ...app.pages], () => world));
  describe('a log-out before a press', () => loggedOut(['/action', '/form', ...app.pages], () => world));

  test('nothing about oncefetch is printed when the app is built, started and used', () => {
    const said = readFileSync(join(made, `${app.folder}.log`), 'utf8') + world.server.said();
    expect(said.split('\n').filter((line) => /once/i.test(line))).toEqual([]);
  });
}

function withScript(path: string, world: () => World): void {
  test('two clicks and Enter: one charge, and the page says so, now and after a reload', async () => {
    const page = await world().customer(path);
    const complaints: string[] = [];
    page.on('console', (message) => void (['error', 'warning'].includes(message.type()) && complaints.push(message.text())));
    page.on('pageerror', (error) => void complaints.push(String(error)));
    await page.getByRole('button', { name: 'Pay' }).dblclick({ noWaitAfter: true });
    await page.getByLabel('Card').press('Enter', { noWaitAfter: true });
    await says(page, DONE);
    await page.reload();
    await says(page, PAID);
    await world().chargedOnce();
    expect(complaints).toEqual([]);
  });

  test('a declined card is not charged, the next one is', async () => {
    const page = await world().customer(path);
    await page.getByLabel('Card').fill('4000000000000002');
    await pay(page);
    await says(page, NOT_PAID);
    expect(world().charges()).toEqual([]);
    await page.getByLabel('Card').fill('4242424242424242');
    await pay(page);
    await says(page, DONE);
    await world().chargedOnce();
  });

  test('the bank charges and its answers are lost: the page is not sure, even after a reload; another press pays, with one charge', async () => {
    const page = await world().customer(path);
    await world().bankLoses();
    await pay(page);
    await world().charged();
    await says(page, UNSURE);
    await page.reload();
    await hydrated(page);
    await says(page, UNSURE);
    await world().bankIsWell();
    await pay(page);
    await says(page, DONE);
    await world().chargedOnce();
  });
}

function withoutScript(path: string, world: () => World): void {
  test('without script, from two tabs at once: one charge', async () => {
    const page = await world().customer(path, NO_SCRIPT);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await Promise.all([pay(page), pay(other)]);
    await Promise.all([says(page, PAID), says(other, PAID)]);
    await world().chargedOnce();
  });

  test('without script, the answer is lost and the old form is sent again: one charge', async () => {
    const page = await world().customer(path, NO_SCRIPT);
    const old = await page.context().newPage();
    await old.goto(page.url());
    world().proxy.lose(EVERY);
    await pay(page);
    await world().answerLost();
    world().proxy.lose(0);
    await pay(old);
    await says(old, PAID);
    await world().chargedOnce();
  });
}

function lost(actions: readonly string[], world: () => World): void {
  test.each(actions)('to the action %s: the page is not sure, and says paid after it has asked the server; one charge', async (path) => {
    const page = await world().customer(path);
    world().proxy.lose(EVERY);
    await pay(page);
    await says(page, LOST);
    world().proxy.lose(0);
    await page.getByRole('button', { name: 'Look' }).click();
    await says(page, PAID);
    await world().chargedOnce();
  });

  test('to a form, for a while: the page tries again by itself and says paid; one charge', async () => {
    const page = await world().customer('/form');
    world().proxy.lose(2);
    await pay(page);
    await says(page, DONE);
    expect(world().proxy.lost).toBe(2);
    await world().chargedOnce();
  });

  test('to a form, and a reload in the middle: the page says paid, and another press charges nothing', async () => {
    const page = await world().customer('/form');
    world().proxy.lose(EVERY);
    await pay(page);
    await world().answerLost();
    await page.reload();
    await hydrated(page);
    await says(page, PAID);
    world().proxy.lose(0);
    const answer = page.waitForResponse('**/api/payments');
    await pay(page);
    expect((await answer).status()).toBe(201);
    await world().chargedOnce();
  });
}

function loggedOut(paths: readonly string[], world: () => World): void {
  const saysSo = async (page: Page): Promise<void> => {
    await pay(page);
    await page.getByText('Please log in.').waitFor();
    expect(await page.getByText('Not sure').count()).toBe(0);
    expect(world().charges()).toEqual([]);
  };

  test.each(paths)('in another tab, %s: nothing is charged, and the page says to log in, not that it is not sure', async (path) => {
    const page = await world().customer(path);
    await page.context().clearCookies();
    await saysSo(page);
  });

  test('that only the server knows of, /form: the same, and a press after the log-in is charged once', async () => {
    const page = await world().customer('/form');
    const user = await page.context().cookies();
    await page.route('**/api/payments', async (route) => {
      const { cookie: _, ...headers } = await route.request().allHeaders();
      await route.continue({ headers });
    });
    await page.context().clearCookies();
    // The page's own script still sees the user.
    await page.evaluate(() => void Object.defineProperty(document, 'cookie', { get: () => 'user=ann' }));
    await saysSo(page);
    await page.unroute('**/api/payments');
    await page.context().addCookies(user);
    await page.reload();
    await hydrated(page);
    await pay(page);
    await says(page, DONE);
    await world().chargedOnce();
  });
}
