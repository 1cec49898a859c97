/**
 * Makes `docs/images/playground.png` (desktop) and `playground-phone.png`: the page, used as a visitor would.
 *
 *     node playground/screenshot.ts [--out docs/images]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright';
import { browsers, executableOf } from '../scripts/browsers.mjs';
import { buildPage } from './page/build.ts';
import { startShop } from './start-shop.ts';

const { values: args } = parseArgs({
  options: { out: { type: 'string', default: fileURLToPath(new URL('../docs/images', import.meta.url)) } },
});

/** How long a server keeps a connection warm. Chromium re-sends a POST by itself when a warm one breaks, which is another story. */
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

const SHOTS = [
  { file: 'playground.png', viewport: { width: 1200, height: 900 }, scale: 1.5, whole: true },
  { file: 'playground-phone.png', viewport: { width: 360, height: 780 }, scale: 1.5, whole: false },
] as const;

const folder = mkdtempSync(join(tmpdir(), 'oncefetch-page-'));
const executable = executableOf(browsers[0] as (typeof browsers)[number]);
const browser = await chromium.launch({ ...(executable && { executablePath: executable }), args: ['--no-sandbox', '--disable-gpu'] });
try {
  await buildPage(folder);
  for (const { file, viewport, scale, whole } of SHOTS) {
    const shop = await startShop({ public: folder, 'charge-ms': 300 });
    const page = await browser.newPage({ viewport, deviceScaleFactor: scale, reducedMotion: 'reduce' });
    await page.goto(shop.url);
    await visit(page);
    // Not the customer's next click.
    await page.mouse.move(0, 0);
    const lanes = await page.locator('#lanes').boundingBox();
    const height = whole || !lanes ? undefined : Math.ceil(lanes.y + lanes.height + 16);
    await page.screenshot({ path: join(args.out, file), fullPage: true, ...(height && { clip: { x: 0, y: 0, width: viewport.width, height } }) });
    await page.close();
    await shop.stop();
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
