/**
 * Goal: once-form sends what the browser would send for a plain form, once, under the rendered key, and leaves all other submits to
 * the browser. Method: real forms, clicks and requests in each browser; the server's log is the judge.
 */
import { clear, memoryStore, refresh, requests } from 'oncefetch';
import { afterEach, describe, expect } from 'vitest';
import { replaceMethod } from '../stores/support.js';
import { answers, checkOf, client, host, paid, pressAndHold, reported, show, withForms } from '../support/form.js';
import { test as inShop, Shop, sends } from '../support/shop.js';

const test = inShop.extend('page', () => show());

withForms();

const KEY = '<input type="hidden" name="idempotency-key" value="k-rendered">';
const DONE = 'Done.';
const UNSURE = /^Not sure yet/;

const problem = (status: number, members: object): Response =>
  new Response(JSON.stringify(members), { status, headers: { 'content-type': 'application/problem+json' } });

describe('once-form sends', () => {
  test('the fields as the browser encodes them, under the rendered key; clicks and submits in one tick are one request', async () => {
    const { bodies, keys, fetch } = answers(paid());
    const page = show({
      client: { fetch },
      fields: `${KEY}<textarea name="text">a\nb</textarea><input name="a b" value="ä&=+"><button name="do" value="pay">Pay</button>`,
    });
    for (let n = 0; n < 3; n++) page.press();
    page.form.requestSubmit();
    await page.says(DONE);
    expect(bodies).toEqual(['idempotency-key=k-rendered&text=a%0D%0Ab&a+b=%C3%A4%26%3D%2B&do=pay']);
    expect(keys).toEqual(['k-rendered']);
    expect(page.outcomes.map(({ moment }) => moment)).toEqual(['done']);
    expect(page.byBrowser).toEqual([]);
    expect(page.element.state).toBe('done');
  });

  test('the same bytes again after a lost answer, with one effect', async () => {
    const page = show({ fields: `${KEY}<input name="card" value="1"><button>Pay</button>` });
    await page.shop.meets('lose-response');
    page.press();
    await page.says(DONE);
    const arrivals = await page.shop.oneEffect();
    expect(sends(arrivals).length).toBeGreaterThan(0);
    expect(new Set(arrivals.map(({ digest }) => digest)).size).toBe(1);
    expect(arrivals[0]?.headers['accept']).toBe('application/json');
  });

  test('files in a multipart form, with the same bytes and boundary again, with one effect', async () => {
    const page = show({ form: 'method="post" enctype="multipart/form-data"', fields: `${KEY}<input type="file" name="scan"><button>Send</button>` });
    const files = new DataTransfer();
    files.items.add(new File(['a scan'], 'scan.txt', { type: 'text/plain' }));
    (page.form.elements.namedItem('scan') as HTMLInputElement).files = files.files;
    await page.shop.meets('unavailable-after-commit');
    page.press();
    await page.says(DONE);
    const arrivals = await page.shop.oneEffect();
    expect(arrivals[0]?.headers['content-type']).toMatch(/^multipart\/form-data; ?boundary=/);
    expect(arrivals[0]?.bytes).toBeGreaterThan(100);
    expect(new Set(arrivals.map(({ digest }) => digest)).size).toBe(1);
  });

  test('another payload if a file has changed, and the same payload if the same file was read again', async () => {
    const { fetch, keys } = answers(new Response(null, { status: 503 }), paid());
    const once = client(new Shop(), { fetch, limits: { attempts: 1 } });
    const page = show({
      once,
      form: 'method="post" enctype="multipart/form-data"',
      fields: '<button>Send</button>',
      options: { call: () => ({ whenChanged: 'refuse' }) },
    });
    let content = 'one';
    page.form.addEventListener('formdata', ({ formData }) => formData.append('scan', new File([content], 'scan.txt', { lastModified: keys.length })));
    page.press();
    await page.says(UNSURE);
    content = 'two';
    page.press();
    await expect.poll(() => page.outcomes).toHaveLength(2);
    expect(page.outcomes[1]?.outcome).toMatchObject({ effect: 'unknown', reason: 'mismatch' });
    content = 'one';
    page.press();
    await page.says(DONE);
    expect(new Set(keys).size).toBe(1);
  });

  test('what `formdata` listeners add, even if one listener throws', async () => {
    const { fetch, bodies } = answers(paid());
    const page = show({ client: { fetch } });
    page.form.addEventListener('formdata', () => {
      throw new Error('a bug of the app');
    });
    page.form.addEventListener('formdata', ({ formData }) => formData.set('added', 'yes'));
    page.press();
    await page.says(DONE);
    expect(bodies).toEqual(['added=yes']);
    expect(reported).toEqual(['Error: a bug of the app']);
  });

  test('each button with its own name and value, to its own formaction, without validation if the button says so', async ({ shop }) => {
    const urls: string[] = [];
    const fetch = (async (input: string, init?: RequestInit) => {
      urls.push(`${input.replace(/.*\//, '')} ${init?.body}`);
      return paid();
    }) as typeof globalThis.fetch;
    const fields = `<input name="a" required><button name="do" value="pay">Pay</button>
      <button id="draft" name="do" value="draft" formaction="${shop.at('draft')}" formnovalidate data-once-operation="draft 1">Save</button>
      <input type="submit" id="input" name="do" value="input" formnovalidate>`;
    const page = show({ shop, client: { fetch }, fields });
    page.press();
    expect(page.element.state).toBe('');
    page.press('#draft');
    await page.says(DONE);
    page.press('#input');
    await expect.poll(() => urls).toHaveLength(2);
    expect(urls).toEqual(['draft a=&do=draft', 'pay a=&do=input']);
  });

  test('while a button shows its busy text; later the button has its own content again', async () => {
    const page = show({ fields: '<button data-once-busy="Paying…"><b>Pay</b> now</button>' });
    const button = page.form.querySelector('button') as HTMLButtonElement;
    await page.shop.hold();
    page.press();
    expect([button.textContent, button.getAttribute('aria-busy'), button.disabled, page.form.getAttribute('aria-busy')]).toEqual([
      'Paying…',
      'true',
      false,
      'true',
    ]);
    expect(page.status()).toBe('Sending…');
    await page.shop.release();
    await page.says(DONE);
    await expect.poll(() => button.innerHTML).toBe('<b>Pay</b> now');
    expect([button.getAttribute('aria-busy'), page.form.getAttribute('aria-busy')]).toEqual([null, null]);
  });

  test('the same payload, although an ignored token differs with every rendering', async ({ shop }) => {
    const { fetch, keys } = answers(new Response(null, { status: 503 }), paid());
    const once = client(shop, { fetch, limits: { attempts: 1 } });
    const asked = (token: string) => ({
      shop,
      once,
      element: 'operation="pay 1" ignore="token"',
      fields: `${KEY}<input type="hidden" name="token" value="${token}"><button>Pay</button>`,
      options: { call: () => ({ whenChanged: 'refuse' as const }) },
    });
    const first = show(asked('a'));
    first.press();
    await first.says(UNSURE);
    const second = show(asked('b'));
    await second.says(UNSURE);
    second.press();
    await second.says(DONE);
    expect(keys).toEqual(['k-rendered', 'k-rendered']);
  });
});

