/**
 * Goal: a page at about:srcdoc or about:blank, such as a frame or popup written by a script, has the origin of the page
 * that made it, and oncefetch works in it as in that page. Method: frames that load nothing but the package.
 */
import { afterEach, expect } from 'vitest';
import type * as Lib from '../realm/lib.js';
import { type Shop, test } from '../support/shop.js';

const open: HTMLIFrameElement[] = [];
afterEach(() => {
  for (const frame of open.splice(0)) frame.remove();
});

type Inside = Window & typeof globalThis & { readonly oncefetch: typeof Lib };

async function written(at: 'about:srcdoc' | 'about:blank'): Promise<Inside> {
  const frame = document.createElement('iframe');
  open.push(frame);
  if (at === 'about:srcdoc') frame.srcdoc = '<!doctype html><title>written</title>';
  document.body.append(frame);
  if (at === 'about:srcdoc') await new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  const inside = frame.contentWindow as Inside;
  const script = inside.document.createElement('script');
  script.src = '/site/classic.js';
  const loaded = new Promise((resolve) => script.addEventListener('load', resolve));
  inside.document.body.append(script);
  await loaded;
  return inside;
}

const client = ({ oncefetch }: Inside, { namespace }: Shop) => oncefetch.createOnce({ ...oncefetch.SOON, namespace });

test.for(['about:srcdoc', 'about:blank'] as const)(
  'at %s a POST without a name gets a key, and has one effect although its answer is lost',
  async (at, { shop }) => {
    const inside = await written(at);
    await shop.meets('lose-response');
    const { status } = await client(inside, shop).fetch(shop.url, { method: 'POST', body: '{"text":"hello"}' });
    expect(status).toBe(201);
    await shop.oneEffect();
  },
);

test.for(['about:srcdoc', 'about:blank'] as const)('at %s once-form sends its form', async (at, { shop }) => {
  const inside = await written(at);
  inside.oncefetch.defineOnceForm(client(inside, shop));
  inside.document.body.insertAdjacentHTML(
    'beforeend',
    `<once-form operation="pay 1"><form method="post" action="${shop.url}"><button>Pay</button></form></once-form>`,
  );
  const byBrowser: boolean[] = [];
  inside.document.addEventListener('submit', (event) => {
    byBrowser.push(!event.defaultPrevented);
    if (!event.defaultPrevented) event.preventDefault();
  });
  inside.document.querySelector('button')?.click();
  await expect.poll(() => [byBrowser, inside.document.querySelector('once-form')?.getAttribute('state')]).toEqual([[false], 'done']);
  await shop.oneEffect();
});
