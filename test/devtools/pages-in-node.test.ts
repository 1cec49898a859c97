// @vitest-environment jsdom
/** Goal: an app whose tests run in jsdom, with the panel left on, does not break by it. Method: a page without constructable style sheets. */
import { expect, test, vi } from 'vitest';
import { devtools } from '../../src/entries/devtools.js';
import { createOnce, forget, memoryStore, pending, requests } from '../../src/entries/index.js';

test('the panel is there, shows a payment, and goes', async () => {
  const once = createOnce({ namespace: 'u-1', store: memoryStore(), fetch: async () => Response.json({ id: 1 }) });
  const close = devtools(once, { open: true });
  const text = () => document.querySelector('oncefetch-devtools')?.shadowRoot?.textContent ?? '';
  const paid = await once.fetch('http://shop.test/pay', { method: 'POST', body: '{}', once: ['pay', 1] });
  expect(await paid.json()).toEqual({ id: 1 });
  await vi.waitFor(() => expect(text()).toContain('Read as fresh'));
  close();
  expect(document.querySelector('oncefetch-devtools')).toBeNull();
});

test('a fetch that gives what cannot be copied works as without the panel', async () => {
  const odd = { status: 200, type: 'basic', ok: true, redirected: false, headers: new Headers(), body: null, url: '' } as unknown as Response;
  const once = createOnce({ namespace: 'u-2', store: memoryStore(), fetch: async () => odd });
  const close = devtools(once, { open: true });
  expect((await once.fetch('http://shop.test/pay', { method: 'POST', body: '{}', once: ['pay', 1] })).status).toBe(200);
  close();
});

test('a button of a row hits no operation that came under its name since the row was drawn', async () => {
  const lost = async (): Promise<Response> => {
    throw new TypeError('Failed to fetch');
  };
  const once = createOnce({ namespace: 'u-3', store: memoryStore(), fetch: lost, limits: { attempts: 1 } });
  const press = () => once.fetch('http://shop.test/pay', { method: 'POST', body: '{}', once: ['pay', 1] }).catch(() => {});
  const close = devtools(once, { open: true });
  const root = () => document.querySelector('oncefetch-devtools')?.shadowRoot;
  const button = (label: string) => [...(root()?.querySelectorAll('button') ?? [])].find(({ textContent }) => textContent === label);
  await press();
  await vi.waitFor(() => expect(button('Settle as none')?.disabled).toBe(false));
  button('Settle as none')?.click();
  await forget(once, ['pay', 1], { evenIfUnknown: true });
  await press();
  const [newer] = await pending(once);
  button('Yes, settle as none')?.click();
  await vi.waitFor(() => expect(root()?.textContent).toContain('Settle as none: this has changed meanwhile. Look again.'));
  expect(await pending(once)).toMatchObject([{ key: newer?.key }]);
  close();
});

test('a stored request is not said to be sent again by a page that was made without `requests`', async () => {
  const lost = async (): Promise<Response> => {
    throw new TypeError('Failed to fetch');
  };
  const options = { namespace: 'u-4', store: memoryStore(), fetch: lost, limits: { attempts: 1 } };
  const first = createOnce({ ...options, use: [requests()], keep: { request: true } });
  await first.fetch('http://shop.test/pay', { method: 'POST', body: '{}', once: ['pay', 1] }).catch(() => {});
  // The next page has nothing of it in memory.
  delete (globalThis as { [of: symbol]: unknown })[Symbol.for('oncefetch')];
  const text = () => document.querySelector('oncefetch-devtools')?.shadowRoot?.textContent ?? '';
  for (const [use, says] of [
    [[], 'so nothing is sent: reconcile is asked'],
    [[requests()], 'Sends its request again'],
  ] as const) {
    const close = devtools(createOnce({ ...options, use }), { open: true });
    await vi.waitFor(() => expect(text()).toContain(says));
    close();
  }
});
