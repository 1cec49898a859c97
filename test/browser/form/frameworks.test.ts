/**
 * Goal: a form takes effect once, and only if the page permits it, whatever framework renders it and handles its
 * submit: React listens above the element, and Angular fills an element that is already in the page. Method: does what
 * these frameworks do, in each browser.
 */
import { operation } from 'oncefetch';
import { defineOnceForm, type OnceFormElement } from 'oncefetch/form';
import { act, createElement as h } from 'react';
import { flushSync } from 'react-dom';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { afterEach, describe, expect } from 'vitest';
import type * as Lib from '../realm/lib.js';
import { checkOf, client, define, host, lineOf, pressAndHold, reported, show, withForms } from '../support/form.js';
import { type Shop, test } from '../support/shop.js';

withForms();
Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const undo: (() => void)[] = [];
afterEach(() => {
  for (const one of undo.splice(0)) one();
});

/** Listens to submits on the document, after all other listeners. */
function listen(hear: (event: SubmitEvent) => void): void {
  document.addEventListener('submit', hear);
  undo.push(() => document.removeEventListener('submit', hear));
}

const arrivals = async (shop: Shop): Promise<number> => (await shop.ledger()).arrivals.length;

test.for([
  [false, 0, ''],
  [true, 1, 'Done.'],
] as const)('an app asks in `onSubmit` of React whether to pay, and the customer answers %o', async ([pays, count, says], { shop }) => {
  const tag = define(client(shop));
  const confirm = (event: { preventDefault(): void }): void => {
    if (!pays) event.preventDefault();
  };
  const root = createRoot(host);
  const form = h('form', { method: 'post', action: shop.url, onSubmit: confirm }, h('button', { type: 'submit' }, 'Pay'));
  await act(() => root.render(h(tag, { operation: 'pay 1' }, h('p', { role: 'status' }), form)));
  undo.push(() => act(() => root.unmount()));
  (host.querySelector('form button') as HTMLElement).click();
  // By then a request would have arrived.
  if (pays) await shop.arrived(1);
  else await new Promise((resolve) => setTimeout(resolve, 300));
  await expect.poll(() => host.querySelector('[role=status]')?.textContent).toBe(says);
  expect(await arrivals(shop)).toBe(count);
});

test.for([
  ['by a handler that returns false', 'onsubmit="return false"', 0],
  ['by a handler that returns true', 'onsubmit="return true"', 1],
  ['by the returnValue of the event', 'onsubmit="event.returnValue = false"', 0],
] as const)('an app asks above the element whether to pay: %s: %s', async ([, attribute, count], { shop }) => {
  host.innerHTML = `<div ${attribute}></div>`;
  const above = host.firstElementChild as HTMLElement;
  const { onsubmit } = above;
  const page = show({ shop });
  above.append(page.element);
  page.press();
  if (count) await page.says('Done.');
  else await new Promise((resolve) => setTimeout(resolve, 300));
  expect([await arrivals(shop), page.status(), page.byBrowser.length]).toEqual([count, count ? 'Done.' : '', 0]);
  expect(above.onsubmit).toBe(onsubmit);
});

test('a listener above the element stops the event: the element still sends the form', async () => {
  const page = show();
  page.element.parentElement?.addEventListener('submit', (event) => event.stopPropagation());
  page.press();
  await page.says('Done.');
  page.press();
  await page.says('Done.');
  expect(await page.shop.oneEffect()).toHaveLength(1);
});

test('in a shadow root, where no listener of the page hears the submit, the element still sends the form', async () => {
  const page = show();
  host.attachShadow({ mode: 'open' }).append(page.element);
  page.press();
  await page.says('Done.');
  await page.shop.oneEffect();
});

test("a listener outside the element, such as Turbo's, sees that the element has already handled the submit", async () => {
  const page = show();
  const prevented: boolean[] = [];
  listen(({ defaultPrevented }) => prevented.push(defaultPrevented));
  page.press();
  await page.says('Done.');
  expect(prevented).toEqual([true]);
});

describe('a form that is added after its element', () => {
  async function filled(shop: Shop, late?: () => Promise<unknown>) {
    const element = document.createElement(define(client(shop)));
    element.setAttribute('operation', 'pay 1');
    host.append(element);
    if (late) await late();
    element.insertAdjacentHTML('beforeend', `<form method="post" action="${shop.url}"><button>Pay</button></form>`);
    const byBrowser: SubmitEvent[] = [];
    listen((event) => {
      if (event.defaultPrevented) return;
      byBrowser.push(event);
      event.preventDefault();
    });
    await new Promise((resolve) => setTimeout(resolve));
    const button = element.querySelector('form button') as HTMLElement;
    button.click();
    button.click();
    await expect.poll(() => [element.getAttribute('state'), byBrowser.length]).toEqual(['done', 0]);
    await shop.oneEffect();
  }

  test('at once, as by Angular: no error is reported', async ({ shop }) => {
    await filled(shop);
    expect(reported).toEqual([]);
  });

  test('later, as by a streaming server: the missing form is reported, and later presses are sent once', async ({ shop }) => {
    await filled(shop, () => expect.poll(() => reported).toHaveLength(1));
    expect(reported).toEqual(['TypeError: once-form: the element must contain a form']);
  });
});

