/**
 * Goal: what the server has rendered as done for one user settles nothing of another one, and nothing that began later. Method: the page stays, and somebody
 * else logs in; or whoever is here presses once more.
 */
import { operation, pending, refresh } from 'oncefetch';
import { defineOnceForm, type OnceFormElement } from 'oncefetch/form';
import { expect, test, vi } from 'vitest';
import { client, host, lineOf, show, withForms } from '../support/form.js';
import { Shop } from '../support/shop.js';

withForms();

const DONE = 'operation="pay 1" known="done"';

/** Bob's payment is lost; then the page is rendered for `first`, and Bob logs in. */
async function bobComes(first: string | undefined) {
  const shop = new Shop();
  const [ann, bob] = [`${shop.namespace}-ann`, `${shop.namespace}-bob`];
  let user: string | undefined = bob;
  const once = client(shop, { namespace: () => user, limits: { attempts: 1 } });
  await shop.meets('lose-response');
  await operation(once, ['pay', '1'])
    .fetch(shop.url, { method: 'POST', body: 'a=1' })
    .catch(() => {});
  user = first && ann;
  const page = show({ shop, once, element: DONE });
  if (first) await expect.poll(() => page.element.state).toBe('done');
  user = bob;
  refresh(once);
  return { page, once };
}

test('for whoever was here before: the open operation of whoever logs in stays open', async () => {
  const { page, once } = await bobComes('ann');
  await page.says(/^Not sure yet/);
  expect(await pending(once)).toHaveLength(1);
});

test('before the page knew its user: it is said of the first one', async () => {
  const { page, once } = await bobComes(undefined);
  await expect.poll(() => page.element.state).toBe('done');
  await vi.waitFor(async () => expect(await pending(once)).toEqual([]));
});

test('and said anew, by the server or the app: it is said of whoever is here then', async () => {
  const { page, once } = await bobComes('ann');
  await page.says(/^Not sure yet/);
  page.element.setAttribute('known', 'done');
  refresh(once);
  await vi.waitFor(async () => expect(await pending(once)).toEqual([]));
});

test.each(['never', 'always'] as const)('for an earlier press: what is pressed since, with repeat %s, stays open', async (repeat) => {
  const page = show({ element: DONE, client: { limits: { attempts: 1 } }, options: { call: () => ({ repeat }) } });
  await expect.poll(() => page.element.state).toBe('done');
  await page.shop.meets('lose-response');
  page.press();
  await page.says(/^Not sure yet/);
  refresh(page.once);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await pending(page.once)).toHaveLength(1);
  expect(page.element.state).toBe('unknown');
});

test('for an earlier press, by a clock that was ahead: what is pressed since stays open', async () => {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
  const page = show({ element: DONE, client: { limits: { attempts: 1 } }, options: { call: () => ({ repeat: 'always' }) } });
  clock.mockRestore();
  await expect.poll(() => page.element.state).toBe('done');
  await page.shop.meets('lose-response');
  page.press();
  await page.says(/^Not sure yet/);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([page.element.state, await pending(page.once)]).toEqual(['unknown', [expect.anything()]]);
});

test('for an earlier press: a refusal of what is pressed since stays on the screen, also where the element is moved', async () => {
  const fetch = (async () => Response.json({ title: 'No.' }, { status: 402 })) as unknown as typeof globalThis.fetch;
  const page = show({ element: DONE, client: { fetch }, options: { call: () => ({ repeat: 'if-changed' }) } });
  await expect.poll(() => page.element.state).toBe('done');
  page.press();
  await page.says('No.');
  page.element.parentElement?.append(page.element);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([page.status(), page.element.state]).toEqual(['No.', 'refused']);
  page.element.setAttribute('known', 'done');
  page.element.parentElement?.append(page.element);
  await expect.poll(() => [page.status(), page.element.state]).toEqual(['', 'done']);
});

