/**
 * Goal: after a reload, a form is sent under the key that the server has rendered for the order that it shows now. Browsers restore some fields
 * of a page that is loaded again: Firefox restores a hidden field whose property a script has set. Method: a frame whose page is for another order,
 * under another key, at each load. A page after a reload has no request in memory: it offers "Check" if something can answer.
 */
import { reconciling } from 'oncefetch';
import { afterEach, expect, test } from 'vitest';
import { checkOf, show, withForms } from '../support/form.js';
import { closeRealms, type Frame, openFrame } from '../support/realms.js';
import { Shop } from '../support/shop.js';

withForms();
afterEach(closeRealms);

type Answer = readonly [body: Readonly<Record<string, unknown>>, status: number];

/** Sends the form of the frame's page, and gives what was sent: the order, and the key. */
const press = (frame: Frame, answer: Answer): Promise<{ order: string; key: string }> =>
  frame.run(async ({ createOnce, defineOnceForm, hooks, memoryStore }, [body, status]) => {
    let sent = { order: '', key: '' };
    globalThis.fetch = async (_, init) => {
      sent = { order: String(new URLSearchParams(String(init?.body)).get('order')), key: String(new Headers(init?.headers).get('idempotency-key')) };
      return Response.json(body, { status });
    };
    defineOnceForm(createOnce({ namespace: 'customer', store: memoryStore(), use: [hooks()] }));
    const ended = new Promise((resolve) => document.addEventListener('once-outcome', resolve, { once: true }));
    document.querySelector('button')?.click();
    await ended;
    return sent;
  }, answer);

test.each<[string, Answer]>([
  ['paid', [{ id: 1 }, 201]],
  ['refused, under the next key', [{ 'idempotency-key': 'k-next' }, 422]],
])('an order is %s, then the page is loaded again for another order, which is sent under its own key', async (_, answer) => {
  const frame = await openFrame({ path: '/site/order.html' });
  const first = await press(frame, answer);
  await frame.reload();
  const second = await press(frame, answer);
  expect(second.order).not.toBe(first.order);
  expect([first.key, second.key]).toEqual([`k-${first.order}`, `k-${second.order}`]);
});

test('after a reload, "Check" is there if the client has `reconcile`, which needs no stored request; with neither there is none', async () => {
  const shop = new Shop();
  await shop.meets('lose-response');
  const before = await openFrame();
  const { url, namespace } = shop;
  await before.run(
    async ({ createOnce, SOON }, of) => {
      const once = createOnce({ ...SOON, namespace: of.namespace, limits: { attempts: 1 } });
      await once.fetch(of.url, { method: 'POST', body: 'card=1', once: { operation: ['pay', '1'], key: 'k-rendered' } }).catch(() => {});
    },
    { url, namespace },
  );
  closeRealms();
  const unable = show({ shop });
  await unable.says(/^Not sure yet/);
  expect(checkOf(unable.element)?.hidden ?? true).toBe(true);
  const able = show({ shop, client: { use: [reconciling()], reconcile: async ({ key }) => (key === 'k-rendered' ? 'done' : 'unknown') } });
  await able.says(/^Not sure yet/);
  expect(checkOf(able.element)?.hidden).toBe(false);
  checkOf(able.element)?.click();
  await able.says('Done.');
  expect((await shop.oneEffect()).length).toBeGreaterThan(0);
});