test('a name that is set right after the element is added, as by Alpine and Angular: no error is reported', async ({ shop }) => {
  const element = document.createElement(define(client(shop)));
  element.innerHTML = `<form method="post" action="${shop.url}"><button>Pay</button></form>`;
  host.append(element);
  element.setAttribute('operation', 'pay 1');
  await new Promise((resolve) => setTimeout(resolve));
  element.querySelector('button')?.click();
  await expect.poll(() => element.getAttribute('state')).toBe('done');
  expect(reported).toEqual([]);
  await shop.oneEffect();
});

test('an element without a name that is moved: it waits for its name anew, and no error is reported', async ({ shop }) => {
  const element = document.createElement(define(client(shop))) as OnceFormElement;
  element.innerHTML = `<form method="post" action="${shop.url}"><button>Pay</button></form>`;
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  host.append(element);
  await pause(700);
  host.insertAdjacentElement('afterbegin', document.createElement('div'))?.append(element);
  await pause(600);
  expect(reported).toEqual([]);
  element.operation = 'pay 1';
  element.querySelector('button')?.click();
  await expect.poll(() => element.state).toBe('done');
  expect(reported).toEqual([]);
  await shop.oneEffect();
});

test("a name that is bound frames later, as in Angular's router: no error is reported, and the element shows the state", async ({ shop }) => {
  const page = show({ shop, client: { limits: { attempts: 1 } } });
  await shop.meets('lose-response');
  page.press();
  await page.says(/^Not sure yet/);
  const element = document.createElement(page.element.localName) as OnceFormElement;
  element.innerHTML = page.element.innerHTML;
  page.element.replaceWith(element);
  for (let frame = 0; frame < 3; frame++) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  element.operation = page.element.operation;
  await expect.poll(() => element.state).toBe('unknown');
  element.querySelector<HTMLElement>('form button')?.click();
  await expect.poll(() => element.state).toBe('done');
  expect(reported).toEqual([]);
  await shop.oneEffect();
});

test('properties that Angular and Solid bind become attributes, also those bound before the element is defined', async ({ shop }) => {
  const element = document.createElement('once-bound') as OnceFormElement;
  element.innerHTML = `<form method="post" action="${shop.url}"><button>Pay</button></form>`;
  Object.assign(element, { operation: 'pay 1', ignore: 'token', known: undefined });
  host.append(element);
  defineOnceForm(client(shop), { tag: 'once-bound' });
  const attributes = () => ['operation', 'ignore', 'known', 'next'].map((name) => element.getAttribute(name));
  expect(attributes()).toEqual(['pay 1', 'token', null, null]);
  element.querySelector('button')?.click();
  await expect.poll(() => element.state).toBe('done');
  await shop.oneEffect();
  Object.assign(element, { operation: 'pay 2', ignore: null, known: 'done', next: '/paid' });
  expect([attributes(), element.operation, element.ignore]).toEqual([['pay 2', null, 'done', '/paid'], 'pay 2', null]);
  await expect.poll(() => element.state).toBe('done');
  expect(reported).toEqual([]);
});

test('a property that React sets to `false` or null leaves no attribute, and one set to `true` or an empty text leaves an empty one', async ({ shop }) => {
  const tag = define(client(shop));
  const place = document.createElement('div');
  host.append(place);
  const root = createRoot(place);
  undo.push(() => root.unmount());
  await act(() => root.render(h(tag, { operation: false, known: null, next: '', ignore: true }, h('form', { method: 'post', action: shop.url }))));
  const [element] = place.children;
  expect(['operation', 'known', 'next', 'ignore'].map((name) => element?.getAttribute(name))).toEqual([null, null, '', '']);
});

test('a framework changes the content of the busy button through neighbour nodes, as Lit and Svelte do: the idle button shows the change', async () => {
  const page = show({ fields: '<button data-once-busy="Paying…"><!---->2<!----> bags</button>' });
  const button = page.element.querySelector('button') as HTMLButtonElement;
  const [start] = button.childNodes as unknown as [Comment];
  await pressAndHold(page);
  expect(button.textContent).toBe('Paying…');
  (start.nextSibling as Text).data = '3';
  start.after('about ');
  await page.shop.release();
  await page.says('Done.');
  expect(button.innerHTML).toBe('<!---->about 3<!----> bags');
});

