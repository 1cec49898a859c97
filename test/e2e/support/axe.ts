/** axe-core over a tab. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright';
import { expect } from 'vitest';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Runs every axe rule, including best practices. */
export async function noViolations({ page }: { readonly page: Page }, state: string): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source);
  const violations = await page.evaluate(async () => {
    // Without the results of passed rules: on a page with long tables, collecting them takes as long as the check itself.
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, { resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`);
  });
  expect(violations.join('\n'), state).toBe('');
}

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 360, height: 740 };

/** Checks that axe finds nothing and nothing scrolls sideways, in light on a desktop and in dark on a narrow phone. */
export async function fitsAnybody(tab: { readonly page: Page }, state: string): Promise<void> {
  for (const [viewport, colorScheme] of [
    [DESKTOP, 'light'],
    [PHONE, 'dark'],
  ] as const) {
    await tab.page.setViewportSize(viewport);
    await tab.page.emulateMedia({ colorScheme });
    await noViolations(tab, `${state}, ${colorScheme}`);
    const wide = await tab.page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide, `${state}, width`).toBeLessThanOrEqual(viewport.width);
  }
}
