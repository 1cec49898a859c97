/**
 * Goal: a form shows only the end of its own operation and of the user who is logged in, also while the page changes. Method: the
 * test moves, renames, copies and checks the element at awkward moments, and logs the next user in during a call.
 */
import { memoryStore, type Once, refresh, resumeOne, type ScanQuery } from 'oncefetch';
import { describe, expect, test, vi } from 'vitest';
import { checkOf, client, host, lineOf, type OnPage, pressAndHold, show, withForms } from '../support/form.js';
import { Shop } from '../support/shop.js';

withForms();

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Takes the element out of the page, renames it, and puts it back, as code does that sorts or morphs a page. */
function renameOutside(element: Element, name: string): void {
  const place = element.parentElement as HTMLElement;
  element.remove();
  element.setAttribute('operation', name);
  place.append(element);
}

test('the element gets another name while it is out of the page, during a call: the end of the old operation is not shown for the new one', async () => {
  const page = show();
  await pressAndHold(page);
  renameOutside(page.element, 'pay 2');
  await page.says('');
  await page.shop.release();
  await page.shop.oneEffect();
  await pause(200);
  expect([page.status(), page.element.state, page.outcomes]).toEqual(['', '', []]);
});

test('the element gets another name while it is out of the page, after a refusal: nothing of the refusal is left', async () => {
  const fetch = (async () => Response.json({ title: 'No.' }, { status: 402 })) as unknown as typeof globalThis.fetch;
  const page = show({ client: { fetch } });
  page.press();
  await page.says('No.');
  renameOutside(page.element, 'pay 2');
  await page.says('');
  expect(page.element.state).toBe('');
});

test('setting the same name again during a call changes nothing', async () => {
  const page = show();
  await pressAndHold(page);
  page.element.setAttribute('operation', 'pay 1');
  await page.shop.release();
  await page.says('Done.');
  expect(page.outcomes.map(({ moment }) => moment)).toEqual(['done']);
});

