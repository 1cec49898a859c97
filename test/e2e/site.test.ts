/**
 * Goal: everybody can use the site of `npm run docs`: no link is broken, and axe finds nothing, in light and dark.
 * Method: builds the site, checks the links of every page, and opens one page of each kind in Chromium.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fitsAnybody } from './support/axe.ts';
import { launch } from './support/playground.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MINUTE = 60_000;
let site: string;
let pages: ReadonlyMap<string, string>;

beforeAll(() => {
  site = mkdtempSync(join(tmpdir(), 'oncefetch-site-'));
  // `npm run typecheck` finds type errors in a tenth of the time.
  const typedoc = [join(root, 'node_modules/typedoc/bin/typedoc'), '--skipErrorChecking', '--out', site];
  const built = spawnSync(process.execPath, typedoc, { cwd: root, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(built.stdout + built.stderr);
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.html'));
  pages = new Map(files.map((path) => [path, readFileSync(join(site, path), 'utf8')]));
}, 5 * MINUTE);
afterAll(() => rmSync(site, { recursive: true, force: true }));

const guides = (): string[] => readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md');

test('has a page for every guide and for every entry', () => {
  const names = [...pages.keys()];
  for (const guide of guides()) expect(names.join('\n').toLowerCase()).toContain(`documents/${guide.replace('.md', '.html')}`.toLowerCase());
  for (const entry of ['index', 'react', 'ky', 'testing', 'dialects']) expect(names).toContain(`modules/${entry}.html`);
});

test('no link is broken', () => {
  const broken: string[] = [];
  let followed = 0;
  for (const [path, html] of pages) {
    for (const [, href = ''] of html.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      if (/^[a-z]+:/.test(href)) continue;
      const [to = '', anchor = ''] = href.split('#');
      const target = to === '' ? path : normalize(join(dirname(path), decodeURIComponent(to)));
      const there = pages.get(target);
      followed++;
      if (target.endsWith('.html') || to === '' ? there === undefined : !readdirSync(join(site, dirname(target))).includes(relative(dirname(target), target)))
        broken.push(`${path}: ${href}`);
      else if (anchor && there && !there.includes(`id="${decodeURIComponent(anchor)}"`)) broken.push(`${path}: ${href}, no such heading`);
    }
  }
  expect(followed).toBeGreaterThan(500);
  expect([...new Set(broken)]).toEqual([]);
});

test('no table has a column without a name', () => {
  expect([...pages].filter(([, html]) => /<th(?: [^>]*)?><\/th>/.test(html)).map(([path]) => path)).toEqual([]);
});

const KINDS = `index.html modules.html hierarchy.html documents/checkout.html documents/cost.html modules/index.html functions/index.createonce.html
  types/index.outcome.html interfaces/index.onceerror.html classes/testing.faults.html variables/testing.faultnames.html`.split(/\s+/);

describe('a page of each kind', () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await launch()));
  afterAll(() => browser?.close());

  test.each(KINDS)('axe finds nothing on %s', async (kind) => {
    const path = [...pages.keys()].find((name) => name.toLowerCase() === kind);
    if (path === undefined) throw new Error('The site has no such page');
    const page = await browser.newPage();
    await page.goto(pathToFileURL(join(site, path)).href);
    // The theme's script fills the menu.
    await page.getByRole('navigation', { name: 'All pages' }).getByText('Loading...').waitFor({ state: 'detached' });
    await fitsAnybody({ page }, kind);
    await page.close();
  });
});
