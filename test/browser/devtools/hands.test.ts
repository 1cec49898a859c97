/**
 * Goal: everybody can use the panel, on any page: by keyboard alone, in light and dark, under a strict content security policy. Method: real
 * key presses, and a page whose policy forbids inline styles.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { colour, order, panelOf, paper, watched } from './support.js';

afterEach(() => void document.body.replaceChildren());

test.each(['light', 'dark'] as const)('in %s colours the panel has a background of that scheme', (scheme) => {
  const { eyes } = watched();
  colour(eyes.root, scheme);
  expect(paper(eyes)).toBe(scheme === 'dark' ? 'rgb(22, 25, 29)' : 'rgb(255, 255, 255)');
});

describe('by keyboard', () => {
  test('opens, moves through the list, and returns the focus to the button when it closes', async () => {
    const { shop, once, eyes } = watched({}, {});
    for (const n of [1, 2, 3]) await once.fetch(shop.url, order('pay', n));
    const opener = eyes.button('oncefetch');
    expect(opener.getAttribute('aria-expanded')).toBe('false');
    await expect.poll(() => opener.textContent).toBe('oncefetch');
    opener.focus();
    opener.click(); // Enter and Space cause this click
    await expect.poll(() => eyes.rows).toEqual(['pay / 3: done', 'pay / 2: done', 'pay / 1: done']);
    eyes.all('[role=option]')[0]?.focus();
    const at = () => (eyes.root.activeElement as HTMLElement | null)?.querySelector('.name')?.textContent;
    const stops = () => eyes.all('[role=option]').filter(({ tabIndex }) => tabIndex === 0).length;
    expect([at(), stops()]).toEqual(['pay / 3', 1]);
    eyes.press('ArrowDown');
    expect([at(), stops(), eyes.all('h3')[0]?.textContent]).toEqual(['pay / 2', 1, 'pay / 2 done']);
    eyes.press('End');
    eyes.press('ArrowDown');
    expect(at()).toBe('pay / 1');
    eyes.press('Home');
    expect([at(), eyes.all('[aria-selected=true]').length]).toEqual(['pay / 3', 1]);
    // A new row at the top does not take the focus.
    await once.fetch(shop.url, order('pay', 4));
    await eyes.until('pay / 4done');
    expect(at()).toBe('pay / 3');
    eyes.press('Escape');
    expect(eyes.root.activeElement).toBe(eyes.button('oncefetch'));
    expect(eyes.all('.panel')).toEqual([]);
  });

  test('focuses the first row when it opens, and the detail when a focused button disappears', async () => {
    const { shop, once, eyes } = watched({}, {});
    await shop.meets('lose-response');
    await once.fetch(shop.url, { ...order(), once: { operation: ['pay', 1], limits: { attempts: 1 } } }).catch(() => {});
    await eyes.until('1 unsettled');
    eyes.button('oncefetch').click();
    expect((eyes.root.activeElement as HTMLElement).textContent).toContain('pay / 1');
    const settle = eyes.button('Settle as done');
    settle.focus();
    settle.click();
    await eyes.until('pay / 1done');
    expect((eyes.root.activeElement as HTMLElement).className).toBe('detail');
    expect(eyes.all('[role=status]')[0]?.textContent).toBe('Settled: done.');
  });

  test('typing filters operations by name and by the start of a key', async () => {
    const { shop, once, eyes } = watched();
    for (const name of ['pay', 'vote']) await once.fetch(shop.url, order(name, 1));
    await eyes.until('vote / 1done');
    const type = (text: string) => {
      const box = eyes.all<HTMLInputElement>('input[type=search]')[0] as HTMLInputElement;
      box.focus();
      box.value = text;
      box.dispatchEvent(new InputEvent('input', { bubbles: true }));
    };
    type('vot');
    expect(eyes.rows).toEqual(['vote / 1: done']);
    const key = /Key([0-9a-f]{8})/.exec(eyes.text.slice(eyes.text.indexOf('Stored')))?.[1] ?? '';
    type(key);
    expect(eyes.rows).toHaveLength(1);
    expect((eyes.root.activeElement as HTMLInputElement).type).toBe('search');
    type('nothing like it');
    expect(eyes.text).toContain('Nothing matches.');
  });
});

describe('a page', () => {
  test('whose policy forbids inline styles and scripts shows the panel with its layout', async () => {
    const frame = document.createElement('iframe');
    frame.srcdoc = `<!doctype html><meta http-equiv="content-security-policy" content="default-src 'none'; require-trusted-types-for 'script'"><title>strict</title><body>`;
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    document.body.append(frame);
    await loaded;
    const page = frame.contentDocument as Document;
    const broken: string[] = [];
    page.addEventListener('securitypolicyviolation', ({ violatedDirective }) => broken.push(violatedDirective));
    const { shop, once } = watched({}, {});
    const { eyes } = panelOf(once, { open: true, mount: page.body });
    await once.fetch(shop.url, order('pay', 1));
    await eyes.until('pay / 1done');
    const panel = eyes.all('.panel')[0] as Element;
    expect((frame.contentWindow as Window).getComputedStyle(panel).display).toBe('grid');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(broken).toEqual([]);
  });

  test('with global styles does not affect the panel', async () => {
    const style = document.createElement('style');
    style.textContent = 'button { display: none !important } * { font-size: 40px }';
    document.head.append(style);
    const { eyes } = watched();
    expect(getComputedStyle(eyes.button('Report')).fontSize).toBe('13px');
    expect(eyes.button('Report').getClientRects()).toHaveLength(1);
    style.remove();
  });
});
