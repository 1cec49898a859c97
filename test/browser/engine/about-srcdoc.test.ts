/**
 * Goal: a page at about:srcdoc or about:blank, such as a frame or popup written by a script, has the origin of the page
 * that made it, and oncefetch works in it as in that page. Method: frames that load nothing but the package.
 */
import { expect } from 'vitest';
import { type Shop, test } from '../support/shop.js';
import { type Inside, written } from '../support/written.js';

const client = ({ oncefetch }: Inside, { namespace }: Shop) => oncefetch.createOnce({ ...oncefetch.SOON, namespace });

test.for(['about:srcdoc', 'about:blank'] as const)(
  'at %s a POST without a name gets a key, and has one effect although its answer is lost',
  async (at, { shop }) => {
    const inside = await written(at);
    await shop.meets('lose-response');
    expect((await client(inside, shop).fetch(shop.url, { method: 'POST', body: '{"text":"hello"}' })).status).toBe(201);
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
