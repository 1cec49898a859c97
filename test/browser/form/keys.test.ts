/**
 * Goal: each operation is sent under the key that the server rendered for it, whatever the page does with the hidden field
 * meanwhile. Method: a server with scripted answers logs the keys; the page changes as frameworks change it.
 */
import { memoryStore, pending, type Store } from 'oncefetch';
import { act, createElement as h, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { client, define, host, type OnPage, show, withForms } from '../support/form.js';
import { Shop } from '../support/shop.js';

withForms();

const KEY = '<input type="hidden" name="idempotency-key" value="k-1">';
const refused = (next: string): Response => Response.json({ title: 'Look again.', 'idempotency-key': next }, { status: 422 });
const paid = (): Response => Response.json({ id: 1 }, { status: 201 });

/** A server that logs the key of each request, and gives these answers in order. */
function bank(...answers: (Response | 'lost')[]) {
  const keys: (string | null)[] = [];
  const fetch = (async (_: string, init?: RequestInit) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    const answer = answers.shift() ?? paid();
    if (answer === 'lost') throw new TypeError('Failed to fetch');
    return answer;
  }) as typeof globalThis.fetch;
  return { fetch, keys };
}

test('a refusal of the own operation of a button does not change the key of the form’s operation', async () => {
  const { fetch, keys } = bank('lost', refused('k-of-the-draft'));
  const fields = `${KEY}<button id="pay">Pay</button><button id="draft" data-once-operation="draft 1">Save</button>`;
  const page = show({ client: { fetch, limits: { attempts: 1 } }, fields });
  page.press('#pay');
  await page.says(/^Not sure yet/);
  page.press('#draft');
  await page.says('Look again.');
  expect(new FormData(page.form).get('idempotency-key')).toBe('k-1');
  expect(keys[0]).toBe('k-1');
});

test('the form gets the next operation before the first one is sent: each is sent under its own key', async () => {
  const { fetch, keys } = bank();
  const page = show({ client: { fetch }, fields: `${KEY}<button>Pay</button>` });
  page.press();
  page.element.setAttribute('operation', 'pay 2');
  (page.form.elements.namedItem('idempotency-key') as HTMLInputElement).value = 'k-2';
  await expect.poll(() => keys).toHaveLength(1);
  page.press();
  await page.says('Done.');
  expect(keys).toEqual(['k-1', 'k-2']);
});

test('the page renders a key again that was used up two refusals ago: the form is sent under the current key', async () => {
  const { fetch, keys } = bank(refused('k-2'), refused('k-3'));
  const page = show({ client: { fetch }, fields: `${KEY}<input name="card" value="1"><button>Pay</button>` });
  const put = (name: string, value: string): void => void ((page.form.elements.namedItem(name) as HTMLInputElement).value = value);
  for (const card of ['1', '2']) {
    put('card', card);
    page.press();
    await expect.poll(() => page.outcomes).toHaveLength(Number(card));
  }
  put('card', '3');
  put('idempotency-key', 'k-1');
  page.press();
  await page.says('Done.');
  expect(keys).toEqual(['k-1', 'k-2', 'k-3']);
});

const CARD = `${KEY}<input name="card" value="1"><button>Pay</button>`;
const correct = ({ form }: { readonly form: HTMLFormElement }): void => void ((form.elements.namedItem('card') as HTMLInputElement).value = '2');

/** The same form in two tabs. The first tab gets this answer. */
async function inTwoTabs(first: Response, store?: () => Store) {
  const shop = new Shop();
  const { fetch, keys } = bank(first);
  const [page, other] = [0, 1].map(() => show({ shop, client: { fetch, ...(store && { store: store() }) }, fields: CARD })) as [OnPage, OnPage];
  page.press();
  await expect.poll(() => page.outcomes).toHaveLength(1);
  correct(other);
  other.press();
  await expect.poll(() => other.outcomes).toHaveLength(1);
  return { keys, told: other.outcomes[0]?.moment };
}

