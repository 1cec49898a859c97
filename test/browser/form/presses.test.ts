/**
 * Goal: presses while the form is being sent are neither lost nor sent twice, and the form never says "Done." about
 * something that was not sent; it finds the rendered key however the page is written. Method: a server that answers
 * when the test says so.
 */
import { describe, expect, test } from 'vitest';
import { type Asked, client, define, host, lineOf, type OnPage, pressAndHold, show, withForms } from '../support/form.js';
import { Shop } from '../support/shop.js';

withForms();

const KEY = '<input type="hidden" name="idempotency-key" value="k-rendered">';
const BAGS = '<input name="bags" value="2"><button>Pay</button>';
const DONE = 'Done.';
const paid = (): Response => Response.json({ id: 1 }, { status: 201 });

/** A form whose first request is on its way. */
async function sending(asked: Asked, button = 'button') {
  const sent: string[] = [];
  const waits: ((answer: Response) => void)[] = [];
  const fetch = ((_: string, init?: RequestInit) => {
    sent.push(`${new Headers(init?.headers).get('idempotency-key')?.replace(/^[\da-f-]{36}$/, 'random')} ${init?.body}`);
    return new Promise<Response>((resolve) => waits.push(resolve));
  }) as typeof globalThis.fetch;
  const page = show({ ...asked, client: { fetch } });
  const arrived = (count: number): Promise<void> => expect.poll(() => waits).toHaveLength(count);
  page.press(button);
  await arrived(1);
  const answer = (answer: Response, of = 0): void => waits[of]?.(answer);
  const type = (value: string): void => void ((page.form.elements.namedItem('bags') as HTMLInputElement).value = value);
  return { page, sent, arrived, answer, type };
}

test.each([
  ['rendered twice', `${KEY}${KEY}`],
  ['beside an element that has its name as id', `${KEY}<input type="hidden" id="idempotency-key" name="other" value="x">`],
])('the form is sent under its rendered key: %s', async (_, fields) => {
  const { page, sent, answer } = await sending({ fields: `${fields}<button>Pay</button>` });
  answer(paid());
  await page.says(DONE);
  expect(sent).toEqual([expect.stringMatching(/^k-rendered /)]);
});

/** A form that may be sent again, with a shop that counts. */
const again = (asked: Asked = {}) =>
  show({ fields: '<input name="bags" value="2"><button>Pay</button>', options: { call: () => ({ repeat: 'always' }) }, ...asked });
const charges = async (page: OnPage) => (await page.shop.ledger()).effects.length;
const click = ({ form }: OnPage, detail: number) =>
  form.querySelector('button')?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail }));
const enter = ({ form }: OnPage, repeat: boolean): void => {
  form.querySelector('input')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, repeat }));
  form.requestSubmit();
};
const enterOnButton = (page: OnPage, repeat: boolean): void => {
  page.form.querySelector('button')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, repeat }));
  click(page, 0);
};

test.each<[string, (page: OnPage) => void, (page: OnPage) => void, (page: OnPage) => void]>([
  ['a double click', (page) => click(page, 1), (page) => click(page, 2), (page) => click(page, 1)],
  ['a double click, then a submit by code', (page) => click(page, 1), (page) => click(page, 2), ({ form }) => setTimeout(() => form.requestSubmit())],
  ['a key held down', (page) => enter(page, false), (page) => enter(page, true), (page) => enter(page, false)],
  [
    'a key held down and released, then a submit by code',
    (page) => enter(page, false),
    (page) => enter(page, true),
    (page) => {
      window.dispatchEvent(new KeyboardEvent('keyup', { key: 'Enter' }));
      page.form.requestSubmit();
    },
  ],
  ['a key held down on the button', (page) => enterOnButton(page, false), (page) => enterOnButton(page, true), (page) => enterOnButton(page, false)],
  [
    'a key released in another window, then a press by a screen reader',
    (page) => enter(page, false),
    (page) => enter(page, true),
    (page) => {
      window.dispatchEvent(new Event('blur'));
      click(page, 0);
    },
  ],
])('only the first press of a gesture counts, even if the answer comes in the middle and the form may be sent again: %s', async (_, first, rest, next) => {
  const page = again();
  first(page);
  await page.says('Done.');
  rest(page);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([page.outcomes.length, await charges(page)]).toEqual([1, 1]);
  next(page);
  await expect.poll(() => page.outcomes).toHaveLength(2);
  expect(await charges(page)).toBe(2);
});

