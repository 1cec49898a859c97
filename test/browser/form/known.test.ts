/**
 * Goal: `known="done"`, rendered for one user, settles no operation of another user, and none that began later. Method: the page
 * stays, and another user logs in or the same user presses again.
 */
import { operation, pending, refresh } from 'oncefetch';
import { defineOnceForm, type OnceFormElement } from 'oncefetch/form';
import { expect, onTestFinished, test, vi } from 'vitest';
import { client, host, lineOf, show, withForms } from '../support/form.js';
import { Shop } from '../support/shop.js';
import { written } from '../support/written.js';

withForms();

const DONE = 'operation="pay 1" known="done"';

/** The answer to Bob's payment is lost. Then the page is rendered for `first`, and Bob logs in. */
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

test('known for the user before: the unsettled operation of the user who logs in stays unsettled', async () => {
  const { page, once } = await bobComes('ann');
  await page.says(/^Not sure yet/);
  expect(await pending(once)).toHaveLength(1);
});

test('known before the page knew its user: it counts for the first user', async () => {
  const { page, once } = await bobComes(undefined);
  await expect.poll(() => page.element.state).toBe('done');
  await expect.poll(() => pending(once)).toEqual([]);
});

test('known again, set by the server or the app: it counts for the user who is logged in then', async () => {
  const { page, once } = await bobComes('ann');
  await page.says(/^Not sure yet/);
  page.element.setAttribute('known', 'done');
  refresh(once);
  await expect.poll(() => pending(once)).toEqual([]);
});

