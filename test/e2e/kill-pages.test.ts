/**
 * Goal: pages that are reloaded, closed and crashed in the middle of a payment leave one charge per cart and no untrue outcome, in each
 * browser. Method: the game of `scripts/kill-pages.ts`, ten kills each; `npm run test:long` plays three hundred.
 */
import { describe, expect, test } from 'vitest';
import { browsers, executablesOf } from '../../scripts/browsers.mjs';
import { play } from '../../scripts/kill-pages/play.ts';

const here = browsers.filter((browser) => executablesOf(browser) !== undefined);

describe.each(here)('$name', ({ name }) => {
  test('ten pages killed at random moments: one charge per cart, nothing lost, no untrue outcome', async () => {
    const scores = (await play({ engine: name, kills: 10, seed: Date.now() % 1_000_000 })) ?? expect.unreachable();
    expect(scores.flatMap(({ violations }) => violations)).toEqual([]);
    expect(scores.map(({ kind }) => kind)).toEqual(['reload', 'close', 'crash']);
    expect(scores.reduce((sum, { kills }) => sum + kills, 0)).toBe(10);
    expect(scores.reduce((sum, { effects }) => sum + effects, 0)).toBeGreaterThan(0);
  });
});

test('the judge finds the duplicates that plain fetch makes', async () => {
  const scores = (await play({ engine: here[0]?.name ?? 'chromium', kills: 10, seed: 1, plain: true })) ?? expect.unreachable();
  expect(scores.reduce((sum, { duplicates }) => sum + duplicates, 0)).toBeGreaterThan(0);
  expect(scores.flatMap(({ violations }) => violations)).not.toEqual([]);
});