describe('only the first press of a gesture counts', () => {
  const click = (form: HTMLFormElement, detail: number) =>
    form.querySelector('button')?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail }));
  const REPEATED: Asked = { options: { call: () => ({ repeat: 'always' }) } };

  test('even if it was queued while an earlier press was being sent', async () => {
    const { page, sent, arrived, answer, type } = await sending({ fields: BAGS, ...REPEATED });
    type('3');
    click(page.form, 1);
    answer(paid());
    await arrived(2);
    answer(paid(), 1);
    await page.says(DONE);
    click(page.form, 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(sent).toEqual(['random bags=2', 'random bags=3']);
    click(page.form, 1);
    await arrived(3);
  });

  test.each(['pay 1', 'pay 2'])('even if a second element (%s) takes the place of the first between two clicks', async (name) => {
    const page = show({ fields: BAGS, ...REPEATED });
    const other = page.element.cloneNode(true) as HTMLElement;
    other.setAttribute('operation', name);
    page.element.after(other);
    const form = other.querySelector('form') as HTMLFormElement;
    click(page.form, 1);
    await page.says(DONE);
    click(form, 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await page.shop.ledger()).effects).toHaveLength(1);
    click(form, 1);
    await expect.poll(async () => (await page.shop.ledger()).effects).toHaveLength(2);
  });

  test('even across elements of two definitions', async () => {
    const page = show({ fields: BAGS, ...REPEATED });
    const other = show({ ...REPEATED, shop: page.shop });
    click(page.form, 1);
    await page.says(DONE);
    click(other.form, 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await page.shop.ledger()).effects).toHaveLength(1);
    click(other.form, 1);
    await other.says(DONE);
    expect((await page.shop.ledger()).effects).toHaveLength(2);
  });

  test.each(['never', 'always'] as const)(
    'a press on a second element of the same name, while the first is sent, shares its answer (repeat %s)',
    async (repeat) => {
      const { page, sent, answer } = await sending({ fields: BAGS, options: { call: () => ({ repeat }) } });
      const other = page.element.cloneNode(true) as HTMLElement;
      page.element.after(other);
      click(other.querySelector('form') as HTMLFormElement, 1);
      answer(paid());
      await page.says(DONE);
      await expect.poll(() => lineOf(other)?.textContent).toBe(DONE);
      expect(sent).toHaveLength(1);
    },
  );
});

test.each<[string, (page: OnPage) => void, (page: OnPage) => void]>([
  ['a double click', (page) => click(page, 1), (page) => click(page, 2)],
  ['a key held down', (page) => enter(page, false), (page) => enter(page, true)],
])('%s that begins while the form is being sent, and goes on after the answer, is no further press', async (_, begins, goesOn) => {
  const page = again();
  await pressAndHold(page);
  begins(page);
  await page.shop.release();
  await page.says('Done.');
  goesOn(page);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect([page.outcomes.length, await charges(page)]).toEqual([1, 1]);
  window.dispatchEvent(new KeyboardEvent('keyup'));
});

test('a button with its own operation does not lead to the next page; the form’s own operation does', async () => {
  const page = show({
    element: 'operation="pay 1" next="#gone"',
    fields: '<button id="pay">Pay</button><button id="draft" data-once-operation="draft 1">Save</button>',
  });
  page.press('#draft');
  await page.says('Done.');
  expect([location.hash, page.element.state]).toEqual(['', 'done']);
  page.press('#pay');
  await expect.poll(() => location.hash).toBe('#gone');
  history.replaceState(null, '', location.pathname + location.search);
  expect(await charges(page)).toBe(2);
});

test('a press that waits, of an element that is taken out of the page and given another order with its key: it is not sent under that key', async () => {
  const { page, sent, answer, type } = await sending({ fields: KEY + BAGS });
  type('3');
  page.press();
  page.element.remove();
  page.element.setAttribute('operation', 'pay 2');
  (page.form.elements.namedItem('idempotency-key') as HTMLInputElement).value = 'k-of-2';
  answer(Response.json({ title: 'No.' }, { status: 422, headers: { 'idempotent-replayed': 'true' } }));
  await expect.poll(() => [page.element.state, sent]).toEqual(['refused', [expect.stringMatching(/^k-rendered /)]]);
});

test('a press while "Check" resumes a lost press of a form that may be sent again: one effect, and the form shows the end', async () => {
  const page = again({ client: { limits: { attempts: 1 } } });
  await page.shop.meets('lose-response');
  page.press();
  await page.says(/^Not sure yet/);
  await page.shop.hold();
  void page.element.check();
  await page.shop.arrived(2);
  page.press();
  await page.shop.release();
  await page.says('Done.');
  await expect.poll(() => page.outcomes.map(({ moment }) => moment)).toEqual(['unknown', 'done']);
  expect(await charges(page)).toBe(1);
});