test.each(['never', 'always'] as const)('known for an earlier press: a later press, with repeat %s, stays unsettled', async (repeat) => {
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

test('known for an earlier press, by a clock that was ahead: a later press stays unsettled', async () => {
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

test('known for an earlier press: the refusal of a later press stays on the screen, also if the element is moved', async () => {
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

test('known for an earlier press: the end of a later press stays on the screen', async () => {
  const page = show({ element: DONE, options: { call: () => ({ repeat: 'always' }) } });
  await expect.poll(() => page.element.state).toBe('done');
  page.press();
  await page.says('Done.');
  refresh(page.once);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([page.status(), page.element.state]).toEqual(['Done.', 'done']);
});

test('known set or removed while the page stays: the state changes at once', () => {
  const page = show();
  page.element.setAttribute('known', 'done');
  expect(page.element.state).toBe('done');
  page.element.removeAttribute('known');
  expect(page.element.state).toBe('');
});

/** Another tab has pressed, and its answer was lost. */
async function lostInAnotherTab(shop = new Shop()) {
  const once = client(shop, { limits: { attempts: 1 } });
  await shop.meets('lose-response');
  await operation(once, ['pay', '1'])
    .fetch(shop.url, { method: 'POST', body: 'a=1', once: { repeat: 'always' } })
    .catch(() => {});
  return { shop, once };
}

test.each(['before', 'after'] as const)(
  'known in the HTML of a page, parsed %s the element was defined: a press in another tab since the page began to load stays unsettled',
  async (parsed) => {
    const inside = await written();
    // A page at about:srcdoc looks as if it came from the cache.
    vi.spyOn(inside.performance, 'getEntriesByType').mockReturnValue([{ transferSize: 330 } as PerformanceNavigationTiming]);
    const { shop, once } = await lostInAnotherTab();
    const html = `<once-form ${DONE}><form method="post" action="${shop.url}"></form></once-form>`;
    const define = () => inside.oncefetch.defineOnceForm(inside.oncefetch.createOnce({ namespace: shop.namespace }));
    if (parsed === 'before') inside.document.body.innerHTML = html;
    define();
    if (parsed === 'after') {
      inside.document.open();
      inside.document.write(html);
      inside.document.close();
    }
    const element = inside.document.querySelector('once-form') as OnceFormElement;
    await expect.poll(() => element.state).toBe('unknown');
    expect(await pending(once)).toHaveLength(1);
    // Setting it again while the page stays refers to the present.
    element.setAttribute('known', 'done');
    await expect.poll(() => pending(once)).toEqual([]);
  },
);

test.each([
  ['had cached', { transferSize: 0 }],
  ['had fetched in advance (speculation rules)', { transferSize: 330, deliveryType: 'navigational-prefetch' }],
])('known in a page that the browser %s: a press after the rendering stays unsettled', async (_, entry) => {
  const tag = `once-form-of-${crypto.randomUUID()}`;
  const { shop, once } = await lostInAnotherTab();
  const entries = vi.spyOn(performance, 'getEntriesByType').mockReturnValue([entry as PerformanceNavigationTiming]);
  host.innerHTML = `<${tag} ${DONE}><form method="post" action="${shop.url}"></form></${tag}>`;
  defineOnceForm(once, { tag });
  const element = host.firstElementChild as OnceFormElement;
  await expect.poll(() => element.state).toBe('unknown');
  entries.mockRestore();
  expect(await pending(once)).toHaveLength(1);
  // Setting it again while the page stays refers to the present.
  element.setAttribute('known', 'done');
  await expect.poll(() => pending(once)).toEqual([]);
});

test('known in a copy of the page that a framework had kept: a press after the rendering stays unsettled', async () => {
  const page = show({ element: DONE, client: { limits: { attempts: 1 } }, options: { call: () => ({ repeat: 'always' }) } });
  await page.shop.meets('lose-response');
  page.press();
  await page.says(/^Not sure yet/);
  const copy = page.element.cloneNode(true) as OnceFormElement;
  page.element.replaceWith(copy);
  await expect.poll(() => lineOf(copy)?.textContent).toMatch(/^Not sure yet/);
  expect(await pending(page.once)).toHaveLength(1);
  copy.setAttribute('known', 'done');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([copy.state, await pending(page.once)]).toEqual(['unknown', [expect.anything()]]);
  // The next press learns it from the server.
  copy.querySelector('form')?.requestSubmit();
  await expect.poll(() => pending(page.once)).toEqual([]);
});

test.each([
  ['repeat of the call', { options: { call: () => ({ repeat: 'always' as const }) } }, 1],
  ['repeat of the client', { client: { repeat: 'always' } }, 1],
  ['no repeat: it is done for ever', {}, 0],
] as const)(
  'known in an element that a framework had fetched before: a press in this document stays unsettled only if it may be repeated (%s)',
  async (_, asked, open) => {
    const page = show({ ...asked, client: { ...('client' in asked && asked.client), limits: { attempts: 1 } } });
    await page.shop.meets('lose-response');
    page.press();
    await page.says(/^Not sure yet/);
    // Turbo does this with a page that it fetches when the mouse is over its link, and Next with a page that it has kept.
    host.innerHTML = `<${page.element.localName} ${DONE}><form method="post" action="${page.shop.url}"></form></${page.element.localName}>`;
    const fetched = host.firstElementChild as OnceFormElement;
    await expect.poll(() => fetched.state).toBe(open ? 'unknown' : 'done');
    await expect.poll(() => pending(page.once)).toHaveLength(open);
    // So it does when a framework sets it again: the page from which it does that may be fetched before the press, too.
    fetched.removeAttribute('known');
    fetched.setAttribute('known', 'done');
    await expect.poll(() => fetched.state).toBe(open ? 'unknown' : 'done');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await pending(page.once)).toHaveLength(open);
    // The next press learns it from the server.
    if (open) fetched.querySelector('form')?.requestSubmit();
    await expect.poll(async () => [fetched.state, await pending(page.once)]).toEqual(['done', []]);
    await page.shop.oneEffect();
  },
);

test.each([
  ['the name first: the operation that the element shows next', ['operation', 'known'], '1', '2'],
  ['`known` first: the operation that the element showed before', ['known', 'operation'], '2', '1'],
] as const)('a framework gives the element another operation and sets its attributes one by one, %s stays unsettled', async (_, order, done, open) => {
  const shop = new Shop();
  const once = client(shop, { limits: { attempts: 1 } });
  await shop.meets('lose-request');
  await operation(once, ['pay', open])
    .fetch(shop.url, { method: 'POST', body: 'a=1' })
    .catch(() => {});
  const attributes = (id: string) => ({ operation: `pay ${id}`, known: id === done ? 'done' : null });
  const page = show({ shop, once, element: `operation="pay 1"${done === '1' ? ' known="done"' : ''}` });
  await expect.poll(() => page.element.state).toBe(done === '1' ? 'done' : 'unknown');
  for (const name of order) {
    const value = attributes('2')[name];
    if (value === null) page.element.removeAttribute(name);
    else page.element.setAttribute(name, value);
  }
  await expect.poll(() => page.element.state).toBe(done === '2' ? 'done' : 'unknown');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await pending(once)).map(({ name }) => name)).toEqual([['pay', open]]);
});

test.each([
  ['repeat of the call', { options: { call: () => ({ repeat: 'always' as const }) } }],
  ['repeat of the client', { client: { repeat: 'always' } }],
] as const)('known in an element that a framework had fetched before: a press in another tab since the page began stays unsettled (%s)', async (_, asked) => {
  const { shop, once } = await lostInAnotherTab();
  const page = show({ shop, element: DONE, ...asked });
  await expect.poll(() => page.element.state).toBe('unknown');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await pending(once)).toHaveLength(1);
  // So it does when a framework sets it again: the page from which it does that may be fetched before the press, too.
  page.element.setAttribute('known', 'done');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([page.element.state, await pending(once)]).toEqual(['unknown', [expect.anything()]]);
  // The next press learns it from the server.
  page.press();
  await expect.poll(() => pending(once)).toEqual([]);
});

test('known in an element that a framework inserts: a press before the page began is settled, also if it may be repeated', async () => {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - performance.now() - 60_000);
  const { shop, once } = await lostInAnotherTab();
  clock.mockRestore();
  const page = show({ shop, element: DONE, client: { repeat: 'always' } });
  await expect.poll(() => page.element.state).toBe('done');
  await expect.poll(() => pending(once)).toEqual([]);
});

test.each([
  ['ahead after a press in another tab, as where the browser does not count the sleep of the device', 3_600_000],
  ['back before a press in another tab', -3_600_000],
])('known in an element that a framework inserts, by a clock that was set %s: the press stays unsettled', async (_, ms) => {
  const shop = new Shop();
  const page = show({ shop, element: 'operation="pay 2"', client: { repeat: 'always' } });
  const now = Date.now.bind(Date);
  const set = () => vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
  onTestFinished(() => void vi.mocked(Date.now).mockRestore());
  if (ms < 0) set();
  const { once } = await lostInAnotherTab(shop);
  if (ms > 0) set();
  const { localName, innerHTML } = page.element;
  page.element.outerHTML = `<${localName} ${DONE}>${innerHTML}</${localName}>`;
  await expect.poll(() => host.querySelector<OnceFormElement>(localName)?.state).toBe('unknown');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await pending(once)).toHaveLength(1);
});
