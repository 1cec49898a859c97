/**
 * Goal: a page and a service worker that both use the package do not wait for each other, and send the same key (A26).
 * Method: a real service worker that answers with `once.fetch(event.request)`, with the same namespace and store.
 */
import { afterEach, describe, expect } from 'vitest';
import { pending } from '../../../src/entries/index.js';
import { createOnce } from '../realm/lib.js';
import { closeRealms, type Frame, openFrame } from '../support/realms.js';
import { Shop, sends, test } from '../support/shop.js';

const registered: ServiceWorkerRegistration[] = [];
afterEach(async () => {
  closeRealms();
  for (const one of registered.splice(0)) await one.unregister();
});

/** A page behind a service worker. `kind` says what the worker does with payments. */
async function behind(shop: Shop, kind: 'once' | 'offline-page' | 'passes' | 'ends-what-breaks' = 'once'): Promise<Frame> {
  const scope = `/site/${crypto.randomUUID()}/`;
  const registration = await navigator.serviceWorker.register(`/site/service-worker.js?namespace=${shop.namespace}&kind=${kind}`, { scope });
  registered.push(registration);
  const worker = registration.installing ?? registration.waiting ?? registration.active;
  await expect.poll(() => worker?.state, { timeout: 20_000 }).toBe('activated');
  const frame = await openFrame({ path: `${scope}realm.html` });
  expect(await frame.run(() => navigator.serviceWorker.controller?.state)).toBe('activated');
  return frame;
}

/** With `declines`, the client's dialect expects a shop that may decline in the body of a 201. */
const pay = ({ run }: Frame, { url, namespace }: Shop, name: readonly ['pay', number] | undefined, declines = false) =>
  run(
    async (lib, url, namespace, name, declines) => {
      const answers = [{ status: 201, at: { status: 'declined' }, means: 'refused', sticky: true }] as const;
      const dialect = declines && lib.defineDialect({ name: 'bank', place: lib.inHeader('Idempotency-Key'), answers });
      const once = lib.createOnce({ ...lib.SOON, namespace, ...(dialect && { dialect }) });
      const began = performance.now();
      try {
        const answer = await once.fetch(url, { method: 'POST', body: '{"cart":1}', ...(name && { once: [...name] }) });
        return { status: answer.status, outcome: lib.outcomeOf(answer), ms: performance.now() - began };
      } catch (error) {
        return { code: (error as { code?: string }).code, outcome: lib.outcomeOf(error), ms: performance.now() - began };
      }
    },
    url,
    namespace,
    name,
    declines,
  );

/** Half the time limit of an attempt. A call in one context that waited for the other's lock would take longer. */
const SOON_MS = 7000;

describe('a service worker that uses the package as well as the page', () => {
  test.each([
    ['named', ['pay', 1]],
    ['unnamed', undefined],
  ] as const)('sends a %s call with its key, without waiting for the page', async (_, name) => {
    const shop = new Shop();
    const told = await pay(await behind(shop), shop, name);
    expect(told).toMatchObject({ status: 201, outcome: { type: 'fresh', attempts: 1 } });
    expect(told.ms).toBeLessThan(SOON_MS);
    const arrivals = await shop.oneEffect();
    expect(sends(arrivals)).toHaveLength(1);
    expect(arrivals[0]?.key).toBe(told.outcome?.key);
    expect(arrivals[0]?.headers['x-through']).toBe('service worker');
  });

  test('makes no record of its own for a call of the page', async ({ shop }) => {
    const frame = await behind(shop);
    await shop.hold();
    const told = pay(frame, shop, ['pay', 1]);
    await shop.arrived(1);
    expect(await pending(createOnce({ namespace: shop.namespace }))).toMatchObject([{ name: ['pay', 1] }]);
    await shop.release();
    await told;
    expect(await pending(createOnce({ namespace: shop.namespace }))).toEqual([]);
  });

  test('does not retry a call of the page, which retries under one key itself', async ({ shop }) => {
    const frame = await behind(shop);
    await shop.meets('unavailable-after-commit', 'lose-response');
    expect(await pay(frame, shop, ['pay', 1])).toMatchObject({ status: 201, outcome: { type: 'replayed', attempts: 3 } });
    expect(sends(await shop.oneEffect())).toHaveLength(3);
  });

  test('lets a named GET bypass the cache', async ({ shop }) => {
    const frame = await behind(shop);
    const reads = await frame.run(
      async (lib, url, namespace) => {
        const once = lib.createOnce({ ...lib.SOON, namespace });
        const plain = await fetch(url);
        const named = [await once.fetch(url, { once: ['a'] }), await once.fetch(url, { once: ['b'] })];
        return Promise.all([plain, ...named].map((answer) => answer.text()));
      },
      shop.at('cached'),
      shop.namespace,
    );
    expect(reads).toEqual(['1', '2', '3']);
  });

  test('gives a key to a plain fetch of the page, and retries it', async ({ shop }) => {
    const frame = await behind(shop);
    await shop.meets('unavailable-after-commit');
    const status = await frame.run(async (_, url) => (await fetch(url, { method: 'POST', body: '{"cart":1}' })).status, shop.url);
    expect(status).toBe(201);
    expect(sends(await shop.oneEffect())).toHaveLength(2);
  });
});

test('the offline page of a service worker is no answer of the shop: unknown, and the key stays (A17)', async ({ shop }) => {
  const told = await pay(await behind(shop, 'offline-page'), shop, ['pay', 1]);
  expect(told).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'not-a-verdict' } });
  expect(await pending(createOnce({ namespace: shop.namespace }))).toHaveLength(1);
});

describe('a JSON answer that breaks off behind a service worker', () => {
  test.each(['passes', 'ends-what-breaks'] as const)('that %s: the page sends the same key again', async (kind) => {
    const shop = new Shop();
    const frame = await behind(shop, kind);
    await shop.meets('truncate');
    // The page gets part of the body, or an empty one. After an empty body it sends again only because this shop may
    // decline in the body.
    expect(await pay(frame, shop, ['pay', 1], true)).toMatchObject({ status: 201, outcome: { type: 'replayed', attempts: 2 } });
    expect(sends(await shop.oneEffect())).toHaveLength(2);
  });
});
