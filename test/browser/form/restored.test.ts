/**
 * Goal: after a reload, a form is sent under the key that the server has rendered for the order that it shows now. Browsers restore some fields
 * of a page that is loaded again: Firefox restores a hidden field whose property a script has set. Method: a frame whose page is for another order,
 * under another key, at each load.
 */
import { afterEach, expect, test } from 'vitest';
import { closeRealms, type Frame, openFrame } from '../support/realms.js';

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