test('a form whose attributes are in capitals is sent', async () => {
  const page = show({ form: 'method="POST" target="_SELF" enctype="MULTIPART/FORM-DATA"', fields: '<input name="a" value="1"><button>Pay</button>' });
  page.press();
  await page.says(DONE);
  expect(page.byBrowser).toEqual([]);
  expect((await page.shop.oneEffect())[0]?.headers['content-type']).toMatch(/^multipart/);
});

describe('once-form leaves to the browser', () => {
  test.each([
    ['a button with formmethod=get', 'method="post"', '<button formmethod="get">Look</button>', []],
    ['a button that closes a dialog', 'method="post"', '<button formmethod="dialog">Close</button>', []],
    [
      'a submit to another window',
      'method="post"',
      '<button formtarget="_blank">Pay</button>',
      ['TypeError: once-form: formtarget must be absent: the answer comes to this page, got "_blank"'],
    ],
    [
      'a submit to another origin',
      'method="post"',
      '<button formaction="https://bank.example/pay">Pay</button>',
      ['TypeError: once-form: formaction must be of this origin, got "https://bank.example/pay"'],
    ],
    [
      'a submit in an encoding that cannot be read back',
      'method="post"',
      '<button formenctype="text/plain">Pay</button>',
      ['TypeError: once-form: formenctype must not be text/plain, got undefined'],
    ],
    [
      'a submit in such an encoding, in capitals',
      'method="post"',
      '<button formenctype="TEXT/PLAIN">Pay</button>',
      ['TypeError: once-form: formenctype must not be text/plain, got undefined'],
    ],
    [
      'a button whose operation has no name',
      'method="post"',
      '<button data-once-operation="">Save</button>',
      ['TypeError: once-form: the attribute data-once-operation must name the operation, its parts separated by single spaces, got ""'],
    ],
    ['the action of a framework', 'method="post"', '<button formaction="javascript:void 0">Pay</button>', []],
  ])('%s', async (_, form, fields, says) => {
    const page = show({ form, fields });
    page.press();
    await expect.poll(() => reported).toEqual(says.map((text) => text.replace(', got undefined', '')));
    expect(page.byBrowser).toHaveLength(1);
    expect((await page.shop.ledger()).arrivals).toEqual([]);
  });

  test('a submit that the app’s own listener has prevented, and sends nothing', async ({ page }) => {
    page.form.addEventListener('submit', (event) => event.preventDefault());
    page.press();
    expect(page.element.state).toBe('');
    expect((await page.shop.ledger()).arrivals).toEqual([]);
  });

  test('no submit because a listener throws: it sends the form once', async ({ page }) => {
    page.form.addEventListener('submit', () => {
      throw new Error('a bug of the app');
    });
    page.press();
    await page.says(DONE);
    await page.shop.oneEffect();
    expect(reported).toEqual(['Error: a bug of the app']);
  });

  test('a submit without a user', async () => {
    const page = show({ client: { namespace: () => '' } });
    page.press();
    expect(page.byBrowser).toHaveLength(1);
  });
});

