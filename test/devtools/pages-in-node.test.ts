// @vitest-environment jsdom
/** Goal: the panel does not break the tests of an app that run in jsdom. Method: a page without constructable style sheets. */
import { expect, test, vi } from 'vitest';
import { devtools } from '../../src/entries/devtools.js';
import { createOnce, memoryStore } from '../../src/entries/index.js';

test('the panel opens, shows a payment, and closes', async () => {
  const once = createOnce({ namespace: 'u-1', store: memoryStore(), fetch: async () => Response.json({ id: 1 }) });
  const close = devtools(once, { open: true });
  const text = () => document.querySelector('oncefetch-devtools')?.shadowRoot?.textContent ?? '';
  const paid = await once.fetch('http://shop.test/pay', { method: 'POST', body: '{}', once: ['pay', 1] });
  expect(await paid.json()).toEqual({ id: 1 });
  await expect.poll(() => text()).toContain('Read as fresh');
  close();
  expect(document.querySelector('oncefetch-devtools')).toBeNull();
});

test('an answer of fetch that cannot be cloned reaches the caller with the panel open', async () => {
  const odd = { status: 200, type: 'basic', ok: true, redirected: false, headers: new Headers(), body: null, url: '' } as unknown as Response;
  const once = createOnce({ namespace: 'u-2', store: memoryStore(), fetch: async () => odd });
  const close = devtools(once, { open: true });
  expect((await once.fetch('http://shop.test/pay', { method: 'POST', body: '{}', once: ['pay', 1] })).status).toBe(200);
  close();
});

test('a read of the store that never ends, as in Firefox after the back-forward cache, does not keep the panel from reading again', async () => {
  vi.useFakeTimers();
  const store = memoryStore();
  let hangs = true;
  const scan: typeof store.scan = (query) => (hangs ? new Promise(() => {}) : store.scan(query));
  const once = createOnce({ namespace: 'u-3', store: { ...store, scan }, fetch: async () => Response.json({ id: 1 }) });
  const close = devtools(once, { open: true });
  const text = () => document.querySelector('oncefetch-devtools')?.shadowRoot?.textContent ?? '';
  try {
    await vi.advanceTimersByTimeAsync(1000);
    hangs = false;
    await once.fetch('http://shop.test/pay', { method: 'POST', body: '{}', once: ['pay', 1] });
    await vi.advanceTimersByTimeAsync(15_000);
    expect(text()).toContain('Forget');
  } finally {
    close();
    vi.useRealTimers();
  }
});
