/** Goal: a screen reader can use the panel. Method: axe in each state, in both colour schemes. */
import axe from 'axe-core';
import { describe, expect, test } from 'vitest';
import { colour, order, paper, watched } from './support.js';

/** Runs every rule of axe on the panel. */
async function noViolations(host: Element): Promise<void> {
  const { violations } = await axe.run(host);
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`)).toEqual([]);
}

describe.each(['light', 'dark'] as const)('in %s colours axe finds nothing', (scheme) => {
  test('closed, empty, with operations, with a question, and in the report', async () => {
    const { shop, once, eyes } = watched({}, {});
    colour(eyes.root, scheme);
    await noViolations(eyes.host);
    eyes.button('oncefetch').click();
    await eyes.until('Nothing yet.');
    await noViolations(eyes.host);
    await once.fetch(shop.url, order('pay', 1));
    await shop.meets('lose-response');
    await once.fetch(shop.url, { ...order(), once: { operation: ['pay', 2], limits: { attempts: 1 } } }).catch(() => {});
    await eyes.until('pay / 2unsettled');
    await noViolations(eyes.host);
    eyes.button('Settle as none').click();
    await noViolations(eyes.host);
    eyes.choose('pay / 1');
    await noViolations(eyes.host);
    expect(paper(eyes)).toBe(scheme === 'dark' ? 'rgb(22, 25, 29)' : 'rgb(255, 255, 255)');
    eyes.button('Report').click();
    await noViolations(eyes.host);
  });
});
