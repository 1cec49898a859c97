/**
 * Goal: in every runtime a named operation takes effect once, and two customers never share an operation. Method: a service in the
 * real runtime, whose client is made at module level, pays at a shop that counts; requests come one after another and at once.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { folder, here, tellAbsent } from './support/present.js';
import type { Service } from './support/runtimes.js';
import { type Shop, startShop } from './support/shop.js';

tellAbsent();

describe.each(here)('$name', ({ start }) => {
  const home = folder();
  let service: Service;
  let shop: Shop;
  beforeAll(async () => void (service = await start(home.path)));
  afterAll(async () => {
    await service?.kill();
    home.remove();
  });
  beforeEach(async () => void (shop = await startShop()));
  afterEach(() => shop.close());
  const pay = (path: Parameters<Shop['at']>[0], query: Readonly<Record<string, string>> = {}) => service.pay({ at: shop.at(path), ...query });

  test('an operation is sent, settles, and is not sent again', async () => {
    const cart = 'life';
    const first = await pay('charge', { cart, customer: 'ann' });
    expect(first).toMatchObject({ outcome: { type: 'fresh', effect: 'done' }, status: 201, body: '{"charge":0}' });
    const again = await pay('charge', { cart, customer: 'ann' });
    expect(again.outcome).toMatchObject({ type: 'replayed', effect: 'done', key: first.outcome?.key });
    expect(again.body).toBe('{"charge":0}');
    expect(await service.pending('ann')).toEqual([]);
    expect([shop.charges, shop.requests]).toEqual([[first.outcome?.key], 1]);
  });

  test('after a lost answer, the operation is sent again under the same key', async () => {
    const told = await pay('lost', { cart: 'lost' });
    expect(told).toMatchObject({ outcome: { type: 'replayed', effect: 'done' }, status: 201 });
    expect([shop.charges, shop.requests]).toEqual([[told.outcome?.key], 2]);
  });

  test('two requests for one name at once are one charge, and both get the answer', async () => {
    const both = await Promise.all([pay('slow', { cart: 'twice' }), pay('slow', { cart: 'twice' })]);
    for (const told of both) expect(told).toMatchObject({ outcome: { effect: 'done' }, status: 201, body: '{"charge":0}' });
    expect([shop.charges.length, shop.requests]).toEqual([1, 1]);
  });

  test('equal requests of two customers without a name are two charges with two keys, at once and one after the other', async () => {
    const all = [...(await Promise.all([pay('slow'), pay('slow')])), await pay('lost'), await pay('charge')];
    for (const { outcome } of all) expect(outcome).toMatchObject({ effect: 'done', resumed: false, joined: false });
    expect(new Set(shop.charges).size).toBe(4);
  });

  test('the equal request of another customer does not resume an operation whose answer never came', async () => {
    expect((await pay('deaf')).outcome).toMatchObject({ effect: 'unknown' });
    expect((await pay('deaf')).outcome).toMatchObject({ type: 'fresh', effect: 'done', resumed: false });
    expect(new Set(shop.charges).size).toBe(2);
  });

  test('two customers who use the same name are two charges', async () => {
    await Promise.all([pay('slow', { cart: 'same', customer: 'ann' }), pay('slow', { cart: 'same', customer: 'bert' })]);
    expect(new Set(shop.charges).size).toBe(2);
  });
});
