/**
 * Goal: a call without a name gets a key if it needs one and may have one, and takes up only a lost call that is certainly its own and that nobody drives now.
 * Method: tables of requests, and records of every kind to find.
 */
import { describe, expect, vi } from 'vitest';
import { carryOf, type Wire } from '../../src/core/carrier.js';
import type { OnceRecord } from '../../src/core/record.js';
import type { Client } from '../../src/engine/client.js';
import { clear, move } from '../../src/entries/index.js';
import { mayGo, wantsKey } from '../../src/features/unnamed-requests.js';
import type { RequestInput } from '../../src/http/request.js';
import type { Once } from '../../src/once.js';
import { made } from '../support/made.js';
import { sealed } from '../support/record.js';
import { answers, charged, delayed, hangs, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { CART, DAY, MINUTE, newWorld, ONE, rest, SECOND, test, URL_, type World, watched } from '../support/world.js';

const POST = { method: 'POST', body: '{"cart":1}' } as const;

describe('a key', () => {
  const wants = (method: string, body: unknown) => wantsKey({ method, body } as RequestInput);

  test('is needed for methods that HTTP does not call idempotent', () => {
    expect(['POST', 'PATCH', 'PUT', 'DELETE', 'GET'].map((method) => wants(method, undefined))).toEqual([true, true, false, false, false]);
  });

  test.each([
    [{ query: '{ cart }' }, false],
    [{ query: 'query { cart }' }, false],
    [{ query: 'query Cart { cart }' }, false],
    [{ query: ' \n# why\n  # twice\nquery { cart }' }, false],
    [{ query: '#\n{ cart }' }, false],
    [{ query: 'mutation { pay }' }, true],
    [{ query: 'subscription { paid }' }, true],
    [{ query: 'query { a } mutation { b }' }, true],
    [{ query: 'queryable { a }' }, true],
    [{ query: 'fragment F on A { b } query { c }' }, true],
    [{ query: 'x { a }' }, true],
    [{ query: '# { a }' }, true],
    [{ query: 5 }, true],
    [{ cart: 1 }, true],
  ])('is needed for GraphQL, except for a query: %j', (json, wanted) => {
    expect(wants('POST', JSON.stringify(json))).toBe(wanted);
    expect(wants('POST', ` \n${JSON.stringify(json)}`)).toBe(wanted);
  });

  test.each([
    `[${JSON.stringify({ query: '{ a }' })}]`,
    'query={a}',
    '{ query',
    'x{"query":"{ a }"}',
    new URLSearchParams({ query: '{ a }' }),
    undefined,
    null,
  ])('is needed for a body that is not GraphQL: %s', (body) => expect(wants('POST', body)).toBe(true));

  test.each<[string, Record<string, string>, boolean]>([
    ['header:Idempotency-Key', { 'idempotency-key': 'k' }, true],
    ['header-sf:Idempotency-Key', { 'idempotency-key': '"k"' }, true],
    ['header:Idempotency-Key', { 'x-key': 'k' }, false],
    ['header:Idempotency-Key', {}, false],
    ['body:header:key', { 'header:key': 'k' }, false],
    ['', { 'idempotency-key': 'k' }, false],
  ])('at %s is found in %j: %s', (carrier, headers, bears) => {
    const entries = new Map(Object.entries(headers));
    const draft = { url: URL_, headers: { get: (name: string) => entries.get(name.toLowerCase()) ?? null }, body: undefined } as unknown as Wire;
    expect(carryOf(carrier)?.find(draft)).toBe(bears ? 'k' : undefined);
  });

  test.each<[string, object, boolean]>([
    ["the page's own origin", { origin: 'https://shop.example' }, true],
    ['another origin', { origin: 'https://other.example' }, false],
    ['any origin, if the platform has none of its own', { origin: undefined }, true],
    ['any origin, from a server', { origin: 'https://other.example', server: true }, true],
  ])('whether it may go to %s', (_, platform, may) => {
    const draft = { url: URL_, origin: 'https://shop.example' } as RequestInput;
    expect(mayGo({ platform: { server: false, ...platform }, settings: {} } as Client, draft)).toBe(may);
  });
});

describe('a lost call', () => {
  async function lostOnes(count: number, gapMs = SECOND) {
    const world = newWorld();
    const keys: string[] = [];
    for (let n = 0; n < count; n++) {
      const { tab, once } = world.open(ONE);
      const { update } = tab.store;
      world.server.plays(charged(lost()));
      // As if each call had begun in a page that found no other one.
      Object.assign(tab.store, { scan: async () => ({ records: [] }), update });
      const end = await world.end(tab, once.fetch(URL_, POST));
      keys.push(end.outcome?.key ?? '');
      tab.kill();
      await world.clock.advance(gapMs);
    }
    const again = async () => {
      const { tab, once } = world.open();
      return world.end(tab, once.fetch(URL_, POST));
    };
    const change = (key: string | undefined, by: (record: OnceRecord) => unknown): void => {
      const record = (world.records as OnceRecord[]).find((one) => one.key === key);
      if (record) world.medium.set(record.id, by(record));
    };
    return { world, keys, again, change };
  }

  test('that is the oldest is taken up first, wherever it is in the store', async () => {
    const { world, keys, again, change } = await lostOnes(3);
    change(keys[2], (record) => sealed({ ...record, createdAt: record.createdAt - 10 * SECOND }));
    world.server.plays(replays(), replays(), replays());
    expect([(await again()).outcome?.key, (await again()).outcome?.key, (await again()).outcome?.key]).toEqual([keys[2], keys[0], keys[1]]);
  });

  test.each<[string, (record: OnceRecord) => unknown]>([
    ['is damaged, and past its window', (record) => ({ ...record, key: 'x', firstSentAt: record.createdAt - DAY })],
    ['has a longer name', (record) => sealed({ ...record, label: made(`${record.label}0`) })],
    ['is past its window', (record) => sealed({ ...record, firstSentAt: record.createdAt - DAY })],
  ])('that %s is not taken up', async (_, by) => {
    const { world, keys, again, change } = await lostOnes(1);
    change(keys[0], by);
    world.server.plays(answers(201));
    expect((await again()).outcome).toMatchObject({ type: 'fresh', resumed: false });
    expect(world.server.keys[1]).not.toBe(keys[0]);
  });

  test.each<[string, (record: OnceRecord) => unknown]>([
    ['its key', (record) => ({ ...record, key: 'x' })],
    ['its time', (record) => ({ ...record, createdAt: null, firstSentAt: 'x', windowEndsAt: undefined })],
  ])('that is damaged in %s does not count as absent: nothing is sent, because it may have taken effect', async (_, by) => {
    const { world, keys, again, change } = await lostOnes(2);
    change(keys[1], by);
    expect(await again()).toMatchObject({ code: 'ERR_ONCE_RECORD', outcome: { effect: 'unknown', reason: 'record' } });
    expect(world.server.keys).toEqual(keys);
  });

  test('that settles between the search and the claim is not taken up, and the claim is released', async () => {
    for (const settle of [(record: OnceRecord) => sealed({ ...record, state: 'retired' }), () => null]) {
      const { world, keys, change } = await lostOnes(1);
      const { tab, once } = world.open();
      const { acquire } = world.locks;
      vi.spyOn(world.locks, 'acquire').mockImplementationOnce((...call) => {
        change(keys[0], settle);
        return acquire.apply(world.locks, call);
      });
      expect((await world.end(tab, once.fetch(URL_, POST), answers(201))).outcome).toMatchObject({ type: 'fresh', resumed: false });
      expect(world.locks.names).toEqual([]);
      vi.restoreAllMocks();
    }
  });

  test('of a page that died without locks is taken up, once the lease of the dead page is over', async ({ world }) => {
    const before = world.open({}, { locks: false });
    await world.begin(watched(before.once.fetch(URL_, POST)), charged(hangs()));
    before.tab.kill();
    const tab = before.tab.reload();
    const { outcome, ms } = await world.end(tab, tab.once().fetch(URL_, POST), replays());
    expect(outcome).toMatchObject({ effect: 'done', resumed: true });
    expect(ms).toBeLessThan(20 * SECOND);
    expect(world.server.charged.size).toBe(1);
  });

  test('of another page without locks that lives is waited for, and then this call is another effect', async ({ world }) => {
    const [one, two] = [world.open({}, { locks: false }), world.open({}, { locks: false })];
    const [first] = await world.begin(watched(one.once.fetch(URL_, POST)), delayed(20 * SECOND, answers(201)), answers(201));
    expect((await world.end(two.tab, two.once.fetch(URL_, POST))).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
    expect((await world.end(one.tab, first)).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
    expect(world.server.charged.size).toBe(2);
  });

  test('is taken up at once, although another page without locks sends an older one', async ({ world }) => {
    const limits = { attempts: 1 };
    const [one, two] = [world.open({ limits }, { locks: false }), world.open({ limits }, { locks: false })];
    await world.end(one.tab, one.once.fetch(URL_, POST), charged(lost()));
    const [older] = await world.begin(watched(one.once.fetch(URL_, POST)), delayed(20 * SECOND, replays()), charged(lost()), replays());
    expect((await world.end(one.tab, one.once.fetch(URL_, POST))).outcome).toMatchObject({ effect: 'unknown' });
    const begun = world.clock.now();
    expect((await world.end(two.tab, two.once.fetch(URL_, POST))).outcome).toMatchObject({ type: 'replayed', key: world.server.keys[2] });
    expect(world.clock.now() - begun).toBeLessThan(SECOND);
    await world.end(one.tab, older);
  });

  test.each([
    ['rejects at once with whenBusy', { whenBusy: 'reject' } as const],
    ['rejects at its deadline', { limits: { totalMs: 5 * SECOND } }],
  ])('under the lease of another page without locks: a call %s, and sends nothing', async (_, options) => {
    const world = newWorld();
    const [one, two] = [world.open({}, { locks: false }), world.open(options, { locks: false })];
    await world.begin(watched(one.once.fetch(URL_, POST)), charged(hangs()));
    expect(await world.end(two.tab, two.once.fetch(URL_, POST))).toMatchObject({ code: 'ERR_ONCE_BUSY', outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('that two tabs without locks take up at the same moment is told to only one of them as its own', async () => {
    const { world, keys } = await lostOnes(1);
    const [one, two] = [world.open({}, { locks: false }), world.open({}, { locks: false })];
    world.server.plays(delayed(SECOND, replays()));
    const [first, second] = [one.once.fetch(URL_, POST), watched(two.once.fetch(URL_, POST))];
    expect((await world.end(one.tab, first)).outcome).toMatchObject({ effect: 'done', key: keys[0] });
    expect(await world.end(two.tab, second)).toMatchObject({ code: 'ERR_ONCE_BUSY', outcome: { effect: 'unknown' } });
    expect((await world.end(two.tab, two.once.fetch(URL_, POST), charged(answers(201)))).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
    expect(new Set(world.server.keys).size).toBe(2);
  });

  test('nor if the other one has ended before this one begins', async () => {
    const { world, keys } = await lostOnes(1);
    const [one, two] = [world.open({}, { locks: false }), world.open({}, { locks: false })];
    world.server.plays(replays());
    // The second tab's search is over, and its claim is late.
    two.tab.faults.next('none', 'none', 'none', 'slow');
    const [first, second] = [one.once.fetch(URL_, POST), watched(two.once.fetch(URL_, POST))];
    expect((await world.end(one.tab, first)).outcome).toMatchObject({ effect: 'done', key: keys[0] });
    expect(await world.end(two.tab, second)).toMatchObject({ outcome: { effect: 'unknown', reason: 'record' } });
    expect((await world.end(two.tab, two.once.fetch(URL_, POST), charged(answers(201)))).outcome).toMatchObject({ effect: 'done', type: 'fresh' });
  });

  test('nor where the lock manager refuses every request', async () => {
    const { world, keys } = await lostOnes(1);
    const tabs = [world.tab(), world.tab()] as const;
    for (const { platform } of tabs) Object.assign(platform, { locks: { acquire: () => Promise.reject(new DOMException('refused', 'SecurityError')) } });
    world.server.plays(delayed(SECOND, replays()));
    const [first, second] = tabs.map((tab) => watched(tab.once().fetch(URL_, POST))) as [Promise<Response>, Promise<Response>];
    expect((await world.end(tabs[0], first)).outcome).toMatchObject({ effect: 'done', key: keys[0] });
    expect(await world.end(tabs[1], second)).toMatchObject({ code: 'ERR_ONCE_BUSY', outcome: { effect: 'unknown' } });
  });

  test.each([true, false])('whose caller has left, and whose end is still being stored, is taken up by the next equal call (locks: %s)', async (locks) => {
    const world = newWorld();
    const { tab, once } = world.open({}, { locks });
    const abort = new AbortController();
    const [first] = await world.begin(watched(once.fetch(URL_, { ...POST, signal: abort.signal })), charged(hangs()), replays());
    tab.faults.next('slow');
    abort.abort();
    expect((await world.end(tab, first)).outcome).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    expect((await world.end(tab, once.fetch(URL_, POST))).outcome).toMatchObject({ type: 'replayed', resumed: true });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test.each([true, false])('that a call has found whose caller has left is taken up by the next equal call (locks: %s)', async (locks) => {
    const { world, keys } = await lostOnes(1);
    const { tab, once } = world.open({}, { locks });
    const abort = new AbortController();
    // The search is over, but for the last look at the record.
    tab.faults.next('none', 'none', 'slow');
    const [left] = await world.begin(watched(once.fetch(URL_, { ...POST, signal: abort.signal })));
    abort.abort();
    expect((await world.end(tab, left)).outcome).toMatchObject({ effect: 'unknown', reason: 'aborted' });
    expect((await world.end(tab, once.fetch(URL_, POST), replays())).outcome).toMatchObject({ type: 'replayed', key: keys[0] });
  });

  test.each<[string, (world: World, tab: Tab, found: OnceRecord) => unknown]>([
    ['the device sleeps beyond the time of the call', (_, tab) => (tab.skewMs += 3 * MINUTE)],
    [
      'another tab logs out and forgets it',
      (world, _, { id, revision }) => (world.medium.get(id) as OnceRecord).revision === revision && world.medium.set(id, null),
    ],
  ])('is not said to have had no effect if, once it is found, %s', async (_, happens) => {
    for (const locks of [true, false])
      for (let step = 3; step < 16; step++) {
        const { world, keys } = await lostOnes(1);
        const { tab, once } = world.open(ONE, { locks });
        // From here on the search has found it.
        const [found] = world.records as [OnceRecord];
        tab.at(step, () => happens(world, tab, found));
        world.server.otherwise = (arrival, server) => (arrival.key === keys[0] ? answers(403) : answers(201))(arrival, server);
        expect(await world.end(tab, once.fetch(URL_, POST)), `step ${step}, locks ${locks}`).not.toMatchObject({ outcome: { effect: 'none' } });
      }
  });
});

describe('a key of the caller', () => {
  test('from a strategy: the strategy gets what is known of the call, and its key is sent as it is', async ({ world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    const asked: unknown[] = [];
    const key = (question: unknown): string => {
      asked.push(question);
      return 'made';
    };
    const end = await world.end(tab, watched(once.fetch(URL_, { ...POST, once: { key } })), answers(201));
    expect(end.outcome).toMatchObject({ type: 'fresh', key: 'made' });
    expect(asked).toEqual([
      { namespace: 'ann', operation: undefined, fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/), generation: 0, now: world.clock.now() },
    ]);
  });

  test('is another operation for another user', async ({ world, tab }) => {
    world.server.plays(charged(lost()), charged(lost()));
    for (const namespace of ['ann', 'bob'])
      await world.end(tab, watched(tab.once({ namespace, limits: { attempts: 1 } }).fetch(URL_, { ...POST, once: { key: `of-${namespace}` } })));
    await rest();
    expect(new Set((world.records as OnceRecord[]).map(({ ns }) => ns)).size).toBe(2);
  });

  test('makes an equal request another operation if it is another key', async ({ world, tab, once }) => {
    world.server.plays(answers(201), answers(201));
    const call = (key: string) => world.end(tab, watched(once.fetch(URL_, { ...POST, once: { key } })));
    expect((await call('one')).outcome).toMatchObject({ type: 'fresh' });
    expect((await call('two')).outcome).toMatchObject({ type: 'fresh' });
    expect(world.server.keys).toEqual(['one', 'two']);
  });
});

describe('the record of a call with a key of its own', () => {
  const OWN = 'order-4711';
  const SITES = [
    ['a process', { server: true, locks: false }],
    ['a page', {}],
  ] as const;

  const call = (once: Once, key = OWN): Promise<Response> =>
    watched(once.fetch(URL_, { method: 'POST', headers: { 'idempotency-key': key }, body: JSON.stringify(CART), once: { limits: { attempts: 1 } } }));
  const stored = (world: World): OnceRecord[] => world.records as OnceRecord[];
  describe.each(SITES)('%s', (_, of) => {
    const open = (world: World, namespace = 'ann@shop.example') => world.open({ namespace }, of);

    test('shows neither namespace nor key in an id', async ({ world }) => {
      const { tab, once } = open(world);
      await world.end(tab, call(once), charged(lost()));
      expect(stored(world).map(({ id }) => id)).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
      await world.run(clear(once));
      expect(JSON.stringify(stored(world))).not.toContain('ann@shop.example');
    });

    test('is found by a call with the same key, and by none with another key or namespace', async ({ world }) => {
      const first = open(world);
      await world.end(first.tab, call(first.once), charged(lost()));
      const next = open(world);
      expect((await world.end(next.tab, call(next.once), replays())).outcome).toMatchObject({ type: 'replayed', key: OWN, resumed: true });
      expect((await world.end(next.tab, call(next.once, 'order-4712'), charged(answers(201)), charged(answers(201)))).outcome).toMatchObject({
        type: 'fresh',
        resumed: false,
      });
      const other = open(world, 'bob');
      expect((await world.end(other.tab, call(other.once, 'order-4713'))).outcome).toMatchObject({ resumed: false });
    });

    test('is found after a move', async ({ world }) => {
      const guest = open(world, 'guest');
      await world.end(guest.tab, call(guest.once), charged(lost()));
      const user = open(world);
      await world.run(move(user.once, 'guest'));
      expect((await world.end(user.tab, call(user.once), replays())).outcome).toMatchObject({ type: 'replayed', resumed: true });
    });

    test('counts as unknown if the store cannot be read: nothing is sent', async ({ world }) => {
      const { tab, once } = open(world);
      tab.faults.next('look-fails');
      expect(await world.end(tab, call(once))).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
    });
  });
});
