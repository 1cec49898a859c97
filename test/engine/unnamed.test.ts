/**
 * Goal: each call without a name is an operation of its own, under a key of its own; what was lost is taken up by the same call again, and nothing else is.
 * Method: a real engine in a scripted world, with browsers, servers, and tabs that die.
 */
import { describe, expect } from 'vitest';
import { pending, subscribe } from '../../src/entries/index.js';
import type { OnceRequestInit } from '../../src/once.js';
import type { Locks } from '../../src/ports.js';
import { answers, charged, delayed, during, hangs, honest, lost, replays, textOf } from '../support/server.js';
import { DAY, HOUR, test as inWorld, NAME, ONE, pay, rest, SECOND, type World, watched } from '../support/world.js';

/** A client whose plain fetch is scripted, too. */
const test = inWorld.extend('once', ({ tab }) => tab.once({ fetch: tab.fetch }));

const URL_ = 'https://shop.example/notes';

/** A tab with a client whose plain fetch is scripted, too. */
function open(world: World, options: Parameters<World['open']>[0] = {}, of: Parameters<World['open']>[1] = {}) {
  const tab = world.tab(of);
  return { tab, once: tab.once({ fetch: tab.fetch, ...options }) };
}
const post = (once: ReturnType<typeof open>['once'], body: unknown = { n: 1 }, init: OnceRequestInit = {}, url = URL_) =>
  watched(once.fetch(url, { method: 'POST', body: JSON.stringify(body), ...init }));

