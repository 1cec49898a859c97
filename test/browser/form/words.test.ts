/**
 * Goal: once-form says what is known, in the words of the page, and reports markup that it cannot serve. Method: real forms and clicks. None of
 * it depends on the engine.
 */
import { memoryStore, reconciling, requests, type Store, type Stored } from 'oncefetch';
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { answers, checkOf, host, lineOf, paid, reported, show, withForms } from '../support/form.js';
import { Shop, test } from '../support/shop.js';

withForms();

const DONE = 'Done.';
const UNSURE = /^Not sure yet/;

describe('texts', () => {
  test('of the element come before texts of the client, and these before the built-in texts', async () => {
    const says = { done: 'of the client', sending: 'also of the client' };
    const page = show({ options: { says }, element: 'operation="pay 1" says-done="of the element"' });
    await page.shop.hold();
    page.press();
    await page.says('also of the client');
    await page.shop.release();
    await page.says('of the element');
    expect(show({ options: { says } }).element.shadowRoot?.querySelectorAll('[role=status]')).toHaveLength(1);
  });

  test('say once that the server is still at work, however many attempts find it so', async () => {
    const busy = (): Response => Response.json({}, { status: 409, headers: { 'retry-after': '0' } });
    const page = show({ client: { fetch: answers(busy(), busy(), busy(), paid()).fetch } });
    const said: string[] = [];
    new MutationObserver(() => said.push(page.status())).observe(lineOf(page.element) as Element, { childList: true });
    page.press();
    await page.says(DONE);
    expect(said).toEqual(['Sending…', 'The server is still working on it…', DONE]);
  });
});

describe('when the server may have forgotten the key', () => {
  const lost = () => {
    const fetch = vi.fn(() => Promise.reject(new TypeError('Failed to fetch')));
    const client = { fetch: fetch as typeof globalThis.fetch, limits: { attempts: 1, attemptMs: 300, keyWindowMs: 3000 }, store: memoryStore() };
    return { fetch, client };
  };
  // Without fake timers, because `waitFor` moves their clock by itself.
  const { now } = Date;
  let ahead = 0;
  beforeEach(() => {
    ahead = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + ahead);
  });
  afterEach(() => void vi.restoreAllMocks());
  const later = () => void (ahead = 3200);
  const EXPIRED = 'Nobody can tell whether it is done, and it is too late to send it again. Please ask us.';

  test('a press sends nothing, and the text no longer promises "will be done once"', async () => {
    const { fetch, client } = lost();
    const shop = new Shop();
    const page = show({ shop, client });
    page.press();
    await page.says(UNSURE);
    later();
    // Nothing has redrawn the text since.
    expect(page.status()).not.toContain('will be done once');
    page.press();
    await page.says(EXPIRED);
    expect([page.element.state, fetch.mock.calls.length]).toEqual(['unknown', 1]);
    // The next page shows the same.
    await show({ shop, once: page.once }).says(EXPIRED);
  });

  test('the text comes from the attribute, from the client, or from the text for "unknown" alone, in any language', async () => {
    const cases = [
      ['says-unknown="unsure" says-expired="too late"', {}, 'too late'],
      ['', { unknown: 'unsure', expired: 'too late' }, 'too late'],
      ['says-unknown="ungewiss"', {}, 'ungewiss'],
    ] as const;
    const pages = cases.map(([attributes, says]) => show({ client: lost().client, options: { says }, element: `operation="pay 1" ${attributes}` }));
    for (const page of pages) page.press();
    for (const page of pages) await page.says(/^un/);
    later();
    for (const page of pages) page.press();
    for (const [n, [, , said]] of cases.entries()) await pages[n]?.says(said);
  });

  const isOffered = ({ element }: { readonly element: Element }): boolean => checkOf(element)?.hidden === false;

  test('"Check" is offered no longer, here and in the next page, because nothing would be asked under the key', async () => {
    const { fetch, client } = lost();
    const shop = new Shop();
    const page = show({ shop, client: { ...client, use: [requests()], keep: { request: true } } });
    page.press();
    await page.says(UNSURE);
    expect(isOffered(page)).toBe(true);
    const before = show({ shop, once: page.once });
    await before.says(UNSURE);
    expect(isOffered(before)).toBe(true);
    later();
    // Nothing has redrawn the button since. Its press says that it is too late.
    checkOf(page.element)?.click();
    await page.says(EXPIRED);
    const next = show({ shop, once: page.once });
    await next.says(EXPIRED);
    expect([isOffered(page), isOffered(next), fetch.mock.calls.length]).toEqual([false, false, 1]);
  });

  test('"Check" is offered if the app can be asked, and shows what the app knows', async () => {
    const { client } = lost();
    let known: 'done' | 'unknown' = 'unknown';
    const page = show({ client: { ...client, use: [reconciling()], reconcile: async () => known } });
    page.press();
    await page.says(UNSURE);
    later();
    page.press();
    await page.says(EXPIRED);
    expect(isOffered(page)).toBe(true);
    known = 'done';
    checkOf(page.element)?.click();
    await page.says(DONE);
  });
});

test('the form goes to another address by now: a press sends nothing, and the text does not say to send it again', async () => {
  const { fetch } = answers(Response.json({}, { status: 503 }));
  const shop = new Shop();
  const [before, now] = [shop, Object.assign(new Shop(), { namespace: shop.namespace })].map((one) =>
    show({ shop: one, client: { fetch, limits: { attempts: 1 } } }),
  );
  before?.press();
  await before?.says(UNSURE);
  await now?.says(UNSURE);
  now?.press();
  await now?.says('Nobody can tell whether it is done, and it is too late to send it again. Please ask us.');
  expect(now?.outcomes[0]?.outcome).toMatchObject({ effect: 'unknown', reason: 'elsewhere', attempts: 0 });
});