test('while the server still sends the rest of the page, as with streaming in React, a double press is sent once', async ({ shop }) => {
  const frame = document.createElement('iframe');
  host.append(frame);
  const inside = frame.contentWindow as Window & typeof globalThis & { readonly oncefetch: typeof Lib };
  const script = inside.document.createElement('script');
  script.src = '/site/classic.js';
  await new Promise((resolve) => {
    script.addEventListener('load', resolve);
    inside.document.body.append(script);
  });
  inside.oncefetch.defineOnceForm(inside.oncefetch.createOnce({ ...inside.oncefetch.SOON, namespace: shop.namespace }));
  inside.document.open();
  inside.document.write(`<body><once-form operation="pay 1"><form method="post" action="${shop.url}"><button>Pay</button></form></once-form><p>`);
  expect(inside.document.readyState).toBe('loading');
  const byBrowser: boolean[] = [];
  inside.addEventListener('submit', (event) => {
    byBrowser.push(!event.defaultPrevented);
    if (!event.defaultPrevented) event.preventDefault();
  });
  for (let n = 0; n < 2; n++) inside.document.querySelector('button')?.click();
  await expect.poll(() => inside.document.querySelector('once-form')?.getAttribute('state')).toBe('done');
  inside.document.close();
  expect(byBrowser).toEqual([false, false]);
  await shop.oneEffect();
});

test('Vue, Preact and Svelte hydrate an unsettled form: the element has added no child, and the status text stays', async () => {
  const page = show({ client: { limits: { attempts: 1 } } });
  await page.shop.meets('lose-response');
  page.press();
  await page.says(/^Not sure yet/);
  await expect.poll(() => checkOf(page.element)?.hidden).toBe(false);
  expect([...page.element.childNodes]).toEqual([page.form]);
  page.element.replaceChildren(page.form);
  checkOf(page.element)?.click();
  await page.says('Done.');
  await page.shop.oneEffect();
});

test('Preact hydrates an unsettled form and empties its status line: the element writes the text once more, and not again if a script empties the line again', async () => {
  const page = show({ client: { limits: { attempts: 1 } }, fields: '<p role="status"></p><button>Pay</button>' });
  await page.shop.meets('lose-response');
  page.press();
  await page.says(/^Not sure yet/);
  lineOf(page.element)?.replaceChildren();
  await page.says(/^Not sure yet/);
  lineOf(page.element)?.replaceChildren();
  await new Promise((resolve) => setTimeout(resolve));
  expect(page.status()).toBe('');
});

test('React hydrates a form that is defined already: it finds the rendered elements, and what the customer typed stays', async ({ shop }) => {
  const tag = define(client(shop));
  const fields = [h('input', { name: 'card', key: 1 }), h('button', { type: 'submit', key: 2 }, 'Pay')];
  const app = h(tag, { operation: 'pay 1' }, h('form', { method: 'post', action: shop.url }, fields));
  host.innerHTML = renderToString(app);
  const card = host.querySelector('input') as HTMLInputElement;
  card.value = '4242';
  // By then the element has read its record.
  await expect.poll(() => operation(client(shop), ['pay', '1']).state.phase).toBe('idle');
  const complaints: unknown[] = [];
  const root = await act(() => hydrateRoot(host, app, { onRecoverableError: (error) => complaints.push(error) }));
  undo.push(() => act(() => root.unmount()));
  expect([complaints, host.querySelector('input')]).toEqual([[], card]);
});

test('React renders the next order in its `onSubmit`, in the same form: nothing of it is sent as the order that was pressed', async ({ shop }) => {
  const tag = define(client(shop));
  const root = createRoot(host);
  undo.push(() => act(() => root.unmount()));
  const order = (id: number, onSubmit?: () => void) =>
    h(
      tag,
      { operation: `pay ${id}` },
      h(
        'form',
        { method: 'post', action: shop.url, onSubmit },
        h('input', { type: 'hidden', name: 'idempotency-key', value: `k-${id}-${shop.namespace}`, readOnly: true }),
        h('input', { type: 'hidden', name: 'order', value: id, readOnly: true }),
        h('button', { type: 'submit' }, 'Pay'),
      ),
    );
  const next = (): void => flushSync(() => root.render(order(2)));
  await act(() => root.render(order(1, next)));
  const button = (): HTMLElement => host.querySelector('button') as HTMLElement;
  button().click();
  await expect.poll(() => reported).toHaveLength(1);
  expect(reported).toEqual(['TypeError: once-form: the attribute operation must not change in a listener of submit']);
  button().click();
  await expect.poll(() => host.querySelector(tag)?.getAttribute('state')).toBe('done');
  expect((await shop.ledger()).arrivals.map(({ key }) => key)).toEqual([`k-2-${shop.namespace}`]);
  expect(operation(client(shop), ['pay', '1']).state.phase).not.toBe('settled');
});
