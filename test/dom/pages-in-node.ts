/** What every page in Node must do, whichever library makes it: the same tests in each environment. */
import { http } from 'msw';
import { setupServer } from 'msw/node';
import { createOnce, memoryStore, outcomeOf } from 'oncefetch';
import { faultNames, idempotentServer } from 'oncefetch/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { nodePlatform } from '../../src/platform/node/index.js';

export function pagesInNode(): void {
  const server = idempotentServer({ url: '/api/payments', retryAfter: 0 });
  const network = setupServer(...server.handlers(http));
  beforeAll(() => network.listen({ onUnhandledFrame: 'error' }));
  afterEach(() => server.reset());
  afterAll(() => network.close());

  const ATTEMPT_MS = 20_000;
  const once = createOnce({ namespace: 'ann', store: memoryStore(), retry: { minDelayMs: 1, maxDelayMs: 2 }, limits: { attemptMs: ATTEMPT_MS } });
  const pay = (url: string, name: string) => once.fetch(url, { method: 'POST', body: '{"cart":1}', once: ['pay', name] });

  test('an address is relative to the page, as for its fetch', async () => {
    for (const url of ['/api/payments', 'api/payments', new URL('/api/payments', location.href).href])
      expect(outcomeOf(await pay(url, url))).toMatchObject({ effect: 'done', attempts: 1 });
    expect(new Set(server.requests.map(({ url }) => url))).toEqual(new Set([new URL('/api/payments', location.href).href]));
  });

  test("a signal and a form of the page's own classes are accepted", async () => {
    const body = new FormData();
    body.append('cart', '1');
    const { signal } = new AbortController();
    expect(outcomeOf(await once.fetch('/api/payments', { method: 'POST', body, signal, once: ['pay', 'by form'] }))).toMatchObject({ effect: 'done' });
    expect(server.requests.map(({ body: sent }) => sent)).toEqual([expect.stringMatching(/name="cart"\r\n\r\n1\r\n/)]);
  });

  test('a signal of the page aborts a call', async () => {
    const signal = AbortSignal.abort(new Error('left'));
    await expect(once.fetch('/api/payments', { method: 'POST', body: '{}', signal, once: ['pay', 'called off'] })).rejects.toThrow('left');
    expect(server.requests).toEqual([]);
  });

  test("a <base> element counts, as it does for the page's links", () => {
    const base = document.createElement('base');
    base.href = '/shop/';
    document.head.append(base);
    expect(nodePlatform().resolve('api').url).toBe(new URL('/shop/api', location.href).href);
    base.remove();
  });

  test.each<[string, () => Response]>([
    ['one that is frozen', () => Object.freeze(Response.json({ id: 1 }))],
    ['one without a body', () => new Response(null, { status: 204 })],
    ['one whose copy is no stream', () => Object.defineProperty(Response.json({ id: 1 }), 'body', { value: null })],
  ])('the answer of a custom fetch: %s', async (what, answer) => {
    const own = createOnce({ namespace: 'ann', store: memoryStore(), fetch: async () => answer() });
    expect(outcomeOf(await own.fetch('/api/own', { method: 'POST', body: '{}', once: ['own', what] }))?.effect).toBe('done');
  });

  test('a server that is shared by many people still counts as a server', () => expect(nodePlatform().server).toBe(true));

  describe.each(faultNames.filter((fault) => !fault.startsWith('hang')))('the fault %s', (fault) => {
    test('ends in one charge, long before an attempt would be given up', async () => {
      server.faults.next({ name: fault, retryAfter: 0 });
      const begun = performance.now();
      const end: unknown = await pay('/api/payments', fault).catch((error: unknown) => error);
      expect(performance.now() - begun).toBeLessThan(ATTEMPT_MS / 2);
      // The caller gets the refusal itself, because it came from in front of the server.
      if (fault === 'unauthorized') return expect(end).toMatchObject({ status: 401 });
      expect(outcomeOf(end)?.effect).toBe('done');
      expect(server.effects).toHaveLength(1);
    });
  });
}