test('the record is damaged: a press sends nothing, and the text does not say to send it again', async () => {
  const { fetch, bodies } = answers(Response.json({}, { status: 503 }));
  const store = memoryStore();
  let damages = false;
  const seen = (found: unknown): Stored => (damages && found ? { ...found, key: 'another' } : found) as Stored;
  const damaged: Store = {
    ...store,
    read: async (id) => seen(await store.read(id)),
    update: (id, change, ...more) => store.update(id, (found, now) => change(seen(found), now), ...more),
    scan: async (query) => ({ ...(await store.scan(query)), records: (await store.scan(query)).records.map(seen) as never }),
  };
  const page = show({ client: { fetch, store: damaged, limits: { attempts: 1 } } });
  page.press();
  await page.says(UNSURE);
  damages = true;
  page.press();
  await page.says('Nobody can tell whether it is done, and it is too late to send it again. Please ask us.');
  expect([page.outcomes[1]?.outcome?.effect, bodies.length]).toEqual(['unknown', 1]);
});

describe('when the log-in has expired', () => {
  const LOG_IN = 'Please log in. Send it again: it will not be done twice.';

  test('a 401 says to log in again, not to wait; the press after that is sent under the same key', async () => {
    const { fetch, keys } = answers(Response.json({ title: 'Log in' }, { status: 401 }), paid());
    const page = show({ client: { fetch } });
    page.press();
    await page.says(LOG_IN);
    expect([page.element.state, page.outcomes[0]?.outcome?.effect]).toEqual(['unknown', 'unknown']);
    page.press();
    await page.says(DONE);
    expect(new Set(keys).size).toBe(1);
  });

  test('a 401 after a lost answer says so, too', async () => {
    const { fetch } = answers(Response.json({}, { status: 503 }), Response.json({}, { status: 401 }));
    const page = show({ client: { fetch } });
    page.press();
    await page.says(LOG_IN);
    expect(page.outcomes[0]?.outcome).toMatchObject({ effect: 'unknown', reason: 'refused-after-ambiguity' });
  });

  test('the text comes from the attribute, from the client, or from the text for "unknown" alone, in any language', async () => {
    const cases = [
      ['says-unknown="unsure" says-login="log in"', {}, 'log in'],
      ['', { unknown: 'unsure', login: 'log in' }, 'log in'],
      ['says-unknown="ungewiss"', {}, 'ungewiss'],
    ] as const;
    for (const [attributes, says, said] of cases) {
      const page = show({
        client: { fetch: answers(Response.json({}, { status: 401 })).fetch },
        options: { says },
        element: `operation="pay 1" ${attributes}`,
      });
      page.press();
      await page.says(said);
    }
  });
});

describe('bad markup is reported at once', () => {
  test.each([
    ['no operation', '', 'method="post"', 'the attribute operation must name the operation, its parts separated by single spaces, got null'],
    ['an empty operation', 'operation=" "', 'method="post"', 'the attribute operation must name the operation, its parts separated by single spaces, got " "'],
    [
      'an operation whose template had no value',
      'operation="pay "',
      'method="post"',
      'the attribute operation must name the operation, its parts separated by single spaces, got "pay "',
    ],
    ...['undefined', 'null', 'NaN', '[object Object]'].map((word) => [
      `an operation whose template had ${word}`,
      `operation="pay ${word}"`,
      'method="post"',
      `the attribute operation must name the operation, its parts separated by single spaces, got "pay ${word}"`,
    ]),
    ['a form with method get', 'operation="a"', '', 'method must be post, got ""'],
    ['another window', 'operation="a"', 'method="post" target="_blank"', 'target must be absent: the answer comes to this page, got "_blank"'],
    [
      'another charset',
      'operation="a"',
      'method="post" accept-charset="latin1"',
      'accept-charset or <meta charset> must be utf-8: code sends nothing else, got "latin1"',
    ],
    ['a script as next page', 'operation="a" next="javascript:alert(1)"', 'method="post"', 'next must be the address of a page, got "javascript:alert(1)"'],
  ])('%s', async (_, element, form, says) => {
    const page = show({ element, form });
    await expect.poll(() => reported).toEqual([`TypeError: once-form: ${says}`]);
    page.press();
    expect(page.byBrowser).toHaveLength(1);
  });

  test('a form in a page with another charset, unless the form has accept-charset="utf-8"', async () => {
    const own = vi.spyOn(document, 'characterSet', 'get').mockReturnValue('windows-1252');
    const left = show();
    await expect
      .poll(() => reported)
      .toEqual(['TypeError: once-form: accept-charset or <meta charset> must be utf-8: code sends nothing else, got "windows-1252"']);
    left.press();
    const sent = show({ form: 'method="post" accept-charset="UTF-8"' });
    sent.press();
    await sent.says(DONE);
    own.mockRestore();
    expect([left.byBrowser.length, sent.byBrowser.length]).toEqual([1, 0]);
  });

  test('an element without a form', async () => {
    const { element } = show();
    const empty = document.createElement(element.localName);
    empty.setAttribute('operation', 'a');
    host.append(empty);
    await expect.poll(() => reported).toEqual(['TypeError: once-form: the element must contain a form']);
  });
});
