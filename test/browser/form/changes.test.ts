/**
 * Goal: what a form says is of its own operation and of whoever is here, also where the page changes under it. Method: the element
 * is moved, renamed, copied and asked at awkward moments, and the next user comes in the middle of a call.
 */
import { refresh } from 'oncefetch';
import { expect, test } from 'vitest';
import { host, show, withForms } from '../support/form.js';
import { Shop } from '../support/shop.js';

withForms();

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Takes the element out, gives it another name, and puts it back, as whoever sorts or morphs a page does. */
function renameOutside(element: Element, name: string): void {
  const place = element.parentElement as HTMLElement;
  element.remove();
  element.setAttribute('operation', name);
  place.append(element);
}

test('another name while it is out of the page, in mid-call: the end of the old operation is not told as that of the new one', async () => {
  const page = show();
  await page.shop.hold();
  page.press();
  await page.shop.arrived(1);
  renameOutside(page.element, 'pay 2');
  await page.says('');
  await page.shop.release();
  await page.shop.oneEffect();
  await pause(200);
  expect([page.status(), page.element.state, page.outcomes]).toEqual(['', '', []]);
});

test('another name while it is out of the page, after a refusal: nothing of that is left', async () => {
  const fetch = (async () => Response.json({ title: 'No.' }, { status: 402 })) as unknown as typeof globalThis.fetch;
  const page = show({ client: { fetch } });
  page.press();
  await page.says('No.');
  renameOutside(page.element, 'pay 2');
  await page.says('');
  expect(page.element.state).toBe('');
});

test('the same name set once more in mid-call changes nothing', async () => {
  const page = show();
  await page.shop.hold();
  page.press();
  await page.shop.arrived(1);
  page.element.setAttribute('operation', 'pay 1');
  await page.shop.release();
  await page.says('Done.');
  expect(page.outcomes.map(({ moment }) => moment)).toEqual(['done']);
});

test('who logs in while the call of the user before is under way can press at once', async () => {
  const shop = new Shop();
  let user = `${shop.namespace}-ann`;
  const page = show({ shop, client: { namespace: () => user }, fields: '<input name="bags" value="2"><button>Pay</button>' });
  await shop.hold();
  page.press();
  await shop.arrived(1);
  user = `${shop.namespace}-bob`;
  refresh(page.once);
  await page.says('');
  page.press();
  await shop.arrived(2);
  await page.says('Sending…');
  await shop.release();
  await page.says('Done.');
  expect(page.outcomes.map(({ moment }) => moment)).toEqual(['done']);
});

test('nothing was sent, and it is asked: it does not say that something may be done', async () => {
  const page = show();
  await pause(100);
  await page.element.check();
  await pause(100);
  expect([page.status(), page.element.state]).toEqual(['', '']);
});

test('a copy of an element that is at work, for another operation: nothing is at work there', async () => {
  const page = show({ fields: '<button data-once-busy="Paying…">Pay</button>' });
  await page.shop.hold();
  page.press();
  await page.shop.arrived(1);
  const copy = page.element.cloneNode(true) as typeof page.element;
  copy.setAttribute('operation', 'pay 2');
  host.append(copy);
  await pause(200);
  expect(copy.querySelector('[role=status]')?.textContent).toBe('');
  expect(copy.querySelector('form')?.hasAttribute('aria-busy')).toBe(false);
  await page.shop.release();
  await page.says('Done.');
});

test('the next user logs in while it is out of the page, after a refusal: nothing of that is left', async () => {
  const shop = new Shop();
  let user = `${shop.namespace}-ann`;
  const fetch = (async () => Response.json({ title: 'No.' }, { status: 402 })) as unknown as typeof globalThis.fetch;
  const page = show({ shop, client: { fetch, namespace: () => user } });
  page.press();
  await page.says('No.');
  const place = page.element.parentElement as HTMLElement;
  page.element.remove();
  user = `${shop.namespace}-ben`;
  place.append(page.element);
  await page.says('');
  expect(page.element.state).toBe('');
});
