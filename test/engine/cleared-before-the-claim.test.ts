/**
 * Goal: a call that had not begun when the user logged out stores and sends nothing afterwards. Method: `clear` is called while its request is read, or
 * while it waits for another tab or process that drives the operation.
 */
import { describe, expect } from 'vitest';
import { stripe } from '../../src/dialects/stripe.js';
import { clear, type Once } from '../../src/entries/index.js';
import { answers, charged, delayed, lost } from '../support/server.js';
import type { TabOptions } from '../support/tab.js';
import { CART, NAME, ONE, pay, SECOND, test, URL_, watched } from '../support/world.js';

const SHOP = { namespace: 'shop' } as const;

test.for(['fingerprint', 'body'])('a log-out while its %s is read', async (what, { world, tab }) => {
  const once = tab.once(SHOP);
  const meta = { note: 'secret' };
  const body = new ReadableStream({
    async pull(controller) {
      await clear(once);
      controller.enqueue(new TextEncoder().encode('{}'));
      controller.close();
    },
  });
  const fingerprint = async (): Promise<string> => {
    await clear(once);
    return 'x';
  };
  const extended = tab.once({ ...SHOP, fingerprint });
  const call =
    what === 'body'
      ? watched(once.fetch(URL_, { method: 'POST', body, duplex: 'half', once: { operation: NAME, meta } } as RequestInit))
      : pay(extended, { meta });
  expect(await world.end(tab, call)).toMatchObject({ outcome: { effect: 'unknown', reason: 'record', attempts: 0 } });
  expect([world.server.arrivals, world.records]).toEqual([[], []]);
  expect((await world.end(tab, pay(once), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
});

test.for([1, 2, 3, 4])('a log-out at digest %i of a call without a name that brings a key', async (step, { world, tab }) => {
  const once = tab.once(SHOP);
  const { digest } = tab.platform;
  let digests = 0;
  let before = false;
  const slow: typeof digest = async (...of) => {
    if (++digests === step) {
      before = !world.server.arrivals.length;
      await clear(once);
    }
    return digest(...of);
  };
  Object.assign(tab.platform, { digest: slow });
  world.server.otherwise = answers(201);
  const { outcome } = await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: '{}', once: { key: 'order-1' } })));
  if (before) expect(outcome).toMatchObject({ effect: 'unknown' });
  expect(world.server.arrivals).toHaveLength(before ? 0 : 1);
});

describe.each<[string, TabOptions]>([
  ['pages', {}],
  ['pages without locks', { locks: false }],
  ['processes', { server: true, locks: false }],
])('a log-out while the call waits for another one, in %s', (_, of) => {
  test.for([
    ['the same form, whose answer is lost', CART, lost()],
    ['an edited form, after the first one is done', { ...CART, amount: 11 }, answers(201)],
    ['the same form, which is done', CART, answers(201)],
  ] as const)('%s', async ([, body, meets], { world }) => {
    const options = { ...SHOP, ...ONE, keep: { request: true } };
    const [driver, caller] = [world.open(options, of), world.open(options, of)];
    const [first] = await world.begin(pay(driver.once), delayed(5 * SECOND, charged(meets)));
    const [call] = await world.begin(pay(caller.once, { body, repeat: 'always', meta: { note: 'secret' } }));
    await world.run(clear(caller.once));
    await world.end(driver.tab, first);
    await world.end(caller.tab, call);
    expect(world.server.arrivals).toHaveLength(1);
    expect(JSON.stringify(world.records)).not.toMatch(/secret|amount/);
  });
});

test('a log-out while a call is read whose operation is done: its answer is not asked for', async ({ world, tab }) => {
  let logsOut = false;
  const fingerprint = async (): Promise<string> => {
    if (logsOut) await clear(once);
    return 'x';
  };
  const once: Once = tab.once({ ...SHOP, dialect: stripe(), fingerprint });
  await world.end(tab, pay(once), charged(answers(201)));
  logsOut = true;
  expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { effect: 'done', attempts: 0 } });
  expect(world.server.arrivals).toHaveLength(1);
});

test.for<[string, { readonly once?: true }]>([
  ['without a name', {}],
  ['named by its content', { once: true }],
])('a log-out while a call %s is read', async ([, how], { world, tab }) => {
  const once: Once = tab.once({
    ...SHOP,
    fingerprint: async () => {
      await clear(once);
      return 'x';
    },
  });
  const call = watched(once.fetch(URL_, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' }, ...how }));
  expect(await world.end(tab, call)).toMatchObject({ outcome: { effect: 'unknown', reason: 'identity', attempts: 0 } });
  expect([world.server.arrivals, world.records]).toEqual([[], []]);
});

test('a log-out by another client of the page while a call without a name is read', async ({ world, tab }) => {
  const other = tab.once(SHOP);
  const fingerprint = async (): Promise<string> => {
    await clear(other);
    return 'x';
  };
  const call = watched(tab.once({ ...SHOP, fingerprint }).fetch(URL_, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }));
  expect(await world.end(tab, call)).toMatchObject({ outcome: { effect: 'unknown', reason: 'identity', attempts: 0 } });
  expect([world.server.arrivals, world.records]).toEqual([[], []]);
});

test('on a server, whose clients serve many users, a call without a name goes on', async ({ world }) => {
  const tab = world.tab({ server: true });
  const once: Once = tab.once({
    ...SHOP,
    fingerprint: async () => {
      await clear(once);
      return 'x';
    },
  });
  const call = watched(once.fetch(URL_, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }));
  expect((await world.end(tab, call, charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
});

test('the log-out of another user, whose client is on the same page, ends no call', async ({ world, tab }) => {
  const shop = tab.once(SHOP);
  const fingerprint = async (): Promise<string> => {
    await clear(shop);
    return 'x';
  };
  const call = pay(tab.once({ namespace: 'ann', fingerprint }));
  expect((await world.end(tab, call, charged(answers(201)))).outcome).toMatchObject({ type: 'fresh' });
});
