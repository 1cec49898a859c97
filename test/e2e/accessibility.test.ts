/**
 * Goal: everybody can use every state of the page: axe finds nothing, in light and dark, on a desktop and on a narrow
 * phone; nothing scrolls sideways; everything works by keyboard with a visible focus; a screen reader announces each
 * thing once. Method: the test reaches each state as a customer does.
 */
import { afterAll, test as anyTest, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { fitsAnybody, noViolations } from './support/axe.ts';
import { inPlayground, playground } from './support/playground.ts';
import type { Tab } from './support/tab.ts';

inPlayground({ keep: true });

const test = anyTest.extend('tab', () => {
  // Pages that stay open go on asking for the ledger, and keep the processor busy.
  onTestFinished(() => playground.clear());
  return playground.customer();
});

const STATES: Readonly<Record<string, (tab: Tab) => Promise<void>>> = {
  ready: async (tab) => tab.choose('Nothing'),
  'everything unfolded': async (tab) => {
    for (const summary of await tab.page.locator('summary').all()) await summary.click();
    await tab.page.getByRole('radio', { name: 'Nothing' }).waitFor();
    await tab.page.getByText('postWithRetry').waitFor();
  },
  paying: async (tab) => {
    await tab.choose('Delay');
    await tab.button('Pay in both lanes').click();
    await tab.once.button('Cancel').waitFor();
  },
  'paid, and paid twice': async (tab) => {
    await tab.choose('Truncate');
    await tab.button('Pay in both lanes').click();
    await tab.once.insist();
    await tab.plain.verdict(/^Charged 2 times/);
    await tab.page.getByRole('cell', { name: 'duplicate' }).first().waitFor();
  },
  'failed, and not sure': async (tab) => {
    await tab.choose('503 after charging', 'every request');
    await tab.button('Pay in both lanes').click();
    await tab.plain.says(/^Payment failed/);
    await tab.once.says(/^Not sure yet/);
  },
  'the banner': async (tab) => {
    await playground.chargeSlowly();
    await tab.button('Pay, and reload mid-flight').click();
    await tab.banner.waitFor();
  },
  declined: async (tab) => {
    await tab.choose('Nothing');
    await tab.card('declined');
    await tab.button('Pay in both lanes').click();
    await tab.once.says(/declined/);
    await tab.plain.says(/declined/);
  },
  'not sure after a refusal, and a cart given up as lost': async (tab) => {
    await tab.choose('Refuse once (401)', 'every request');
    await tab.button('Pay in both lanes').click();
    await tab.once.says(/^Not sure/);
    await tab.plain.says(/^Payment failed/);
    await tab.button('New cart').click();
    await tab.page.locator('[data-count=lost] .trouble').waitFor();
  },
  'the server is down': async (tab) => {
    await tab.page.route('**/api/ledger', (route) => route.abort());
    await tab.page.getByText('The server is down.').waitFor();
  },
};

describe('axe finds nothing and nothing scrolls sideways', () => {
  let tab: Tab;
  beforeAll(async () => void (tab = await playground.customer()));
  afterAll(() => playground.clear());

  test.each(Object.keys(STATES))('%s', async (state) => {
    await playground.startOver(tab);
    await STATES[state]?.(tab);
    await fitsAnybody(tab, state);
  });
});

test('the check notices a violation', async ({ tab }) => {
  await tab.page.evaluate(() => document.querySelector('h1')?.insertAdjacentHTML('afterend', '<button></button>'));
  await expect(noViolations(tab, 'broken')).rejects.toThrow('button-name');
});

describe('by keyboard', () => {
  const focused = (tab: Tab) =>
    tab.page.evaluate(() => {
      const { activeElement: element } = document;
      const { outlineStyle, outlineWidth } = getComputedStyle(element as Element);
      // After the last element, the body has the focus again.
      const label = element === document.body ? '' : (element?.closest('label')?.textContent ?? element?.textContent ?? '');
      return { says: label.replace(/\s+/g, ' ').trim(), outline: outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth) };
    });

  test('Tab reaches everything in reading order, with a visible focus', async ({ tab }) => {
    const reached: string[] = [];
    for (let presses = 0; presses < 40; presses++) {
      await tab.page.keyboard.press('Tab');
      const { says, outline } = await focused(tab);
      if (says === '' || reached.at(0) === says) break;
      expect(outline, says).toBeGreaterThanOrEqual(2);
      reached.push(says);
    }
    const order = [
      'Skip to the two lanes',
      'A checkout to copy, in React',
      'A plain form',
      'once-form',
      'Going on without the page',
      'Play',
      /^Link to run \d+$/,
      'Bags of coffee',
      /^Card/,
      /^What goes wrong/,
      'Pay in both lanes',
      'Pay, and reload mid-flight',
      'Open a second tab',
      'New cart',
      'Start over',
      'Pay €42.00',
      'Mash Pay',
      'The code of this lane',
      'Pay €42.00',
      'Mash Pay',
      'The code of this lane',
    ];
    expect(reached.slice(0, order.length)).toEqual(order.map((words) => (typeof words === 'string' ? words : expect.stringMatching(words))));
  });

  test('a customer chooses a fault, pays, checks and is paid, and never loses the focus', async ({ tab }) => {
    const { keyboard } = tab.page;
    const tabTo = async (words: RegExp) => {
      for (let presses = 0; presses < 40; presses++) {
        if (words.test((await focused(tab)).says)) return;
        await keyboard.press('Tab');
      }
      throw new Error(`no way to ${words}`);
    };
    await tabTo(/^What goes wrong/);
    await keyboard.press('Enter');
    await keyboard.press('Tab');
    // The list continues after "Lose the response": Delay, 503, 503 after charging.
    for (const fault of ['Delay', '503', '503 after charging']) {
      await keyboard.press('ArrowDown');
      expect(await tab.page.getByRole('radio', { name: fault, exact: true }).isChecked()).toBe(true);
    }
    await keyboard.press('Tab');
    await keyboard.press('End');
    await tab.once.root.getByText(/^Every request is charged/).waitFor();
    await tabTo(/^Mash Pay/);
    await keyboard.press('Tab');
    await tabTo(/^Pay €42/);
    await keyboard.press('Enter');
    await tab.once.says(/^Not sure yet/);
    await keyboard.press('Tab');
    await tabTo(/^Check my payment/);
    await tab.choose('Nothing');
    await tab.once.button('Check my payment').focus();
    await keyboard.press('Space');
    await tab.once.says(/^Paid/);
    expect((await focused(tab)).says).toMatch(/^Paid/);
    expect(await playground.exactlyOnce()).toHaveLength(1);
  });

  test('the skip link leads to the lanes', async ({ tab }) => {
    await tab.page.keyboard.press('Tab');
    await tab.page.keyboard.press('Enter');
    await tab.page.keyboard.press('Tab');
    expect((await focused(tab)).says).toBe('Pay €42.00');
  });
});