test('a user who logs in during the call of the user before can press at once', async () => {
  const shop = new Shop();
  let user = `${shop.namespace}-ann`;
  const page = show({ shop, client: { namespace: () => user }, fields: '<input name="bags" value="2"><button>Pay</button>' });
  await pressAndHold(page);
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

test.each<[string, (page: OnPage) => void, string]>([
  ['another user logs in', ({ once }) => refresh(once), 'bob'],
  ['the element gets another name', ({ element }) => element.setAttribute('operation', 'pay 2'), ''],
])('during a call %s: the button is no longer busy with that call, and is busy with the next press until that one ends', async (_, change, next) => {
  const shop = new Shop();
  let user = `${shop.namespace}-ann`;
  const page = show({ shop, client: { namespace: () => user }, fields: '<button data-once-busy="Paying…"><b>Pay</b></button>' });
  const button = page.form.querySelector('button') as HTMLButtonElement;
  await pressAndHold(page);
  user += next;
  change(page);
  await page.says('');
  expect(button.outerHTML).toBe('<button data-once-busy="Paying…"><b>Pay</b></button>');
  page.press();
  await shop.arrived(2);
  expect([button.textContent, button.getAttribute('aria-busy')]).toEqual(['Paying…', 'true']);
  await shop.release();
  await page.says('Done.');
  expect(button.outerHTML).toBe('<button data-once-busy="Paying…"><b>Pay</b></button>');
});

test('in a shadow root, the focus moves from the check button to the status line', async () => {
  const page = show({ client: { limits: { attempts: 1 } } });
  await page.shop.meets('lose-response', 'lose-response');
  page.press();
  await page.says(/^Not sure yet/);
  const root = host.attachShadow({ mode: 'open' });
  root.append(page.element);
  const asks = checkOf(page.element) as HTMLElement;
  await expect.poll(() => asks.hidden).toBe(false);
  asks.focus();
  asks.click();
  await expect.poll(() => [root.activeElement, page.element.shadowRoot?.activeElement]).toEqual([page.element, lineOf(page.element)]);
});

test('check() before anything was sent does not say that something may be done', async () => {
  const store = memoryStore();
  const { read } = store;
  // Slower than the first check.
  Object.assign(store, { read: (id: string) => pause(200).then(() => read(id)) });
  const page = show({ client: { store } });
  for (const ms of [0, 300]) {
    await pause(ms);
    await page.element.check();
    await pause(100);
    expect([page.status(), page.element.state]).toEqual(['', '']);
  }
});

describe('check() of a payment of an earlier page, before this page has read the store,', () => {
  const DONE = 'It was done before, and was not sent again.';
  test.each<[string, meanwhile: (page: OnPage, earlier: Once, leave: () => void) => unknown, says: string, state: string]>([
    ['and nothing else happens', () => {}, 'Done.', 'done'],
    ['and another tab resumes it meanwhile', (_, earlier) => resumeOne(earlier, ['pay', '1']), DONE, 'already'],
    ['and the element gets another name meanwhile', ({ element }) => element.setAttribute('operation', 'pay 2'), '', ''],
    [
      'and another user logs in meanwhile',
      ({ once }, _, leave) => {
        leave();
        refresh(once);
      },
      '',
      '',
    ],
  ])("%s: shows only the end of the element's own operation and user", async (_, meanwhile, says, state) => {
    const store = memoryStore();
    const shop = new Shop();
    let user = `${shop.namespace}-ann`;
    const options = { store, namespace: () => user, keep: { request: true }, limits: { attempts: 1 } };
    const earlier = client(shop, options);
    await shop.meets('lose-response');
    await earlier.fetch(shop.url, { method: 'POST', body: '{}', once: ['pay', '1'] }).catch(() => {});
    delete (globalThis as { [of: symbol]: unknown })[Symbol.for('oncefetch')];
    const { read, scan } = store;
    // Slower than the check.
    let slow = true;
    const late = async (): Promise<void> => (slow ? pause(300) : undefined);
    const ofPage = {
      ...options,
      store: { ...store, read: (id: string) => late().then(() => read(id)), scan: (query: ScanQuery) => scan(query).finally(late) },
    };
    const page = show({ shop, client: ofPage });
    const checked = page.element.check();
    await meanwhile(page, earlier, () => void (user = `${shop.namespace}-bob`));
    slow = false;
    await checked;
    await pause(300);
    expect([page.status(), page.element.state]).toEqual([says, state]);
    expect(page.outcomes.map(({ moment }) => moment)).toEqual(state ? [state] : []);
    await shop.oneEffect();
  });
});

const LINE = '<p role="status"></p>';
const FIELDS = '<input name="card"><button data-once-busy="Paying…"><b>Pay</b></button>';
/** A server that declines the card, with a message for its field. */
const declines = (async () => Response.json({ title: 'No.', errors: { card: 'Declined.' } }, { status: 402 })) as unknown as typeof globalThis.fetch;

test('a user who logs in while the element is out of the page sees nothing of the refusal before', async () => {
  let user = 'ann';
  const page = show({ client: { fetch: declines, namespace: () => user }, fields: FIELDS });
  page.press();
  await page.says('No.');
  const place = page.element.parentElement as HTMLElement;
  page.element.remove();
  user = 'bob';
  refresh(page.once);
  place.append(page.element);
  await page.says('');
  expect([page.element.textContent, page.element.state]).toEqual(['Pay', '']);
});

test('an app that shows the outcome itself: the status line is empty instead of "Sending…"', async () => {
  const page = show();
  page.element.addEventListener('once-outcome', (event) => event.preventDefault());
  page.press();
  await page.says('');
  expect([page.outcomes, page.element.state]).toMatchObject([[{ moment: 'done', answer: { charge: 1 } }], 'done']);
});

test('a listener of the outcome gives the element another name: nothing is shown for the new operation', async () => {
  const page = show({ client: { fetch: declines }, fields: FIELDS });
  page.element.addEventListener('once-outcome', () => page.element.setAttribute('operation', 'pay 2'));
  page.press();
  await page.says('');
  expect([page.outcomes.length, page.form.textContent, page.element.state]).toEqual([1, 'Pay', '']);
});

test('a framework renders the content of the element again: the new status line shows the end', async () => {
  const page = show({ fields: FIELDS });
  await page.says('');
  page.element.innerHTML = String(page.element.innerHTML);
  page.press();
  await page.says('Done.');
});

test('a framework renders the form again during a call: the new fields show the refusal', async () => {
  let answers: (() => void) | undefined;
  const fetch = (async () => {
    await new Promise<void>((resolve) => void (answers = resolve));
    return Response.json({ title: 'No.', errors: { card: 'Declined.' } }, { status: 402 });
  }) as unknown as typeof globalThis.fetch;
  const page = show({ client: { fetch }, fields: FIELDS });
  page.press();
  await page.says('Sending…');
  await vi.waitFor(() => expect(answers).toBeDefined(), { timeout: 10_000 });
  page.form.replaceWith(page.form.cloneNode(true));
  answers?.();
  await page.says('No.');
  const form = page.element.querySelector('form') as HTMLFormElement;
  expect([form.querySelector('[data-error-for=card]')?.textContent, form.hasAttribute('aria-busy')]).toEqual(['Declined.', false]);
});

test('a framework morphs the page to the HTML of the server: the status text and the check button are back at once', async () => {
  const page = show({ client: { limits: { attempts: 1 } }, fields: `${FIELDS}${LINE}<button type="button" data-once-check></button>` });
  await page.shop.meets('lose-response');
  page.press();
  await page.says(/^Not sure yet/);
  page.element.removeAttribute('state');
  for (const one of page.element.querySelectorAll('[role=status], [data-once-check]')) one.remove();
  await Promise.resolve();
  expect([page.status().slice(0, 12), page.element.getAttribute('state')]).toEqual(['Not sure yet', 'unknown']);
  const asks = checkOf(page.element);
  expect(asks?.hidden).toBe(false);
  asks?.click();
  await page.says('Done.');
  page.element.removeAttribute('state');
  const made = lineOf(page.element);
  page.element.insertAdjacentHTML('beforeend', '<p role="status">Paid by the server.</p>');
  await Promise.resolve();
  expect([page.status(), made?.textContent, page.element.getAttribute('state')]).toEqual(['Paid by the server.', '', 'done']);
});

test('a framework morphs the page for another user who has logged in: the text for the user before does not come back', async () => {
  let user = crypto.randomUUID();
  const page = show({ client: { namespace: () => user, fetch: declines }, fields: FIELDS });
  page.press();
  await page.says('No.');
  user = crypto.randomUUID();
  page.element.removeAttribute('state');
  (lineOf(page.element) as HTMLElement).textContent = '';
  await Promise.resolve();
  expect([page.status(), page.element.state, page.element.hasAttribute('state')]).toEqual(['', '', false]);
});

test('a copy of a busy element, for another operation, is not busy', async () => {
  const page = show({ fields: `${FIELDS}${LINE}` });
  await pressAndHold(page);
  const copy = page.element.cloneNode(true) as typeof page.element;
  copy.setAttribute('operation', 'pay 2');
  host.append(copy);
  await pause(200);
  expect(copy.querySelector('form')?.innerHTML).toBe(`${FIELDS}${LINE}`);
  expect(copy.querySelector('form')?.hasAttribute('aria-busy')).toBe(false);
  await page.shop.release();
  await page.says('Done.');
  expect(page.form.innerHTML).toContain(FIELDS);
});

test('a copy of a refused element has no messages at its fields', async () => {
  const page = show({ client: { fetch: declines }, fields: FIELDS });
  page.press();
  await page.says('No.');
  const copy = page.element.cloneNode(true) as typeof page.element;
  copy.setAttribute('operation', 'pay 2');
  host.append(copy);
  expect(copy.querySelector('form')?.innerHTML).toBe(FIELDS);
});

test('a framework replaces the element during a call: the new element shows the end', async () => {
  let answer: ((refusal: Response) => void) | undefined;
  const fetch = (() => new Promise<Response>((resolve) => void (answer = resolve))) as typeof globalThis.fetch;
  const page = show({ client: { fetch }, fields: FIELDS });
  page.press();
  await expect.poll(() => answer).toBeDefined();
  const copy = page.element.cloneNode(true) as typeof page.element;
  page.element.replaceWith(copy);
  await expect.poll(() => lineOf(copy)?.textContent).toBe('Sending…');
  answer?.(Response.json({ title: 'No.' }, { status: 402 }));
  await expect.poll(() => [lineOf(copy)?.textContent, copy.state]).toEqual(['It was refused, and nothing was done.', 'refused']);
});

const full = { ...memoryStore(), update: () => Promise.reject(new Error('full')) };
const lost = (async () => Promise.reject(new TypeError('Failed to fetch'))) as typeof globalThis.fetch;
test.each([
  ['for a record that could not be stored', { store: full }, '<button>Pay</button>'],
  ['for the own operation of a button', { fetch: lost, limits: { attempts: 1 } }, '<button data-once-operation="draft 1">Save</button>'],
])('"Not sure yet" stays on the screen %s', async (_, client, fields) => {
  const page = show({ client, fields });
  await page.says('');
  page.press();
  await page.says(/^Not sure yet/);
  await pause(200);
  refresh(page.once);
  await pause(200);
  expect([page.status().slice(0, 12), page.element.state]).toEqual(['Not sure yet', 'unknown']);
});

describe('the form is edited after a lost answer, and the first request took effect:', () => {
  const fields = '<input name="amount" value="100"><button>Pay</button>';
  const edit = ({ form }: OnPage, value: string): void => {
    (form.elements.namedItem('amount') as HTMLInputElement).value = value;
  };
  /** A press whose answer is lost. */
  async function lost(page: OnPage): Promise<void> {
    await page.shop.meets('lose-response');
    page.press();
    await page.says(/^Not sure yet/);
  }
  const open = () => show({ client: { limits: { attempts: 1 } }, element: 'operation="pay 1" next="/never"', fields });
  const SAID = 'It was done before, and was not sent again.';

  test('"Check" finds the end: the form does not say that the edited form is done, and stays on the page', async () => {
    const page = open();
    await lost(page);
    edit(page, '200');
    await page.element.check();
    await page.says(SAID);
    expect([page.element.state, page.outcomes.at(-1)?.moment, page.outcomes.at(-1)?.outcome?.effect]).toEqual(['already', 'already', 'done']);
    await page.shop.oneEffect();
  });

  /** Every kind of field, in a fieldset that the page disables while the form is being sent. */
  const KINDS = `<fieldset>
    <input name="amount" value="100"><textarea name="note">thanks</textarea>
    <select name="bags" multiple><option selected>1<option>2<option selected>3</select>
    <select name="why"><option value="" disabled selected>Why?<optgroup label="Other" disabled><option>A gift</optgroup></select>
    <select name="when"><optgroup label="Never" disabled><option selected>No</optgroup><option>Now</select>
    <input type="checkbox" name="gift" value="yes" checked><input type="checkbox" name="news" value="yes">
    <input type="radio" name="size" value="s"><input type="radio" name="size" value="l" checked>
    <input type="file" name="photo"><input type="submit" name="how" value="fast"><button>Pay</button></fieldset>
    <input name="agreed" value="yes">`;

  test.each<[string, (page: OnPage) => void, string]>([
    ['the form was not edited: it says "Done."', () => {}, 'Done.'],
    ['the form was edited: it does not say "Done." of the edited form', (page) => edit(page, '200'), SAID],
  ])('"Check" finds the end, while the page has disabled the fields, and %s', async (_, before, says) => {
    const page = show({ client: { limits: { attempts: 1 } }, fields: KINDS });
    const fieldset = page.form.querySelector('fieldset') as HTMLFieldSetElement;
    new MutationObserver(() => void (fieldset.disabled = page.form.getAttribute('aria-busy') === 'true')).observe(page.form, { attributes: true });
    await lost(page);
    before(page);
    await page.element.check();
    await page.says(says);
    await page.shop.oneEffect();
  });

  test('another tab finds the end: the form does not say that the edited form is done', async () => {
    const page = open();
    await lost(page);
    edit(page, '200');
    await resumeOne(page.once, ['pay', '1']);
    await page.says(SAID);
    expect(page.element.state).toBe('already');
    await page.shop.oneEffect();
  });

  test('a form that is edited back, or edited only after the end, says "Done."', async () => {
    const page = show({ client: { limits: { attempts: 1 } }, fields });
    await lost(page);
    edit(page, '200');
    edit(page, '100');
    await page.element.check();
    await page.says('Done.');
    edit(page, '200');
    refresh(page.once);
    await pause(200);
    expect([page.element.state, page.status()]).toEqual(['done', 'Done.']);
  });
});