test('an answer whose body never ends: the form says "Done." without it', async () => {
  const body = new ReadableStream<Uint8Array>({ start: (stream) => stream.enqueue(new TextEncoder().encode('{}')) });
  const { fetch } = answers(new Response(body, { status: 201, headers: { 'content-type': 'application/stream+json' } }));
  const page = show({ client: { fetch } });
  page.press();
  await page.says(DONE);
});

describe('a refusal', () => {
  const FIELDS = `${KEY}<label>Card <input name="card" aria-describedby="hint"></label><span id="hint">16 digits</span><label><input type="radio" name="ship" value="a">A</label><label><input type="radio" name="ship" value="b">B</label><button>Pay</button>`;

  test('shows messages at its fields, focuses the first field, and the corrected form is sent under the next key', async () => {
    const errors = [
      { pointer: '#/ship', detail: 'We do not ship there.' },
      { pointer: '#/card', detail: 'Sixteen digits, please.' },
      { pointer: '#/nothing', detail: 'And something else.' },
    ];
    const { fetch, keys } = answers(problem(422, { title: 'Please look again.', errors, 'idempotency-key': 'k-next' }), paid());
    const page = show({ client: { fetch }, fields: FIELDS });
    page.press();
    await page.says('Please look again. And something else.');
    expect(page.element.state).toBe('refused');
    const card = page.form.elements.namedItem('card') as HTMLInputElement;
    expect(document.activeElement).toBe(card);
    const described = (card.getAttribute('aria-describedby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent);
    expect(described).toEqual(['16 digits', 'Sixteen digits, please.']);
    expect(card.labels?.[0]?.textContent?.trim()).toBe('Card');
    expect(page.form.querySelectorAll('[aria-invalid]')).toHaveLength(2);
    card.value = '4242';
    card.dispatchEvent(new Event('input', { bubbles: true }));
    expect([card.getAttribute('aria-invalid'), card.getAttribute('aria-describedby')]).toEqual([null, 'hint']);
    page.press();
    await page.says(DONE);
    expect(page.form.querySelectorAll('[aria-invalid], [data-error-for]')).toHaveLength(0);
    expect(keys).toEqual(['k-rendered', 'k-next']);
  });

  test('shows messages for names of fields in elements of the page', async () => {
    const { fetch } = answers(problem(422, { errors: { card: ['Too short.', 'Not a number.'] }, 'idempotency-key': 'k-next' }));
    const page = show({ client: { fetch }, fields: `${KEY}<input name="card"><p data-error-for="card"></p><button>Pay</button>` });
    page.press();
    await page.says('It was refused, and nothing was done.');
    expect(page.form.querySelector('p')?.textContent).toBe('Too short. Not a number.');
  });

  test('of a checkbox behind a hidden field of the same name, as in Rails: the message is at the checkbox', async () => {
    const { fetch } = answers(problem(422, { title: 'No.', errors: { agree: 'Please agree.' } }));
    const page = show({ client: { fetch }, fields: '<input type="hidden" name="agree" value="0"><input type="checkbox" name="agree"><button>Pay</button>' });
    page.press();
    await page.says('No.');
    expect([document.activeElement?.getAttribute('type'), page.form.querySelector('[data-error-for]')?.textContent]).toEqual(['checkbox', 'Please agree.']);
  });

  test('of a field outside of the element, linked by its form attribute: the message goes when the field is corrected', async () => {
    const { fetch } = answers(problem(422, { title: 'No.', errors: { card: 'Declined.' } }));
    const page = show({ client: { fetch }, form: 'method="post" id="outside"' });
    host.insertAdjacentHTML('beforeend', '<input name="card" form="outside">');
    const card = host.querySelector('[form=outside]') as HTMLInputElement;
    page.press();
    await page.says('No.');
    expect([document.activeElement, card.getAttribute('aria-invalid'), card.nextSibling?.textContent]).toEqual([card, 'true', 'Declined.']);
    card.dispatchEvent(new Event('input', { bubbles: true }));
    expect([card.getAttribute('aria-invalid'), card.nextSibling]).toEqual([null, null]);
  });

  test('without the next key proves nothing about earlier copies of the rendered key: not sure, and the same key again', async () => {
    const { fetch, keys } = answers(problem(422, { title: 'No.' }), paid());
    const page = show({ client: { fetch }, fields: FIELDS });
    page.press();
    await page.says(UNSURE);
    page.press();
    await page.says(DONE);
    expect(new Set(keys)).toEqual(new Set(['k-rendered']));
  });

  test('without a rendered key counts as a refusal', async () => {
    const { fetch } = answers(problem(422, { title: 'No.' }));
    const page = show({ client: { fetch } });
    page.press();
    await page.says('No.');
  });

  test('asks the client’s own `verdict` first', async () => {
    const { fetch } = answers(problem(422, { title: 'No.' }));
    const page = show({ client: { fetch, verdict: ({ status }) => (status === 422 ? 'rejected-for-good' : undefined) }, fields: FIELDS });
    page.press();
    await page.says('No.');
  });
});

describe('the page or the user changes:', () => {
  test('an element that finds an unsettled operation says so, checks it, and shows the end', async ({ shop }) => {
    const first = show({ shop, client: { use: [requests()], limits: { attempts: 1 }, keep: { request: true } }, fields: `${KEY}<button>Pay</button>` });
    await shop.meets('lose-response');
    first.press();
    await first.says(UNSURE);
    first.element.remove();
    const second = show({ shop, client: { use: [requests()], keep: { request: true } }, fields: `${KEY}<button>Pay</button>` });
    await second.says(UNSURE);
    checkOf(second.element)?.click();
    await second.says(DONE);
    await shop.oneEffect();
  });

  test('edited after a lost answer: one effect, and the form does not say that the changes were sent', async () => {
    const page = show({ client: { limits: { attempts: 1 } }, fields: `${KEY}<input name="bags" value="2"><button>Pay</button>` });
    await page.shop.meets('lose-response');
    page.press();
    await page.says(UNSURE);
    (page.form.elements.namedItem('bags') as HTMLInputElement).value = '3';
    page.press();
    await page.says('It was done before, and was not sent again.');
    await page.shop.oneEffect();
  });

  test('an element removed during a call: the call goes on, and a new element shows its end', async () => {
    const page = show({ fields: `${KEY}<button>Pay</button>`, element: 'operation="pay 1" next="/site/empty.html"' });
    await pressAndHold(page);
    page.element.remove();
    await page.shop.release();
    await page.shop.oneEffect();
    await expect.poll(() => page.element.state).toBe('done');
    await show({ shop: page.shop, once: page.once }).says(DONE);
  });

  test('an element moved in the page works as before, once', async ({ page }) => {
    host.append(page.element);
    host.addEventListener('submit', (event) => event.defaultPrevented || event.preventDefault());
    page.press();
    await page.says(DONE);
    await page.shop.oneEffect();
  });

  test('another name: the text for the old operation goes', async ({ page }) => {
    page.press();
    await page.says(DONE);
    page.element.setAttribute('operation', 'pay 2');
    await page.says('');
    page.press();
    await page.says(DONE);
    expect((await page.shop.ledger()).effects).toHaveLength(2);
  });

  test('another name during a call: its end is not shown for the new operation, which can be sent at once', async ({ page }) => {
    await pressAndHold(page);
    page.element.setAttribute('operation', 'pay 2');
    await page.says('');
    page.press();
    await page.shop.arrived(2);
    await page.shop.release();
    await page.says(DONE);
    expect(page.outcomes.map(({ outcome }) => outcome?.operation)).toEqual([['pay', '2']]);
    expect((await page.shop.ledger()).effects).toHaveLength(2);
  });

  test('a wrong name is corrected: the form works from then on', async () => {
    const page = show({ element: 'operation=""' });
    page.press();
    expect(page.byBrowser).toHaveLength(1);
    page.element.setAttribute('operation', 'pay 1');
    page.press();
    await page.says(DONE);
  });

  test('a user logs in without a refresh: the submit and its text are this user’s', async ({ shop }) => {
    let user = shop.namespace;
    const page = show({ shop, client: { namespace: () => user } });
    user = `${user}-other`;
    page.press();
    await page.says(DONE);
    expect(page.outcomes).toHaveLength(1);
  });

  test('a log-out during a call: nothing of it is shown, and there is no event', async ({ shop }) => {
    let user = shop.namespace;
    const page = show({
      shop,
      client: { namespace: () => user },
      fields: `${KEY}<input name="a"><button>Pay</button>`,
      element: 'operation="pay 1" next="/site/empty.html"',
    });
    await pressAndHold(page);
    await clear(page.once);
    user = '';
    refresh(page.once);
    await page.says('');
    await shop.release();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([page.status(), page.element.state, page.outcomes]).toEqual(['', '', []]);
    user = `${shop.namespace}-other`;
    refresh(page.once);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([page.status(), page.element.state]).toEqual(['', '']);
  });

  test('a store that fails: nothing is sent, and the outcome is unsent or unknown', async () => {
    const store = { ...memoryStore(), update: () => Promise.reject(new Error('blocked')), get: () => Promise.reject(new Error('blocked')) };
    const page = show({ client: { store } });
    page.press();
    await expect.poll(() => page.outcomes).toHaveLength(1);
    expect(page.outcomes[0]?.moment).toMatch(/unsent|unknown/);
    expect((await page.shop.ledger()).arrivals).toEqual([]);
  });

  test('a listener of the outcome that throws, and a text that throws, change nothing', async () => {
    const page = show({
      options: {
        says: {
          done: () => {
            throw new Error('a bug in a text');
          },
        },
      },
    });
    page.element.addEventListener('once-outcome', () => {
      throw new Error('a bug in a listener');
    });
    page.press();
    await page.says(DONE);
    await expect.poll(() => reported.sort()).toEqual(['Error: a bug in a listener', 'Error: a bug in a text']);
  });

  test.each([
    ['a wrong option', { repeat: 'sometimes' }, 'repeat'],
    ['a promise of options', Promise.resolve({ repeat: 'always' }), 'the option call must return the options, and not a promise of them'],
  ])('`call` with %s: the form says so at once, nothing is sent, and it can be sent again', async (_, given, says) => {
    let wrong = given as never;
    const page = show({ options: { call: () => wrong } });
    page.press();
    await page.says('This form could not be sent.');
    expect(reported[0]).toContain(says);
    wrong = { meta: { total: 1 } } as never;
    page.press();
    await page.says(DONE);
    await page.shop.oneEffect();
  });

  test('known by the server as done: an unsettled operation is settled, and the text of the server stays', async ({ shop }) => {
    const first = show({ shop, client: { limits: { attempts: 1 } }, fields: `${KEY}<button>Pay</button>` });
    await shop.meets('lose-response');
    first.press();
    await first.says(UNSURE);
    first.element.remove();
    const page = show({ shop, element: 'operation="pay 1" known="done"', fields: '<p role="status">Paid, receipt 7.</p><button>Pay</button>' });
    await expect.poll(() => page.element.state).toBe('done');
    expect(page.status()).toBe('Paid, receipt 7.');
    page.element.remove();
    const last = show({ shop });
    await last.says(DONE);
  });
});

describe('a file that has changed on the disk since it was chosen', () => {
  const undo: (() => void)[] = [];
  afterEach(() => {
    for (const restore of undo.splice(0)) restore();
  });
  const unreadable = () => {
    throw new DOMException('The requested file could not be read', 'NotReadableError');
  };

  test.each([
    ['', {}, 'Nothing was sent: a file cannot be read any more, or is too large. Choose it again, or a smaller one.'],
    ['says-unread="choose"', { unsent: 'offline?' }, 'choose'],
    ['', { unsent: 'nichts' }, 'nichts'],
  ])('nothing is sent, and the text does not ask whether the device is online: %s %o', async (attributes, says, said) => {
    const page = show({
      element: `operation="pay 1" ${attributes}`,
      options: { says },
      form: 'method="post" enctype="multipart/form-data"',
      fields: '<input type="file" name="photo"><button>Pay</button>',
    });
    const chosen = new DataTransfer();
    chosen.items.add(new File(['a photo'], 'photo.jpg'));
    (page.form.elements.namedItem('photo') as HTMLInputElement).files = chosen.files;
    undo.push(replaceMethod(Blob, 'arrayBuffer', () => async () => unreadable()));
    page.press();
    await page.says(said);
    expect([page.element.state, page.outcomes[0]?.outcome?.effect]).toEqual(['unsent', 'none']);
    expect((await page.shop.ledger()).arrivals).toEqual([]);
  });
});
