/**
 * Goal: a call without a name that can carry no key is left to fetch: handed on as it came, sent once, with fetch's own rejection. Method: a real engine in a
 * scripted world; what arrives and what is stored is compared.
 */
import { describe, expect, vi } from 'vitest';
import { createOnce, memoryStore } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { answers, lost } from '../support/server.js';
import { NAME, test, type World, watched } from '../support/world.js';

const URL_ = 'https://shop.example/notes';

function open(world: World, options: Parameters<World['open']>[0] = {}, of: Parameters<World['open']>[1] = {}) {
  const tab = world.tab(of);
  return { tab, once: tab.once({ fetch: tab.fetch, ...options }) };
}

describe('a call that can carry no key', () => {
  const stream = () => new Blob(['x'.repeat(3000)]).stream();
  const iterable = () =>
    (async function* () {
      yield new Uint8Array(3);
    })();
  test.for<[string, () => unknown]>([
    ['a stream', stream],
    ['an async iterable', iterable],
    ['an object', () => ({ toString: () => 'mine' })],
  ])('a body that is %s: handed on as it came, without key or record', async ([_, make], { world }) => {
    const { tab, once } = open(world, { limits: { bodyBytes: 1000 } });
    world.server.plays(lost());
    const body = make() as BodyInit;
    expect((await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body, duplex: 'half' } as RequestInit)))).error).toBeInstanceOf(TypeError);
    expect(world.server.arrivals.map(({ key, body: sent }) => [key, sent === body])).toEqual([[null, true]]);
    expect(world.records).toEqual([]);
  });

  test.for<[string, Parameters<typeof open>[1]]>([
    ['', {}],
    [', if a hook returns no name', { operation: () => undefined }],
  ])("mode 'no-cors'%s: a beacon leaves without a key", async ([_, options], { world }) => {
    const { tab, once } = open(world, options);
    world.server.plays(answers(204));
    expect(await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: 'x', mode: 'no-cors' })))).toMatchObject({ status: 204, outcome: undefined });
    expect(world.server.keys).toEqual([null]);
    expect(world.records).toEqual([]);
  });

  test("mode 'no-cors' with a name from the hook, or with an option: TypeError, nothing sent", async ({ world }) => {
    const { tab, once } = open(world, { operation: () => NAME });
    for (const init of [{}, { once: {} }])
      expect((await world.end(tab, watched(once.fetch(URL_, { method: 'POST', mode: 'no-cors', ...init })))).error).toMatchObject({
        name: 'TypeError',
        message: expect.stringMatching(/no-cors/),
      });
    expect(world.server.arrivals).toEqual([]);
  });

  test.each([5, true, 'x', 1n])('an init that is %o goes to fetch, which says what is wrong with it', async (init) => {
    const fetch = vi.fn<typeof globalThis.fetch>(() => Promise.reject(new TypeError('mine')));
    await expect(createOnce({ fetch }).fetch(URL_, init as never)).rejects.toThrow('mine');
    expect(fetch.mock.lastCall).toEqual([URL_, init]);
  });

  test("what fetch itself refuses is rejected with fetch's own error", async () => {
    const own = new TypeError('mine');
    const once = createOnce({ namespace: 'x', store: memoryStore(), fetch: () => Promise.reject(own), use: everything() });
    for (const url of ['http://[', 'https://a:b@shop.example/']) await expect(once.fetch(url, { method: 'POST' })).rejects.toBe(own);
  });

  test('null for no options is accepted, as fetch does', async () => {
    const once = createOnce({ namespace: 'x', store: memoryStore(), fetch: async () => new Response('hello') });
    expect(await (await once.fetch(URL_, null as unknown as undefined)).text()).toBe('hello');
  });

  test('to a URL without a server: what fetch refuses at once is not an unknown outcome', async ({ world }) => {
    const { tab, once } = open(world, { namespace: 'x' }, { server: true });
    world.server.plays(lost(), lost(), lost());
    for (const url of ['nowhere:', 'data:text/plain,hello', 'blob:https://shop.example/1'])
      expect((await world.end(tab, watched(once.fetch(url, { method: 'POST', body: 'x' })))).error).toBeInstanceOf(TypeError);
    expect(world.server.keys).toEqual([null, null, null]);
    expect(world.records).toEqual([]);
  });

  test('with an option `once`, a stream beyond the limit is ERR_ONCE_BODY, and nothing is sent', async ({ world }) => {
    const { tab, once } = open(world, { limits: { bodyBytes: 1000 } });
    for (const ours of [{}, true] as const) {
      const init = { method: 'POST', body: stream(), duplex: 'half', once: ours } as RequestInit;
      expect(await world.end(tab, watched(once.fetch(URL_, init)))).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { effect: 'none', sent: 'no' } });
    }
    expect(world.server.arrivals).toEqual([]);
    expect(world.records).toEqual([]);
  });
});

test.for<[string, string, RequestInit]>([
  ['an invalid URL', 'http://[', {}],
  ['an unknown scheme', 'nowhere:x', {}],
  ['a password in the URL', 'https://a:b@shop.example/', {}],
  ['a body', URL_, { body: 'x' }],
  ['an invalid header', URL_, { headers: { 'not a name': '1' } }],
  ['an invalid option', URL_, { redirect: 'elsewhere' as RequestRedirect }],
])('a GET that fetch refuses for %s rejects at once, and is not tried again', async ([_, url, init], { world }) => {
  let calls = 0;
  const own = new TypeError('mine');
  const fetch = () => {
    calls++;
    return Promise.reject(own);
  };
  const { tab, once } = open(world, { fetch });
  const begun = world.clock.now();
  expect((await world.end(tab, watched(once.fetch(url, init)))).error).toBe(own);
  expect([calls, world.clock.now() - begun]).toEqual([1, 0]);
});
