/**
 * Goal: as with fetch, a call sends what its caller passed at that moment; later changes to the form, the bytes or the name have
 * no effect. Method: one object is used for several calls, and changed right after each of them.
 */
import { describe, expect } from 'vitest';
import { derived, retrying } from '../../src/entries/index.js';
import { createOn } from '../../src/once.js';
import { resolveUrl } from '../../src/platform/shared.js';
import type { Platform } from '../../src/ports.js';
import { answers, lost, textOf } from '../support/server.js';
import { test, URL_, watched } from '../support/world.js';

const SEATS = ['a', 'b', 'c'] as const;

describe('one body for several calls', () => {
  test.for([
    ['a form', () => new FormData()],
    [
      'a form with a file',
      () => {
        const form = new FormData();
        form.set('file', new File(['x'], 'x.txt'));
        return form;
      },
    ],
    ['fields', () => new URLSearchParams()],
  ] as const)('%s: each call sends what they held at that moment', async ([_, make], { world, tab, once }) => {
    world.server.otherwise = answers(201);
    const body = make();
    const calls = SEATS.map((seat) => {
      body.set('seat', seat);
      return watched(once.fetch(URL_, { method: 'POST', body, once: ['seat', seat] }));
    });
    await world.all(tab, ...calls);
    const sent = await Promise.all(world.server.arrivals.map(textOf));
    expect(sent.map((text) => /seat(?:=|"\r\n\r\n)(\w)/.exec(text)?.[1])).toEqual([...SEATS]);
  });

  test('bytes: each call sends what they held at that moment', async ({ world, tab, once }) => {
    world.server.otherwise = answers(201);
    const body = new Uint8Array(1);
    const calls = [1, 2, 3].map((seat) => {
      body[0] = seat;
      return watched(once.fetch(URL_, { method: 'POST', body, once: ['seat', seat] }));
    });
    await world.all(tab, ...calls);
    const sent = await Promise.all(world.server.arrivals.map(({ body: bytes }) => new Response(bytes).arrayBuffer()));
    expect(sent.map((bytes) => new Uint8Array(bytes)[0])).toEqual([1, 2, 3]);
  });

  test('the second attempt of a call sends what the first one did', async ({ world, tab, once }) => {
    world.server.plays(lost(), answers(201));
    const body = new FormData();
    body.set('seat', 'a');
    const call = watched(once.fetch(URL_, { method: 'POST', body, once: ['seat', 'a'] }));
    body.set('seat', 'b');
    await world.end(tab, call);
    const [first, second] = await Promise.all(world.server.arrivals.map(textOf));
    expect(first).toContain('\r\na\r\n');
    expect(second).toBe(first);
  });
});

test('one name for several calls: each call has its own derived key, and its outcome has its own name', async ({ world, tab, once }) => {
  world.server.otherwise = answers(201);
  const name: [string, string] = ['seat', ''];
  const calls = SEATS.map((seat) => {
    name[1] = seat;
    return watched(once.fetch(URL_, { method: 'POST', body: seat, once: { operation: name, key: derived } }));
  });
  const ends = await world.all(tab, ...calls);
  expect(new Set(world.server.keys).size).toBe(3);
  expect(ends.map(({ outcome }) => outcome?.operation)).toEqual(SEATS.map((seat) => ['seat', seat]));
});

test.for<[string, () => BodyInit, (body: never) => void]>([
  ['fields', () => new URLSearchParams('text=a'), (body: URLSearchParams) => body.set('text', 'b')],
  ['a form', () => formOf('a'), (body: FormData) => body.set('text', 'b')],
  ['bytes', () => new TextEncoder().encode('text=a'), (body: Uint8Array) => body.fill(98)],
  ['a buffer', () => new TextEncoder().encode('text=a').buffer, (body: ArrayBuffer) => new Uint8Array(body).fill(98)],
])('a PUT without a name that is sent again sends what it was given at the call: %s', async ([_kind, make, change], { world }) => {
  const sent: string[] = [];
  const { tab, once } = world.open({
    fetch: async (_, init) => {
      sent.push(await new Response(init?.body).text());
      return new Response('', { status: sent.length === 1 ? 503 : 200 });
    },
  });
  const body = make();
  const [call] = await world.begin(watched(once.fetch(URL_, { method: 'PUT', body })));
  change(body as never);
  expect(await world.end(tab, call)).toMatchObject({ status: 200 });
  expect(sent).toHaveLength(2);
  for (const text of sent) expect(text).toMatch(/text(=|"\r\n\r\n)a/);
});

test.for<[string, () => { address: string | URL; init: RequestInit }]>([
  ['as most apps write them', () => ({ address: `${URL_}?page=1`, init: { method: 'GET', headers: { 'x-page': '1' } } })],
  ['as objects of their classes', () => ({ address: new URL(`${URL_}?page=1`), init: { method: 'GET', headers: new Headers({ 'x-page': '1' }) } })],
  ['as what can be read only once', () => ({ address: `${URL_}?page=1`, init: { headers: new Map([['x-page', '1']]).entries() as never } })],
])('a GET is sent again with its own address, method, headers and no body, though its options serve a POST meanwhile: %s', async ([_, make], { world }) => {
  const sent: string[] = [];
  const { tab, once } = world.open({
    fetch: async (url, init) => {
      const { method, headers } = new Request(url, init);
      sent.push(`${method} ${url} ${headers.get('x-page')} ${init?.body}`);
      return new Response('', { status: sent.length === 1 ? 503 : 200 });
    },
  });
  const { address, init } = make();
  const [call] = await world.begin(watched(once.fetch(address, init)));
  if (address instanceof URL) address.search = '?page=2';
  if (init.headers instanceof Headers) init.headers.set('x-page', '2');
  else Object.assign(init.headers as object, { 'x-page': '2' });
  Object.assign(init, { method: 'POST', body: 'order' });
  expect(await world.end(tab, call)).toMatchObject({ status: 200 });
  expect(sent).toEqual(Array(2).fill(`GET ${URL_}?page=1 1 undefined`));
});

test.for(['/shop/', '/shop/orders/7/'])(
  'a relative address of a PUT without a name: while it waits for its next attempt, the page changes to %s; it goes to the place that it had at the call',
  async (later, { world, tab }) => {
    const sent: string[] = [];
    let page = 'https://shop.example/shop/';
    // As the fetch of a page does: a router changes the page's address without loading another page.
    const fetch = async (url: string | URL | Request) => {
      sent.push(new URL(String(url), page).href);
      return new Response('', { status: sent.length === 1 ? 503 : 200 });
    };
    const platform: Platform = { ...tab.platform, resolve: (url, base) => resolveUrl(url, base ?? page) };
    const once = tab.in(() => createOn(platform, { store: tab.store, use: [retrying()], fetch }));
    const [call] = await world.begin(watched(once.fetch('address', { method: 'PUT', body: 'x' })));
    page = `https://shop.example${later}`;
    expect(await world.end(tab, call)).toMatchObject({ status: 200 });
    expect(sent).toEqual(Array(2).fill('https://shop.example/shop/address'));
  },
);

function formOf(text: string): FormData {
  const form = new FormData();
  form.set('text', text);
  return form;
}