test('a screen reader announces each thing once, however many attempts it takes', async ({ tab }) => {
  await tab.choose('503 after charging', 'the first 3 requests');
  await tab.page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(window, { heard });
    for (const region of document.querySelectorAll('[role=status], [aria-live]'))
      new MutationObserver(() => heard.push(region.textContent ?? '')).observe(region, { childList: true, characterData: true, subtree: true });
  });
  await tab.once.pay();
  await tab.once.says(/^Paid/);
  await expect.poll(() => tab.once.attempts.count()).toBeGreaterThan(4);
  const heard = await tab.page.evaluate(() => (window as unknown as { heard: string[] }).heard);
  expect(heard).toEqual(['Paying…', expect.stringMatching(/^Paid €42\.00/)]);
});

test('the timeline is a list that says in words what its bars show', async ({ tab }) => {
  await tab.choose('Truncate');
  await tab.once.pay();
  await tab.once.says(/^Paid/);
  const says = (await tab.once.attempts.allTextContents()).map((text) => text.replace(/\s+/g, ' '));
  expect(says).toEqual([
    expect.stringMatching(/^Attempt 1: HTTP 201, cut off in the middle key …\w{4} \d\.\d s$/),
    expect.stringMatching(/^waits, then asks again \d\.\d s$/),
    expect.stringMatching(/^Attempt 2: HTTP 201, the stored answer of an earlier attempt key …\w{4} \d\.\d s$/),
    'Done: an earlier attempt had charged',
  ]);
});
