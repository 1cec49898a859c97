/**
 * Goal: calls of one name on one page are one operation, even through different copies of the package. Method: real
 * requests to a real server.
 */
import { afterEach, describe, expect } from 'vitest';
import { createOnce, isOnceError, outcomeOf, SOON } from '../realm/lib.js';
import { closeRealms } from '../support/realms.js';
import { client, sends, test } from '../support/shop.js';

afterEach(closeRealms);

const ORDER = { method: 'POST', body: '{"cart":1}' } as const;

describe('two clicks in one tick', () => {
  test('are one request and one effect, and both callers get an answer with a body', async ({ shop, once }) => {
    const answers = await Promise.all([1, 2].map(() => once.fetch(shop.url, { ...ORDER, once: ['pay', 1] })));
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([{ charge: 1 }, { charge: 1 }]);
    expect(answers.map((answer) => outcomeOf(answer)?.joined)).toEqual([false, true]);
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });

  test('through two clients are one request, too', async ({ shop }) => {
    const answers = await Promise.all([client(shop), client(shop)].map((once) => once.fetch(shop.url, { ...ORDER, once: ['pay', 1] })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });

  test('with different amounts: the second call waits, and is then refused because the name is settled', async ({ shop, once }) => {
    const [first, second] = await Promise.allSettled([
      once.fetch(shop.url, { ...ORDER, once: ['pay', 1] }),
      once.fetch(shop.url, { method: 'POST', body: '{"cart":2}', once: ['pay', 1] }),
    ]);
    expect(first.status).toBe('fulfilled');
    expect(second.status === 'rejected' && second.reason.code).toBe('ERR_ONCE_ALREADY_SETTLED');
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });

  test('without a name are two effects, as with plain fetch', async ({ shop, once }) => {
    await Promise.all([once.fetch(shop.url, ORDER), once.fetch(shop.url, ORDER)]);
    const { effects, arrivals } = await shop.ledger();
    expect(effects).toHaveLength(2);
    expect(new Set(arrivals.map(({ key }) => key)).size).toBe(2);
  });
});

describe('copies of the package on one page', () => {
  /** Two bundles beside the page's own copy, as if two libraries brought their own copies. */
  const copies = async () => {
    const paths = ['/site/realm/b/lib.js', '/site/realm/c/lib.js'];
    const [b, c] = (await Promise.all(paths.map((path) => import(/* @vite-ignore */ path)))) as [
      typeof import('../realm/lib.js'),
      typeof import('../realm/lib.js'),
    ];
    return { b, c };
  };

  test('are separate: they have no function in common', async () => {
    const { b, c } = await copies();
    expect(new Set([outcomeOf, b.outcomeOf, c.outcomeOf]).size).toBe(3);
  });

  test("join each other's calls: a click through each of three copies makes one request", async ({ shop }) => {
    const { b, c } = await copies();
    const answers = await Promise.all(
      [createOnce, b.createOnce, c.createOnce].map((create) => create({ ...SOON, namespace: shop.namespace }).fetch(shop.url, { ...ORDER, once: ['pay', 1] })),
    );
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([{ charge: 1 }, { charge: 1 }, { charge: 1 }]);
    expect(answers.map((answer) => outcomeOf(answer)?.joined)).toEqual([false, true, true]);
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });

  test('read the outcome of each other’s responses and errors', async ({ shop }) => {
    const { b, c } = await copies();
    await shop.meets('lose-response', 'unavailable');
    const answer = await b.createOnce({ ...SOON, namespace: shop.namespace }).fetch(shop.url, { ...ORDER, once: ['pay', 1] });
    expect(c.outcomeOf(answer)).toMatchObject({ type: 'replayed', effect: 'done', attempts: 3 });
    expect(outcomeOf(answer)).toBe(c.outcomeOf(answer));
    const error = await c
      .createOnce({ ...SOON, namespace: shop.namespace })
      .fetch(shop.url, { method: 'POST', body: '{}', once: ['pay', 1] })
      .catch((thrown: unknown) => thrown);
    expect(isOnceError(error, 'ERR_ONCE_ALREADY_SETTLED')).toBe(true);
    expect(b.outcomeOf({ cause: error })).toMatchObject({ effect: 'done', key: c.outcomeOf(answer)?.key });
  });

  test('return each other’s remembered answers', async ({ shop }) => {
    const { b } = await copies();
    await client(shop).fetch(shop.url, { ...ORDER, once: ['pay', 1] });
    const again = await b.createOnce({ ...SOON, namespace: shop.namespace }).fetch(shop.url, { ...ORDER, once: ['pay', 1] });
    expect(await again.json()).toEqual({ charge: 1 });
    expect(b.outcomeOf(again)).toMatchObject({ type: 'replayed', from: 'memory' });
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });
});