test('a key that was refused in another tab: the form is sent under the next key', async () => {
  expect(await inTwoTabs(refused('k-2'))).toEqual({ keys: ['k-1', 'k-2'], told: 'done' });
});

test('a key that has paid in another tab, which has its own store: the form is sent under that key', async () => {
  const answer = Response.json({ id: 1, 'idempotency-key': 'k-2' }, { status: 201 });
  expect(await inTwoTabs(answer, memoryStore)).toEqual({ keys: ['k-1', 'k-1'], told: 'done' });
});

test('a used-up key without a next key: the form asks the customer to reload the page, and nothing is sent', async () => {
  const { fetch, keys } = bank(Response.json({ title: 'No.' }, { status: 422 }));
  const page = show({ client: { fetch, verdict: ({ status }) => (status === 422 ? 'rejected-for-good' : undefined) }, fields: CARD });
  page.press();
  await page.says('No.');
  correct(page);
  page.press();
  await page.says('This page is out of date, and nothing was sent. Load it again.');
  expect([page.element.state, page.outcomes[1]?.moment, keys]).toEqual(['stale', 'stale', ['k-1']]);
});

test.each<[string, (page: OnPage) => void]>([
  ['the element had another name in between', ({ element }) => ['pay 2', 'pay 1'].forEach((name) => void element.setAttribute('operation', name))],
  ['a framework rendered its content again', ({ element }) => void (element.innerHTML = element.innerHTML.replace('k-2', 'k-1'))],
])('the next key comes during a call, and %s: the form is sent under the next key', async (_, meanwhile) => {
  let answer: ((refusal: Response) => void) | undefined;
  const { fetch, keys } = bank();
  const held = (async (url: string, init?: RequestInit) => {
    const paid = fetch(url, init);
    return answer ? paid : new Promise<Response>((resolve) => void (answer = resolve));
  }) as typeof globalThis.fetch;
  const page = show({ client: { fetch: held }, fields: CARD });
  page.press();
  await expect.poll(() => keys).toHaveLength(1);
  meanwhile(page);
  answer?.(refused('k-2'));
  await expect.poll(() => page.element.querySelector('form')?.hasAttribute('aria-busy')).toBe(false);
  page.press();
  await page.says('Done.');
  expect(keys).toEqual(['k-1', 'k-2']);
});

test('a framework renders the used-up key again: the corrected form is sent under the next key', async () => {
  const { fetch, keys } = bank(refused('k-2'));
  const shop = new Shop();
  const tag = define(client(shop, { fetch }));
  function Form() {
    const [card, type] = useState('4000');
    const typed = ({ target }: { target: { value: string } }): void => type(target.value);
    return h(
      tag,
      { operation: 'pay 1' },
      h('p', { role: 'status' }),
      h(
        'form',
        { method: 'post', action: shop.url },
        h('input', { type: 'hidden', name: 'idempotency-key', value: 'k-1', readOnly: true }),
        h('input', { name: 'card', value: card, onChange: typed }),
        h('button', { type: 'submit' }, 'Pay'),
      ),
    );
  }
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  const root = createRoot(host);
  await act(() => root.render(h(Form)));
  const says = (text: string): Promise<void> => expect.poll(() => host.querySelector('[role=status]')?.textContent).toBe(text);
  const press = (): void => (host.querySelector('form button') as HTMLElement).click();
  press();
  await says('Look again.');
  const card = host.querySelector('[name=card]') as HTMLInputElement;
  await act(() => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(card, '4242');
    card.dispatchEvent(new Event('input', { bubbles: true }));
  });
  press();
  await says('Done.');
  expect(keys).toEqual(['k-1', 'k-2']);
  await act(() => root.unmount());
});