test.each<[string, (inside: Document) => void]>([
  ['another window', () => {}],
  [
    'a document that was opened again',
    (inside) => {
      inside.open();
      inside.write('<!doctype html><body>');
      inside.close();
    },
  ],
])('the second click of a double click is no further press in %s', async (_, change) => {
  const shop = new Shop();
  const tag = define(client(shop), { call: () => ({ repeat: 'always' }) });
  const make = () => {
    const element = document.createElement(tag);
    element.setAttribute('operation', 'pay 1');
    element.innerHTML = `<form method="post" action="${shop.url}"><button>Pay</button></form>`;
    return element;
  };
  const frame = document.createElement('iframe');
  host.append(frame);
  const inside = frame.contentDocument as Document;
  inside.body.append(make());
  change(inside);
  const element = make();
  inside.body.replaceChildren(element);
  for (const detail of [1, 2]) {
    element.querySelector('button')?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail }));
    await expect.poll(() => element.getAttribute('state')).toBe('done');
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  element.remove();
  expect((await shop.ledger()).effects).toHaveLength(1);
});

describe('a press while the form is being sent', () => {
  const BUTTONS = '<button id="pay">Pay</button><button id="draft" data-once-operation="draft 1">Save</button>';

  test('for another operation is sent afterwards; until then the page does not navigate', async () => {
    const { page, sent, arrived, answer } = await sending({ fields: BUTTONS, element: 'operation="pay 1" next="/site/empty.html#gone"' }, '#pay');
    page.press('#draft');
    page.press('#draft');
    answer(paid());
    await arrived(2);
    expect(sent).toHaveLength(2);
    expect(page.outcomes.map(({ moment }) => moment)).toEqual(['done']);
    page.element.removeAttribute('next');
    answer(paid(), 1);
    await expect.poll(() => page.outcomes.map(({ moment }) => moment)).toEqual(['done', 'done']);
  });

  test.each([
    ['with another value', 'name="do" value="save"', 'name="do" value="publish"', 'if-changed', ['random do=save', 'random do=publish']],
    ['without a name but with another formaction', '', 'formaction="/publish"', 'always', ['random ', 'random ']],
  ] as const)('on another button, %s, sends what that button sends', async (_, save, publish, repeat, all) => {
    const fields = `<button id="save" ${save}>Save</button><button id="publish" ${publish}>Publish</button>`;
    const { page, sent, arrived, answer } = await sending({ fields, options: { call: () => ({ repeat }) } }, '#save');
    page.press('#save');
    page.press('#publish');
    answer(paid());
    await arrived(2);
    answer(paid(), 1);
    await page.says(DONE);
    expect(sent).toEqual(all);
  });

  test('for another operation is sent afterwards, even if an optional file was left empty', async () => {
    const { page, arrived, answer } = await sending({ fields: `<input type="file" name="photo">${BUTTONS}` }, '#pay');
    await new Promise((resolve) => setTimeout(resolve, 2)); // For such an empty file the browser invents the current time as its last-modified date.
    page.press('#draft');
    await new Promise((resolve) => setTimeout(resolve, 2));
    answer(paid());
    await arrived(2);
  });

  test.each([
    ['is refused', Response.json({}, { status: 402 })],
    ['is unknown', new Response('<p>', { headers: { 'content-type': 'text/html' } })],
    ['is done', paid()],
  ])('for another operation, which %s: when both are over, the form says that its own is done', async (_, end) => {
    const { page, arrived, answer } = await sending({ fields: BUTTONS, element: 'operation="pay 1" says-done="Paid."' }, '#pay');
    page.press('#draft');
    answer(paid());
    await arrived(2);
    answer(end, 1);
    await expect.poll(() => page.outcomes.at(-1)?.outcome?.operation).toEqual(['draft', '1']);
    await page.says('Paid.');
    expect(page.element.state).toBe('done');
  });

  test('by a listener of the outcome of the first press: the page does not navigate before it is sent', async () => {
    const { page, arrived, answer } = await sending({ fields: BUTTONS, element: 'operation="pay 1" next="#gone"' }, '#draft');
    page.element.addEventListener('once-outcome', () => page.press('#pay'), { once: true });
    answer(paid());
    await arrived(2);
    expect([location.hash, page.element.state]).toEqual(['', 'sending']);
  });

  test('of an edited form: the form says that the changes were not sent', async () => {
    const { page, sent, answer, type } = await sending({ fields: BAGS });
    type('3');
    page.press();
    answer(paid());
    await page.says('It was done before, and was not sent again.');
    expect(sent).toEqual(['random bags=2']);
  });

  test('of an edited form that may be sent again is sent afterwards', async () => {
    const { page, sent, arrived, answer, type } = await sending({ fields: BAGS, options: { call: () => ({ repeat: 'if-changed' }) } });
    type('3');
    page.press();
    answer(paid());
    await arrived(2);
    answer(paid(), 1);
    await page.says(DONE);
    expect(sent).toEqual(['random bags=2', 'random bags=3']);
  });

  test('of a form that is edited once more is not sent before the next press', async () => {
    const { page, sent, answer, type } = await sending({ fields: BAGS, options: { call: () => ({ repeat: 'if-changed' }) } });
    type('3');
    page.press();
    type('34');
    answer(paid());
    await page.says(DONE);
    expect(sent).toEqual(['random bags=2']);
  });

  const REFUSED = Response.json({ title: 'Too few', 'idempotency-key': 'k-next' }, { status: 422 });
  const PAID = Response.json({ id: 1, 'idempotency-key': 'k-next' }, { status: 201 });
  test('of a form whose fields the page has disabled since is not sent', async () => {
    const fields =
      '<input name="bags" value="2"><button id="save" name="do" value="save">Save</button><button id="publish" name="do" value="publish">Publish</button>';
    const { page, sent, answer } = await sending({ fields, options: { call: () => ({ repeat: 'if-changed' }) } }, '#save');
    page.press('#publish');
    for (const field of page.form.elements) (field as HTMLInputElement).disabled = true;
    answer(paid());
    await page.says(DONE);
    expect(sent).toEqual(['random bags=2&do=save']);
  });

  test.each<[string, Response, (element: Element) => void]>([
    ['a refusal', REFUSED, () => {}],
    ['a refusal, although the element was moved meanwhile', REFUSED, (element) => element.parentElement?.append(element)],
    ['a success that may be repeated', PAID, () => {}],
  ])('after %s is sent under the key that the answer brought', async (_, first, meanwhile) => {
    const { page, sent, arrived, answer, type } = await sending({ fields: `${KEY}${BAGS}`, options: { call: () => ({ repeat: 'if-changed' }) } });
    type('3');
    page.press();
    meanwhile(page.element);
    answer(first.clone());
    await arrived(2);
    answer(paid(), 1);
    await page.says(DONE);
    expect(sent.map((one) => one.slice(0, 10))).toEqual(['k-rendered', 'k-next ide']);
  });

  test('on a button that a framework renders again meanwhile is sent afterwards', async () => {
    const fields = '<button id="pay">Pay</button><button id="draft" name="do" value="draft" data-once-operation="draft 1">Save</button>';
    const { page, sent, arrived, answer } = await sending({ fields }, '#pay');
    page.press('#draft');
    const draft = page.form.querySelector('#draft') as HTMLElement;
    draft.replaceWith(draft.cloneNode(true));
    answer(paid());
    await arrived(2);
    expect(sent).toEqual(['random ', 'random do=draft']);
  });

  test('for two other operations: each is sent in turn', async () => {
    const fields = `${BUTTONS}<button id="print" data-once-operation="print 1">Print</button>`;
    const { page, sent, arrived, answer } = await sending({ fields }, '#pay');
    page.press('#draft');
    page.press('#print');
    answer(paid());
    await arrived(2);
    answer(paid(), 1);
    await arrived(3);
    answer(paid(), 2);
    await expect.poll(() => page.outcomes.map(({ moment }) => moment)).toEqual(['done', 'done', 'done']);
    expect(sent).toHaveLength(3);
  });

  test('of a form in which a custom element of the app was edited is sent', async () => {
    class Stars extends HTMLElement {
      static readonly formAssociated = true;
      readonly #inside = this.attachInternals();
      rate(stars: string): void {
        this.#inside.setFormValue(stars);
      }
    }
    customElements.define('x-stars', Stars);
    const fields = '<x-stars name="stars"></x-stars><button>Pay</button>';
    const { page, sent, arrived, answer } = await sending({ fields, options: { call: () => ({ repeat: 'if-changed' }) } });
    (page.form.querySelector('x-stars') as Stars).rate('3');
    page.press();
    answer(paid());
    await arrived(2);
    answer(paid(), 1);
    await page.says(DONE);
    expect(sent).toEqual(['random ', 'random stars=3']);
  });

  test('is not sent again if only an ignored field changed', async () => {
    const fields = '<input type="hidden" name="token" value="a"><button>Pay</button>';
    const { page, sent, answer } = await sending({ element: 'operation="pay 1" ignore="token"', fields, options: { call: () => ({ repeat: 'always' }) } });
    (page.form.elements.namedItem('token') as HTMLInputElement).value = 'b';
    page.press();
    answer(paid());
    await page.says(DONE);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(sent).toEqual(['random token=a']);
  });
});
