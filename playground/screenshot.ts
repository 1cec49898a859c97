/**
 * Takes the pictures for `docs/images`: the front page, used as a visitor would use it, and the panel for developers. The package contains both,
 * so they are small. Without any loss, libjpeg's `jpegtran -copy none -optimize -progressive` makes them 6 % smaller.
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

const { values: args } = parseArgs({ options: { out: { type: 'string', default: fileURLToPath(new URL('../docs/images', import.meta.url)) } } });

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

/** The panel for developers, after a payment whose answer was lost by the panel itself. */
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

const VIEWPORT = { width: 1200, height: 900 };
const SCALE = 1.5;

const folder = mkdtempSync(join(tmpdir(), 'oncefetch-page-'));
const executable = executableOf(browsers[0] as (typeof browsers)[number]);
const browser = await chromium.launch({ ...(executable && { executablePath: executable }), args: ['--no-sandbox', '--disable-gpu'] });
try {
  await buildPage(folder);
  const shop = await startShop({ public: folder, 'charge-ms': 300 });
  const page = await browser.newPage({ viewport: VIEWPORT, deviceScaleFactor: SCALE, reducedMotion: 'reduce' });
  await page.goto(`${shop.url}/?seed=7`);
  await visit(page);
  // Moves the pointer away, so that no button is drawn as hovered.
  await page.mouse.move(0, 0);
  const lanes = await page.locator('#lanes').boundingBox();
  const clip = lanes && { x: 0, y: 0, width: VIEWPORT.width, height: Math.ceil(lanes.y + lanes.height + 16) };
  await page.screenshot({ path: join(args.out, 'playground.jpg'), type: 'jpeg', quality: 35, scale: 'css', fullPage: true, ...(clip && { clip }) });
  await shootPanel(page, shop, join(args.out, 'devtools.jpg'));
  await shop.stop();
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