test('a button that names the form’s own operation sends the rendered key', async () => {
  const { fetch, keys } = bank();
  const page = show({ client: { fetch }, fields: `${KEY}<button data-once-operation="pay 1">Pay</button>` });
  page.press();
  await page.says('Done.');
  expect(keys).toEqual(['k-1']);
});

test('an answer with the key that was sent brings no next key: the form waits for work in progress', async () => {
  const { fetch, keys } = bank(Response.json({ title: 'The first request is still in progress', 'idempotency-key': 'k-1' }, { status: 409 }));
  const page = show({ client: { fetch }, fields: CARD });
  page.press();
  await page.says('Done.');
  expect(keys).toEqual(['k-1', 'k-1']);
});

test('the disk is full when the answer comes: the form still says that it is done when the page comes back', async () => {
  const put = vi.spyOn(IDBObjectStore.prototype, 'put');
  onTestFinished(() => put.mockRestore());
  const fetch = (async () => {
    put.mockImplementation(() => {
      throw new DOMException('no room', 'QuotaExceededError');
    });
    return paid();
  }) as typeof globalThis.fetch;
  const page = show({ client: { fetch }, fields: `${KEY}<button>Pay</button>` });
  page.press();
  await page.says('Done.');
  window.dispatchEvent(new Event('pageshow'));
  for (let reads = 0; reads < 5; reads++) await pending(page.once);
  expect(page.status()).toBe('Done.');
});

describe('a form that was rendered for another user gets a 403, before the server looks at the key', () => {
  /** A server that keeps keys for each account. `session`: who is logged in there; `page`: who is logged in as far as the page can see. */
  function shopOf() {
    const here = { session: 'ann', page: 'ann', loses: false };
    const shop = new Shop();
    const charges: string[] = [];
    const fetch = (async (_: string, init?: RequestInit) => {
      const key = `${here.session} ${new Headers(init?.headers).get('idempotency-key')}`;
      if (here.session !== 'ann') return Response.json({ title: 'This form is another user’s.' }, { status: 403 });
      const replayed = charges.includes(key);
      if (!replayed) charges.push(key);
      if (here.loses) throw new TypeError('Failed to fetch');
      return Response.json({ id: 1 }, { status: 201, headers: replayed ? { 'idempotent-replayed': 'true' } : {} });
    }) as typeof globalThis.fetch;
    const open = (element = 'operation="pay 1"'): OnPage =>
      show({ shop, client: { fetch, namespace: () => `${shop.namespace} ${here.page}`, limits: { attempts: 1 } }, fields: CARD, element });
    return { here, charges, open };
  }

  test('the other user is not told that it is done or refused; the right user’s next page shows nothing of it, and pays once', async () => {
    const { here, charges, open } = shopOf();
    const page = open();
    Object.assign(here, { session: 'bert', page: 'bert' });
    page.press();
    await page.says(/^Not sure yet/);
    expect(charges).toEqual([]);
    const own = open('operation="pay 2"');
    Object.assign(here, { session: 'ann', page: 'ann' });
    const next = open();
    for (let reads = 0; reads < 3; reads++) await pending(next.once);
    expect([own.status(), next.status(), next.element.state]).toEqual(['', '', '']);
    next.press();
    await next.says('Done.');
    expect(charges).toEqual(['ann k-1']);
  });

  test('it is not told as refused: the page may not have seen the log-in yet, and its earlier attempt may have charged', async () => {
    const { here, charges, open } = shopOf();
    const page = open();
    here.loses = true;
    page.press();
    await page.says(/^Not sure yet/);
    Object.assign(here, { loses: false, session: 'bert' });
    page.press();
    await expect
      .poll(() => page.outcomes.map(({ moment, response }) => [moment, response?.status]))
      .toEqual([
        ['unknown', undefined],
        ['unknown', 403],
      ]);
    here.session = 'ann';
    const next = open();
    await next.says(/^Not sure yet/);
    next.press();
    await next.says('Done.');
    expect(charges).toEqual(['ann k-1']);
  });
});
