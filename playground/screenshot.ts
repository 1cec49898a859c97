/**
 * Takes the pictures for `docs/images`, each for a desktop and a phone: the front page and the screens of the checkout,
 * used as a visitor would use them.
 *
 * node playground/screenshot.ts [--out docs/images]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright';
import { browsers, executableOf } from '../scripts/browsers.mjs';
import { buildPage } from './page/build.ts';
import { type Shop, startShop } from './start-shop.ts';

const { values: args } = parseArgs({
  options: { out: { type: 'string', default: fileURLToPath(new URL('../docs/images', import.meta.url)) } },
});

/** Longer than the server keeps an idle connection open. When an open connection breaks, Chromium sends a POST again by itself. */
const COLD_MS = 6000;

/** A visitor's first minute: two carts under two faults. */
async function visit(page: Page): Promise<void> {
  const plain = page.getByRole('region', { name: 'plain fetch' });
  await choose(page, '503 after charging');
  await payBoth(page);
  await plain.getByText('Payment failed').waitFor();
  await page.waitForTimeout(COLD_MS);
  await page.getByRole('button', { name: 'New cart' }).click();
  await choose(page, 'Lose the response');
  await payBoth(page);
  await plain.getByText('Charged 2 times').waitFor();
}

async function choose(page: Page, fault: string): Promise<void> {
  await page.getByText('What goes wrong').click();
  await page.getByRole('radio', { name: fault, exact: true }).check();
  await page.getByText('What goes wrong').click();
}

async function payBoth(page: Page): Promise<void> {
  await page
    .getByText(/^The next request (is|loses)/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Pay in both lanes' }).click();
  await page.getByRole('region', { name: 'oncefetch' }).getByText('and the customer knows').waitFor();
}

/** Goes through the screens of the checkout, and calls `shoot` at each one. */
async function checkOut(page: Page, shop: Shop, shoot: (screen: string) => Promise<void>): Promise<void> {
  const status = page.getByRole('region', { name: 'Payment' }).getByRole('status');
  const pay = page.getByRole('button', { name: /^Pay €/ });
  const faults = page.getByLabel('What goes wrong');
  await page.goto(`${shop.url}/checkout/`);
  await page.getByLabel('Card').selectOption('4000000000000002');
  await pay.click();
  await status.getByText(/declined/).waitFor();
  await shoot('declined');
  await page.getByLabel('Card').selectOption('4242424242424242');
  await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST' && response.url().endsWith('/api/faults')),
    faults.selectOption('lose-response'),
  ]);
  await pay.click();
  await status.getByText(/still finding out/).waitFor();
  await shoot('unsure');
  await faults.selectOption('none');
  await page.getByRole('button', { name: 'Check my payment' }).click();
  await status.getByText(/^Paid €/).waitFor();
  await shoot('paid');
}

/**
 * The panel for developers, after a payment whose answer was lost by the panel itself. The package contains this
 * picture, so it is small.
 */
async function shootPanel(page: Page, shop: Shop, path: string): Promise<void> {
  await page.setViewportSize({ width: 760, height: 600 });
  await page.goto(`${shop.url}/?devtools&seed=7`);
  await page.getByRole('button', { name: 'New cart' }).click();
  await page.getByRole('button', { name: /^oncefetch: checkout/ }).click();
  await page.getByLabel('Lose the next answer').check();
  await page
    .getByRole('region', { name: 'oncefetch', exact: true })
    .getByRole('button', { name: /^Pay €/ })
    .click();
  await page.getByRole('listitem').filter({ hasText: 'Read as replayed' }).waitFor();
  await page.getByRole('heading', { name: 'Timeline' }).evaluate((heading) => heading.scrollIntoView());
  await page.mouse.move(0, 0);
  const panel = await page.getByRole('dialog', { name: 'oncefetch: checkout devtools' }).boundingBox();
  if (panel) await page.screenshot({ path, clip: panel, type: 'jpeg', quality: 28, scale: 'css' });
}

const SIZES = [
  { suffix: '', viewport: { width: 1200, height: 900 }, readme: true },
  { suffix: '-phone', viewport: { width: 360, height: 780 }, readme: false },
] as const;
const SCALE = 1.5;

const folder = mkdtempSync(join(tmpdir(), 'oncefetch-page-'));
const executable = executableOf(browsers[0] as (typeof browsers)[number]);
const browser = await chromium.launch({ ...(executable && { executablePath: executable }), args: ['--no-sandbox', '--disable-gpu'] });
try {
  await buildPage(folder);
  for (const { suffix, viewport, readme } of SIZES) {
    const shop = await startShop({ public: folder, 'charge-ms': 300 });
    const page = await browser.newPage({ viewport, deviceScaleFactor: SCALE, reducedMotion: 'reduce' });
    await page.goto(`${shop.url}/?seed=7`);
    await visit(page);
    // Moves the pointer away, so that no button is drawn as hovered.
    await page.mouse.move(0, 0);
    const lanes = await page.locator('#lanes').boundingBox();
    const height = lanes ? Math.ceil(lanes.y + lanes.height + 16) : undefined;
    // The package contains README's picture, so it is small.
    const path = join(args.out, readme ? 'playground.jpg' : `playground${suffix}.png`);
    await page.screenshot({
      path,
      ...(readme && { type: 'jpeg', quality: 40, scale: 'css' }),
      fullPage: true,
      ...(height && { clip: { x: 0, y: 0, width: viewport.width, height } }),
    });
    await checkOut(page, shop, async (screen) => {
      await page.screenshot({ path: join(args.out, `checkout-${screen}${suffix}.png`), fullPage: true });
    });
    if (readme) await shootPanel(page, shop, join(args.out, 'devtools.jpg'));
    await page.close();
    await shop.stop();
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
