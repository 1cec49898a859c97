/**
 * Goal: workers, which have no localStorage and no page, pay only once among themselves and together with pages.
 * Method: real workers, with their own bundles.
 */
import { afterEach, describe, expect } from 'vitest';
import { operation } from '../../../src/entries/index.js';
import { createOnce } from '../realm/lib.js';
import { closeRealms, openFrame, openSharedWorker, openWorker, type Realm } from '../support/realms.js';
import { type Shop, sends, test } from '../support/shop.js';

afterEach(closeRealms);

const pay = ({ run }: Realm, { url, namespace }: Shop) =>
  run(
    async (lib, url, namespace) => {
      const answer = await lib.createOnce({ ...lib.SOON, namespace }).fetch(url, { method: 'POST', body: '{"cart":1}', once: ['pay', 1] });
      return { status: answer.status, outcome: lib.outcomeOf(answer), storage: typeof localStorage, page: typeof document };
    },
    url,
    namespace,
  );

describe.each([
  ['a worker', openWorker],
  ['a shared worker', openSharedWorker],
])('%s', (_, open) => {
  test('pays once through faults, and stores the key where pages find it', async ({ shop }) => {
    await shop.meets('lose-response', 'truncate');
    const told = await pay(await open(), shop);
    expect(told).toMatchObject({ status: 201, storage: 'undefined', page: 'undefined', outcome: { type: 'replayed', attempts: 3, storedIn: 'disk' } });
    await shop.oneEffect();
    const state = () => operation(createOnce({ namespace: shop.namespace }), ['pay', 1]).state;
    await expect.poll(state).toMatchObject({ phase: 'settled', outcome: { effect: 'done', key: told.outcome?.key } });
  });

  test('resolves a relative URL although it has no page, and keeps calls without a name apart', async ({ shop }) => {
    const worker = await open();
    const path = new URL(shop.url).pathname;
    await worker.run(
      async (lib, path, namespace) => {
        const once = lib.createOnce({ ...lib.SOON, namespace });
        await Promise.all([1, 2].map(() => once.fetch(path, { method: 'POST', body: '{}' })));
      },
      path,
      shop.namespace,
    );
    const { effects, arrivals } = await shop.ledger();
    expect([effects.length, new Set(arrivals.map(({ key }) => key)).size]).toEqual([2, 2]);
  });
});

test('a worker that ends in the middle of its attempt leaves its key to the page', async ({ shop }) => {
  await shop.meets('hang-after-commit');
  const [worker, frame] = await Promise.all([openWorker(), openFrame()]);
  pay(worker, shop).catch(() => {});
  const [first] = await shop.arrived(1);
  worker.close();
  expect(await pay(frame, shop)).toMatchObject({ status: 201, outcome: { type: 'replayed', resumed: true, key: first?.key } });
  expect(sends(await shop.oneEffect())).toHaveLength(2);
});

test('a worker whose thread is blocked before its first attempt, while the page pays under its key: it sends nothing, and learns the end', async ({ shop }) => {
  const [worker, frame] = await Promise.all([openWorker(), openFrame()]);
  const { url, namespace } = shop;
  const blocked = worker.run(
    async (lib, url, namespace) => {
      const headers = () => {
        for (const until = Date.now() + 3500; Date.now() < until; );
        return {};
      };
      const once = lib.createOnce({ ...lib.SOON, namespace, headers });
      return lib.outcomeOf(await once.fetch(url, { method: 'POST', body: '{"card":"1"}', once: ['pay', 1] }).catch((error) => error));
    },
    url,
    namespace,
  );
  await expect.poll(() => shop.locks()).toHaveLength(1);
  const told = await frame.run(
    async (lib, url, namespace) => {
      const once = lib.createOnce({ ...lib.SOON, namespace, limits: { attemptMs: 1000 } });
      const pay = async (card: string) =>
        lib.outcomeOf(await once.fetch(url, { method: 'POST', body: JSON.stringify({ card }), once: ['pay', 1] }).catch((error) => error))?.effect;
      return [await pay('declined'), await pay('2')];
    },
    url,
    namespace,
  );
  expect(told).toEqual(['unknown', 'done']);
  expect(await blocked).toMatchObject({ effect: 'done', attempts: 0 });
  expect(sends(await shop.oneEffect())).toHaveLength(2);
});

test('a page, a worker and a shared worker that pay at once make one effect', async ({ shop }) => {
  const realms = await Promise.all([openFrame(), openWorker(), openSharedWorker()]);
  const told = await Promise.allSettled(realms.map((realm) => pay(realm, shop)));
  const outcomes = told.map((one) => (one.status === 'fulfilled' ? one.value.outcome : one.reason.outcome));
  expect(outcomes.map((outcome) => outcome?.effect)).toEqual(['done', 'done', 'done']);
  expect(new Set(outcomes.map((outcome) => outcome?.key)).size).toBe(1);
  expect(sends(await shop.oneEffect())).toHaveLength(1);
});