describe('a POST or PATCH without a name', () => {
  test.for(['POST', 'PATCH'])('%s: one key for all attempts, and a record before the first one', async (method, { world, tab, once }) => {
    const end = await world.end(tab, post(once, {}, { method }), lost(), answers(503), answers(201));
    expect(end).toMatchObject({ status: 201, outcome: { effect: 'done', operation: undefined, attempts: 3 } });
    expect(new Set(world.server.keys)).toEqual(new Set([end.outcome?.key]));
  });

  test('two equal calls are two operations, at once or one after the other', async ({ world, tab, once }) => {
    world.server.plays(delayed(SECOND, answers(201)), delayed(SECOND, answers(201)), answers(201));
    const ends = await world.all(tab, post(once), post(once));
    ends.push(await world.end(tab, post(once)));
    expect(ends.map(({ outcome }) => outcome?.type)).toEqual(['fresh', 'fresh', 'fresh']);
    expect(new Set(world.server.keys).size).toBe(3);
  });

  // Tabs share no locks on an origin that is not secure.
  test.for([true, false])('a call that another tab is driving is not taken up, with locks: %s', async (locks, { world }) => {
    const [one, two] = [open(world, {}, { locks }), open(world, {}, { locks })];
    const [first] = await world.begin(post(one.once), delayed(5 * SECOND, answers(201)), delayed(5 * SECOND, answers(201)));
    const second = post(two.once);
    expect((await world.end(one.tab, first)).outcome).toMatchObject({ type: 'fresh' });
    expect((await world.end(two.tab, second)).outcome).toMatchObject({ type: 'fresh', resumed: false });
    expect(world.server.charged.size).toBe(2);
  });

  test('a call whose tab has given up is taken up by an equal call of another tab', async ({ world }) => {
    const [one, two] = [open(world, ONE), open(world)];
    const [first] = await world.begin(post(one.once), delayed(5 * SECOND, charged(lost())), answers(201));
    expect((await world.end(two.tab, post(two.once))).outcome).toMatchObject({ resumed: false });
    const { outcome } = await world.end(one.tab, first);
    expect((await world.end(two.tab, post(two.once), replays())).outcome).toMatchObject({ resumed: true, key: outcome?.key });
  });

  test('a call whose tab has given up is taken up although a press that passed it over is still under way', async ({ world }) => {
    const [one, two] = [open(world, ONE), open(world)];
    const [first] = await world.begin(post(one.once), delayed(5 * SECOND, charged(lost())), delayed(8 * SECOND, answers(201)), replays());
    const [second] = await world.begin(post(two.once));
    const { outcome } = await world.end(one.tab, first);
    expect((await world.end(two.tab, post(two.once))).outcome).toMatchObject({ resumed: true, key: outcome?.key });
    expect((await world.end(two.tab, second)).outcome).toMatchObject({ type: 'fresh', resumed: false });
  });

  test('a call that ended unknown is taken up by the same call, key and all', async ({ world }) => {
    const { tab, once } = open(world, ONE);
    const first = await world.end(tab, post(once), charged(lost()));
    expect(first).toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
    expect(await world.end(tab, post(once), replays())).toMatchObject({ status: 201, outcome: { type: 'replayed', resumed: true, key: first.outcome?.key } });
    expect((await world.end(tab, post(once), answers(201))).outcome).toMatchObject({ type: 'fresh' });
  });

  test('a call that ended unknown is taken up by each equal call after it, until one of them is answered', async ({ world }) => {
    const { tab, once } = open(world, ONE);
    for (const answer of [charged(lost()), lost(), lost(), replays()]) await world.end(tab, post(once), answer);
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('a call whose tab died is taken up after a reload, the oldest one first', async ({ world }) => {
    const keys: unknown[] = [];
    for (let page = 0; page < 2; page++) {
      const { tab, once } = open(world);
      world.server.plays(during(() => tab.kill(), charged(hangs())));
      // The second page sends a key of its own, or it would take up what the first page left.
      void post(once, { n: 1 }, page === 0 ? {} : { headers: { 'idempotency-key': 'a-key-of-its-own' } });
      await world.clock.advance(SECOND);
      keys.push(world.server.keys[page]);
    }
    const { tab, once } = open(world);
    expect((await world.end(tab, post(once), replays())).outcome).toMatchObject({ key: keys[0], resumed: true });
  });

  test.for([true, false])('of two equal calls at once, only one takes up a lost call, and the other one is sent, too (locks: %s)', async (locks, { world }) => {
    const tab = world.tab({ locks });
    const once = tab.once({ fetch: tab.fetch, ...ONE });
    const server = honest([lost()]);
    await world.end(tab, post(once), server, server, server);
    const ends = await world.all(tab, post(once), post(once));
    expect(ends.map(({ outcome }) => outcome)).toMatchObject([
      { effect: 'done', resumed: true, joined: false },
      { type: 'fresh', resumed: false, joined: false },
    ]);
    expect(world.server.charged.size).toBe(2);
    // Nothing stays reserved: the call that is lost next is taken up, too.
    await world.end(tab, post(once), charged(lost()), replays());
    expect((await world.end(tab, post(once))).outcome).toMatchObject({ resumed: true });
  });

  test('a call with another body, URL or method takes up nothing', async ({ world }) => {
    const { tab, once } = open(world, ONE);
    const first = await world.end(tab, post(once), lost(), answers(201), answers(201), answers(201));
    for (const call of [post(once, { n: 2 }), post(once, { n: 1 }, {}, `${URL_}/2`), post(once, { n: 1 }, { method: 'PATCH' })])
      expect((await world.end(tab, call)).outcome?.key).not.toBe(first.outcome?.key);
  });

  test('a lost call past its key window is not taken up, and stays in pending', async ({ world }) => {
    const { tab, once } = open(world, ONE);
    const first = await world.end(tab, post(once), charged(lost()));
    await world.clock.advance(25 * HOUR);
    expect((await world.end(tab, post(once), answers(201))).outcome).toMatchObject({ type: 'fresh' });
    expect(await world.run(pending(once))).toMatchObject([{ name: [], key: first.outcome?.key }]);
  });

  test('a call that was lost just now is taken up, however many others are past their key window', async ({ world, tab }) => {
    const once = tab.once({ fetch: tab.fetch, ...ONE });
    world.server.plays(...Array.from({ length: 150 }, lost));
    await world.all(tab, ...Array.from({ length: 150 }, () => post(once)));
    await world.clock.advance(25 * HOUR);
    const { outcome } = await world.end(tab, post(once), charged(lost()), replays());
    expect((await world.end(tab, post(once))).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
  });

  test('a lost call of another user is not taken up', async ({ world }) => {
    let user = 'ann';
    const { tab, once } = open(world, { ...ONE, namespace: () => user });
    await world.end(tab, post(once), charged(lost()));
    user = 'bob';
    expect((await world.end(tab, post(once), answers(201))).outcome).toMatchObject({ type: 'fresh', resumed: false });
  });

  test('a refusal leaves nothing to take up', async ({ world, tab, once }) => {
    const first = await world.end(tab, post(once), answers(422, { error: 'too_short' }));
    expect(first.outcome).toMatchObject({ type: 'rejected' });
    expect((await world.end(tab, post(once), answers(201))).outcome?.key).not.toBe(first.outcome?.key);
    expect(await world.run(pending(once))).toEqual([]);
  });

  test('the tombstone of a done call is gone a day later', async ({ world, tab, once }) => {
    await world.end(tab, post(once), answers(201));
    await world.clock.advance(DAY);
    // A client sweeps after its first settle.
    const next = open(world);
    await world.end(next.tab, pay(next.once), answers(201));
    await rest();
    expect(world.records).toHaveLength(1);
  });

  test('the lock manager does not answer once: the next call takes up the lost one', async ({ world }) => {
    const { tab, once } = open(world, ONE);
    const { outcome } = await world.end(tab, post(once), charged(lost()), replays());
    const locks = tab.platform.locks as Locks;
    const { acquire } = locks;
    Object.assign(locks, { acquire: () => new Promise(() => {}) });
    expect(await world.end(tab, post(once))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
    Object.assign(locks, { acquire });
    expect((await world.end(tab, post(once))).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
  });

  test.for([
    ['the search for a lost call', ['look-fails']],
    ['the read of the lost call that was found', ['none', 'look-fails']],
  ] as const)('%s fails once: nothing is sent under another key, and the next call takes up the lost one', async ([_, faults], { world, tab }) => {
    const once = tab.once({ fetch: tab.fetch, ...ONE });
    const { outcome } = await world.end(tab, post(once), charged(lost()), replays());
    tab.faults.next(...faults);
    expect(await world.end(tab, post(once))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown', reason: 'store' } });
    expect((await world.end(tab, post(once))).outcome).toMatchObject({ type: 'replayed', key: outcome?.key });
    expect(world.locks.names).toEqual([]);
  });
});

describe('the limits of a call without a name', () => {
  test('count from the call, not from the end of the search for a lost one', async ({ world }) => {
    const { tab, once } = open(world, { limits: { totalMs: 5 * SECOND } });
    tab.faults.next('hang');
    // The store did not say whether there is a lost one.
    expect(await world.end(tab, post(once))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' }, ms: 5 * SECOND });
    expect(world.server.arrivals).toEqual([]);
  });

  test('end the wait for a key strategy that never answers', async ({ world }) => {
    const { tab, once } = open(world, { limits: { attemptMs: 5 * SECOND } });
    const begun = world.clock.now();
    const end = await world.end(tab, post(once, {}, { once: { key: () => new Promise<string>(() => {}) } }));
    expect(String(end.error)).toContain('the key strategy did not answer in time');
    expect(world.clock.now() - begun).toBe(5 * SECOND);
  });
});

describe('the origins to which keys may go', () => {
  const ELSEWHERE = 'https://api.other.example/notes';
  test.for<[string, Parameters<typeof open>[1], string, boolean]>([
    ["the page's own origin", {}, URL_, true],
    ['another origin, in a browser', {}, ELSEWHERE, false],
    ['another origin that is listed', { origins: ['https://api.other.example'] }, ELSEWHERE, true],
    ['an origin that is listed in another spelling', { origins: ['HTTPS://API.Other.example:443/'] }, ELSEWHERE, true],
    ["the page's own origin, when others are listed", { origins: ['https://api.other.example'] }, URL_, false],
    ['what a function allows', { origins: (url: string) => url.startsWith('https://api.') }, ELSEWHERE, true],
    ['nowhere', { origins: [] }, URL_, false],
  ])('%s', async ([_, options, url, keyed], { world }) => {
    const { tab, once } = open(world, options);
    await world.end(tab, post(once, {}, {}, url), answers(201));
    expect(world.server.keys[0] !== null).toBe(keyed);
    expect(world.records.length > 0).toBe(keyed);
  });

  test('on a server, everywhere', async ({ world }) => {
    const { tab, once } = open(world, { namespace: 'x' }, { server: true });
    await world.end(tab, post(once, {}, {}, ELSEWHERE), answers(201));
    expect(world.server.keys[0]).not.toBeNull();
  });

  test('a call with a name has a key at any origin', async ({ world, tab, once }) => {
    await world.end(tab, pay(once, { url: ELSEWHERE }), answers(201));
    expect(world.server.keys[0]).not.toBeNull();
  });
});

describe('other values of `once`', () => {
  test('true: named by its content: equal calls are joined, and later ones are answered', async ({ world, tab, once }) => {
    world.server.plays(delayed(SECOND, answers(201, { id: 1 })));
    const [, second] = await world.all(tab, post(once, { n: 1 }, { once: true }), post(once, { n: 1 }, { once: true }));
    expect(second?.outcome).toMatchObject({ joined: true });
    expect((await world.end(tab, post(once, { n: 1 }, { once: true }))).outcome).toMatchObject({ type: 'replayed' });
    expect((await world.end(tab, post(once, { n: 2 }, { once: true }), answers(201))).outcome).toMatchObject({ type: 'fresh' });
  });

  test('false: the plain fetch', async ({ world, tab, once }) => {
    expect((await world.end(tab, post(once, {}, { once: false }), lost())).error).toBeInstanceOf(TypeError);
    expect(world.server.keys).toEqual([null]);
    expect(world.records).toEqual([]);
  });

  test('the remembered outcome of a call without a name has no name either', async ({ world, tab, once }) => {
    world.server.plays(answers(402, '', { 'idempotent-replayed': 'true' }));
    const own = { once: { key: 'mine' } };
    expect((await world.end(tab, post(once, {}, own))).outcome).toMatchObject({ type: 'rejected', operation: undefined });
    expect(await world.end(tab, post(once, {}, own))).toMatchObject({ code: 'ERR_ONCE_KEY_BURNT', outcome: { operation: undefined, key: 'mine' } });
  });

  test("a call with the app's own key does not go on with an equal call that was lost: the key says which effect is meant", async ({ world, tab, once }) => {
    await world.end(tab, post(once, {}, { once: ONE }), charged(lost()));
    expect((await world.end(tab, post(once, {}, { once: { key: 'mine' } }), charged(answers(201)))).outcome).toMatchObject({ type: 'fresh', key: 'mine' });
  });

  test('options without a name apply to a call without a name', async ({ world, tab, once }) => {
    expect((await world.end(tab, post(once, {}, { once: { limits: { attempts: 1 } } }), lost())).outcome).toMatchObject({ effect: 'unknown', attempts: 1 });
  });

  test('operation(request) names the calls of clients that cannot carry an option; false is a plain fetch', async ({ world }) => {
    const operation = ({ method, url, json }: { method: string; url: string; json: unknown }) =>
      url.includes('/plain') ? (false as const) : url.includes('/pay') ? [method, String((json as { cart: string }).cart)] : undefined;
    const { tab, once } = open(world, { operation });
    world.server.plays(answers(201), answers(201), answers(201), answers(200));
    expect((await world.end(tab, post(once, { cart: 'c1' }, {}, 'https://shop.example/pay'))).outcome).toMatchObject({ operation: ['POST', 'c1'] });
    expect((await world.end(tab, post(once, { cart: 'c1' }, {}, 'https://shop.example/plain'))).outcome).toBeUndefined();
    expect((await world.end(tab, post(once))).outcome).toMatchObject({ operation: undefined });
    expect((await world.end(tab, watched(once.fetch('https://shop.example/cart')))).outcome).toBeUndefined();
    expect(world.server.keys.map((key) => key !== null)).toEqual([true, false, true, false]);
  });

  test('the name at the call wins over that of the client', async ({ world }) => {
    const { tab, once } = open(world, { operation: () => ['from the client'] });
    expect((await world.end(tab, pay(once), answers(201))).outcome).toMatchObject({ operation: NAME });
  });

  test.for([{ onOutcome() {} }, { key: 'order-1' }, {}])('options of a call without a name leave it the name of the client: %j', async (own, { world }) => {
    const { tab, once } = open(world, { operation: () => NAME });
    for (const type of ['fresh', 'replayed']) {
      const call = once.fetch(URL_, { method: 'POST', body: '{}', once: own });
      expect((await world.end(tab, call, ...(type === 'fresh' ? [answers(201)] : []))).outcome).toMatchObject({ operation: NAME, type });
    }
  });

  test('options of a call that the client leaves to fetch make it an operation without a name; true names it by its content', async ({ world }) => {
    for (const [own, operation] of [[{ onOutcome() {} }, () => false as const] as const, [true, () => NAME] as const]) {
      const { tab, once } = open(world, { operation });
      const { outcome } = await world.end(tab, once.fetch(URL_, { method: 'POST', body: '{}', once: own }), answers(201));
      expect(outcome).toMatchObject({ type: 'fresh' });
      expect(outcome?.operation).not.toEqual(NAME);
    }
  });

  test.for([undefined, false] as const)('a GET with options of its own is sent as it is if the client has no name for it: %s', async (said, { world }) => {
    const { tab, once } = open(world, { operation: () => said });
    const end = await world.end(tab, once.fetch(URL_, { once: { limits: { attempts: 2 } } }), answers(200));
    expect(end).toMatchObject({ status: 200, outcome: undefined });
    expect(world.server.keys).toEqual([null]);
  });
});

describe('methods that HTTP itself calls idempotent', () => {
  test.for(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])('%s: sent again, without key, record or outcome', async (method, { world, tab, once }) => {
    const end = await world.end(tab, watched(once.fetch(URL_, { method })), lost(), answers(503), answers(429), answers(200));
    expect(end).toMatchObject({ status: 200, outcome: undefined });
    expect(world.server.keys).toEqual([null, null, null, null]);
    expect(world.records).toEqual([]);
  });

  test.for(['GET', 'PUT'])('%s: with limits of its own, and no name, still without key or record', async (method, { world, tab, once }) => {
    const end = await world.end(tab, watched(once.fetch(URL_, { method, once: { limits: { attempts: 2 } } })), lost(), answers(503));
    expect(end).toMatchObject({ status: 503, outcome: undefined });
    expect(world.server.keys).toEqual([null, null]);
    expect(world.records).toEqual([]);
  });

  test('PUT: with a key of its own, and no name, is an operation', async ({ world, tab, once }) => {
    world.server.plays(answers(200));
    expect((await world.end(tab, watched(once.fetch(URL_, { method: 'PUT', once: { key: 'mine' } })))).outcome).toMatchObject({ type: 'fresh', key: 'mine' });
  });

  test('a PUT with a name has a key and an outcome like any other call', async ({ world, tab, once }) => {
    const end = await world.end(tab, watched(once.fetch(URL_, { method: 'PUT', body: 'v1', once: NAME })), lost(), answers(200));
    expect(end).toMatchObject({ status: 200, outcome: { effect: 'done' } });
    expect(await Promise.all(world.server.arrivals.map(textOf))).toEqual(['v1', 'v1']);
    expect(new Set(world.server.keys)).toEqual(new Set([end.outcome?.key]));
  });
});

test('a server that says it ignored the key gets nothing twice from then on, at that endpoint', async ({ world, tab, once }) => {
  const codes: string[] = [];
  subscribe(once, (event) => event.type === 'diagnostic' && codes.push(event.code));
  await world.end(tab, pay(once, { operation: ['a'] }), answers(201, '', { 'idempotency-status': 'ignored' }), charged(lost()), lost(), answers(201));
  expect(await world.end(tab, pay(once, { operation: ['b'] }))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { attempts: 1 } });
  expect(await world.end(tab, pay(once, { operation: ['c'], url: 'https://shop.example/api/other' }))).toMatchObject({ status: 201, outcome: { attempts: 2 } });
  expect(codes).toEqual(['key-ignored']);
});

describe('A37: a request that is sent again without a key undoes nothing that was written since', () => {
  const LATER: Readonly<Record<string, readonly [string | URL, OnceRequestInit]>> = {
    'a PUT': [URL_, { method: 'PUT', body: 'new' }],
    'a PUT to the relative address': ['/notes', { method: 'PUT', body: 'new' }],
    'a PUT to the address with a fragment': [`${URL_}#top`, { method: 'PUT', body: 'new' }],
    'a PUT with a name': [URL_, { method: 'PUT', body: 'new', once: ['save', 2] }],
    'a PATCH without a name': [URL_, { method: 'PATCH', body: 'new' }],
    'a POST with a name': [URL_, { method: 'POST', body: 'new', once: ['add', 1] }],
  };

  describe.each([{ method: 'PUT', body: 'old' }, { method: 'DELETE' }])('a $method without a name', (init) => {
    test.for(Object.entries(LATER))('is not sent again after %s', async ([_, [url, later]], { world, tab }) => {
      const once = tab.once({ fetch: tab.fetch });
      const [first] = await world.begin(watched(once.fetch(URL_, init)), answers(503), answers(200));
      expect(await world.run(watched(once.fetch(url, later)))).toMatchObject({ status: 200 });
      expect(await world.run(first)).toMatchObject({ status: 503 });
      expect(world.server.arrivals.map(({ method }) => method)).toEqual([init.method, later.method]);
    });
  });
});