test('for an earlier press: what is said of a later one stays on the screen', async () => {
  const page = show({ element: DONE, options: { call: () => ({ repeat: 'always' }) } });
  await expect.poll(() => page.element.state).toBe('done');
  page.press();
  await page.says('Done.');
  refresh(page.once);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([page.status(), page.element.state]).toEqual(['Done.', 'done']);
});

test('and said, or taken back, while the page stays: that shows at once', () => {
  const page = show();
  page.element.setAttribute('known', 'done');
  expect(page.element.state).toBe('done');
  page.element.removeAttribute('known');
  expect(page.element.state).toBe('');
});

test.each([
  ['had stored', { transferSize: 0 }],
  ['had fetched in advance (speculation rules)', { transferSize: 330, deliveryType: 'navigational-prefetch' }],
])('in a page that the browser %s: what was pressed since it was rendered stays open', async (_, entry) => {
  const tag = `once-form-of-${crypto.randomUUID()}`;
  const shop = new Shop();
  const once = client(shop, { limits: { attempts: 1 } });
  await shop.meets('lose-response');
  await operation(once, ['pay', '1'])
    .fetch(shop.url, { method: 'POST', body: 'a=1', once: { repeat: 'always' } })
    .catch(() => {});
  const entries = vi.spyOn(performance, 'getEntriesByType').mockReturnValue([entry as PerformanceNavigationTiming]);
  host.innerHTML = `<${tag} ${DONE}><form method="post" action="${shop.url}"></form></${tag}>`;
  defineOnceForm(once, { tag });
  const element = host.firstElementChild as OnceFormElement;
  await expect.poll(() => element.state).toBe('unknown');
  entries.mockRestore();
  expect(await pending(once)).toHaveLength(1);
  // Said anew, while the page stays, it is of now.
  element.setAttribute('known', 'done');
  await vi.waitFor(async () => expect(await pending(once)).toEqual([]));
});

test('in a copy of the page that a framework had kept: what was pressed since it was rendered stays open', async () => {
  const page = show({ element: DONE, client: { limits: { attempts: 1 } }, options: { call: () => ({ repeat: 'always' }) } });
  await page.shop.meets('lose-response');
  page.press();
  await page.says(/^Not sure yet/);
  const copy = page.element.cloneNode(true) as OnceFormElement;
  page.element.replaceWith(copy);
  await expect.poll(() => lineOf(copy)?.textContent).toMatch(/^Not sure yet/);
  expect(await pending(page.once)).toHaveLength(1);
  // Said anew, it is of now.
  copy.setAttribute('known', 'done');
  await vi.waitFor(async () => expect(await pending(page.once)).toEqual([]));
});

test.each([
  ['call', { options: { call: () => ({ repeat: 'always' as const }) } }, 1],
  ['client', { client: { repeat: 'always' } }, 1],
  ['nobody: it is done for ever', {}, 0],
] as const)(
  'in an element that a framework had fetched before: what was pressed in this document stays open, if it may be done again (%s says so)',
  async (_, asked, open) => {
    const page = show({ ...asked, client: { ...('client' in asked && asked.client), limits: { attempts: 1 } } });
    await page.shop.meets('lose-response');
    page.press();
    await page.says(/^Not sure yet/);
    // As Turbo does with a page that it has fetched when the mouse was over its link, and Next with one that it has kept.
    host.innerHTML = `<${page.element.localName} ${DONE}><form method="post" action="${page.shop.url}"></form></${page.element.localName}>`;
    const fetched = host.firstElementChild as OnceFormElement;
    await expect.poll(() => fetched.state).toBe(open ? 'unknown' : 'done');
    await vi.waitFor(async () => expect(await pending(page.once)).toHaveLength(open));
    // Said anew, it is of now.
    fetched.setAttribute('known', 'done');
    await vi.waitFor(async () => expect(await pending(page.once)).toEqual([]));
  },
);
