/**
 * Goal: the rarer sequences hold as well: functions that run once, servers that know no keys, devices that say offline on a
 * working network, forms, names and limits (attacks 23, 24, 27, 29, 36, 41 to 45, 48, 51, 53). Method: as in the other attack
 * tests.
 */
import { createHash } from 'node:crypto';
import { describe, expect, vi } from 'vitest';
import type { Dialect } from '../../src/core/dialect.js';
import { GENERIC } from '../../src/dialects/generic.js';
import { operation, pending, run as runOnce, subscribe } from '../../src/entries/index.js';
import { answers, charged, delayed, hangs, lost, replays, textOf, unreachable } from '../support/server.js';
import { CART, HOUR, MINUTE, NAME, newWorld, ONE, pay, rest, SECOND, test, URL_, watched } from '../support/world.js';

describe('A23: a server that knows no keys', () => {
  test('A23: gets no key, and a request that may have taken effect is not sent again', async ({ world }) => {
    const { tab, once } = world.open({ dialect: () => 'none' });
    expect(await world.end(tab, pay(once), charged(lost()))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', attempts: 1 } });
    expect(world.server.keys).toEqual([null]);
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('A23: gets a request again that did not leave, or was refused without effect', async ({ world }) => {
    const { tab, once } = world.open({ dialect: () => 'none' });
    expect(await world.end(tab, pay(once), unreachable(), answers(429), answers(201))).toMatchObject({ status: 201, outcome: { attempts: 3 } });
  });
});

describe('A24: run', () => {
  test('A24: after a crash the function runs again with the same key, and is told that it may have run before', async ({ world }) => {
    const { tab, once } = world.open({}, { server: true });
    const seen: unknown[] = [];
    void watched(
      runOnce(once, ['evt', 1], ({ key, ambiguous, resumed, attempt }) => {
        seen.push({ key, ambiguous, resumed, attempt });
        tab.kill();
        return new Promise(() => {});
      }),
    );
    await rest();
    const next = tab.reload().once();
    await world.run(runOnce(next, ['evt', 1], ({ key, ambiguous, resumed, attempt }) => void seen.push({ key, ambiguous, resumed, attempt })));
    const key = (seen[0] as { key: string }).key;
    expect(seen).toEqual([
      { key, ambiguous: false, resumed: false, attempt: 1 },
      { key, ambiguous: true, resumed: true, attempt: 1 },
    ]);
  });

  test('A24: a throw is ambiguous: the function runs again with the same key, and in the end the effect is unknown', async ({ world, once }) => {
    const keys: string[] = [];
    const call = watched(
      runOnce(once, ['evt', 1], ({ key }) => {
        keys.push(key);
        throw new Error('boom');
      }),
    );
    await expect(world.run(call)).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', attempts: 5 } });
    expect(keys).toHaveLength(5);
    expect(new Set(keys).size).toBe(1);
  });

  test('A24: child keys are stable, and differ by label and by operation', async ({ world, once }) => {
    const children = await world.run(runOnce(once, ['evt', 1], ({ child }) => [child('charge'), child('charge'), child('mail')]));
    const other = await world.run(runOnce(once, ['evt', 2], ({ child }) => [child('charge')]));
    expect(children[0]).toBe(children[1]);
    expect(new Set([...children, ...other]).size).toBe(3);
  });

  test.for<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['NaN', Number.NaN],
    ['an empty string', ''],
  ])('A24: child without a label makes no key, because two of them would share it: %s', async ([got, label], { world, once }) => {
    const call = runOnce(once, ['evt', 1], ({ child }) => child(label as string), { limits: { attempts: 1 } });
    await expect(world.run(call)).rejects.toMatchObject({ code: 'ERR_ONCE_UNKNOWN', cause: new TypeError(`once: child takes a label, got ${got}`) });
  });
});

describe('A27: a device that says it is offline', () => {
  test('A27: on a working network, the first attempt leaves after offlineWaitMs at the latest', async ({ world, tab, once }) => {
    tab.online = false;
    expect(await world.end(tab, pay(once), answers(201))).toMatchObject({ status: 201, outcome: { type: 'fresh' }, ms: 3 * SECOND });
  });

  test('A27: the first attempt leaves at once when the device goes online', async ({ world, tab, once }) => {
    tab.online = false;
    world.server.plays(answers(201));
    world.clock.timer(SECOND, () => tab.connect(true));
    expect(await world.end(tab, pay(once))).toMatchObject({ ms: SECOND });
  });

  test('A27: going online cuts a backoff short, but not a wait that a server asked for', async ({ world }) => {
    const { tab, once } = world.open({ retry: { minDelayMs: 10 * SECOND } });
    world.server.plays(lost(), answers(503, '', { 'retry-after': '20' }), replays());
    world.clock.timer(1, () => tab.wake());
    world.clock.timer(SECOND, () => tab.wake());
    await world.end(tab, pay(once));
    expect(world.server.gaps).toEqual([1, 20 * SECOND]);
  });
});

describe('A29: names with holes', () => {
  const sparse = ['pay', 'c1'];
  delete sparse[1];
  test.for<[string, unknown, RegExp]>([
    ['undefined in it', ['pay', undefined], /operation\[1\]/],
    ['an empty string in it', ['', 'c1'], /operation\[0\]/],
    ['a hole', sparse, /operation\[1\]/],
    ['no parts', [], /operation/],
    ['a string in place of the array', 'pay', /operation|once/],
  ])('A29: a name is refused with a TypeError that says where, and nothing is sent or stored: %s', async ([_, name, says], { world, tab, once }) => {
    const end = await world.end(tab, pay(once, { operation: name as string[] }));
    expect(end.error).toBeInstanceOf(TypeError);
    expect((end.error as Error).message).toMatch(says);
    expect(() => operation(once, name as string[])).toThrow(TypeError);
    expect(world.records).toEqual([]);
  });

  test("A29: ['pay', 42] and ['pay', '42'] and ['pay', 42n] are three operations", async ({ world, tab, once }) => {
    world.server.plays(answers(201), answers(201), answers(201));
    for (const part of [42, '42', 42n]) expect((await world.end(tab, pay(once, { operation: ['pay', part] }))).outcome).toMatchObject({ type: 'fresh' });
    expect(new Set(world.server.keys).size).toBe(3);
  });
});

describe('A36: the same bytes', () => {
  const form = (amount: string): FormData => {
    const data = new FormData();
    data.set('amount', amount);
    data.set('file', new Blob(['x'.repeat(100)]), 'a.txt');
    return data;
  };
  const send = (once: Parameters<typeof pay>[0], body: BodyInit, more: object = {}) =>
    watched(once.fetch(URL_, { method: 'POST', body, once: { operation: NAME, ...more } }));
  const bytesOf = async (world: ReturnType<typeof newWorld>) => new Set(await Promise.all(world.server.arrivals.map(textOf)));
  const typesOf = (world: ReturnType<typeof newWorld>) => new Set(world.server.arrivals.map(({ headers }) => headers.get('content-type')));

  test('A36: a form keeps its boundary on all attempts', async ({ world, tab, once }) => {
    expect(await world.end(tab, send(once, form('10')), lost(), lost(), answers(201))).toMatchObject({ status: 201 });
    expect((await bytesOf(world)).size).toBe(1);
    expect(typesOf(world).size).toBe(1);
    expect([...typesOf(world)][0]).toMatch(/^multipart\/form-data; boundary=/);
  });

  test("A36: with a fingerprint that leaves out a timestamp, the stored bytes are sent instead of the new call's", async ({ world }) => {
    const options = { namespace: 'ann', keep: { request: true }, fingerprint: ({ body }: { body: unknown }) => (body as { cart: string }).cart };
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once, { ...ONE, body: { ...CART, at: 1 } }), charged(lost()));
    await world.end(tab, pay(once, { ...ONE, body: { ...CART, at: 2 } }), charged(lost()));
    tab.kill();
    const next = world.open(options);
    expect((await world.end(next.tab, pay(next.once, { body: { ...CART, at: 3 } }), replays())).outcome).toMatchObject({ type: 'replayed' });
    expect(await bytesOf(world)).toEqual(new Set([JSON.stringify({ ...CART, at: 1 })]));
  });

  test('A36: if the first bytes are gone, a mismatch leaves the effect unknown, reason bytes', async ({ world }) => {
    const fingerprint = ({ body }: { body: unknown }) => (body as { cart: string }).cart;
    const { tab, once } = world.open({ fingerprint });
    await world.end(tab, pay(once, { ...ONE, body: { ...CART, at: 1 } }), charged(lost()), answers(422, { title: 'Idempotency-Key is already used' }));
    tab.kill();
    const next = world.open({ fingerprint });
    expect(await world.end(next.tab, pay(next.once, { body: { ...CART, at: 2 } }))).toMatchObject({
      code: 'ERR_ONCE_MISMATCH',
      outcome: { effect: 'unknown', reason: 'bytes' },
    });
  });

  test.for(['the first press', 'the second one', 'the second one, after a reload'])(
    "A36: if the first bytes are gone, a `done` from `reconcile` is not taken for an earlier form's (%s)",
    async (press, { world }) => {
      let said: 'unknown' | 'done' = 'unknown';
      const fingerprint = ({ body }: { body: unknown }) => (body as { cart: string }).cart;
      const options = { namespace: 'ann', fingerprint, repeat: 'if-changed', reconcile: async () => said } as const;
      const before = world.open(options);
      await world.end(before.tab, pay(before.once, { ...ONE, body: { ...CART, cart: 'c1', at: 1 } }), lost());
      await world.end(before.tab, pay(before.once, { ...ONE, body: { ...CART, cart: 'c2', at: 2 } }), charged(lost()));
      before.tab.kill();
      const kept = { ...options, keep: { request: true } };
      let { tab, once } = world.open(kept);
      world.server.otherwise = answers(422, { title: 'Idempotency-Key is already used' });
      const again = (at: number) => world.end(tab, pay(once, { body: { ...CART, cart: 'c2', at } }));
      if (press !== 'the first press') await again(3);
      if (/reload/.test(press)) {
        tab.kill();
        ({ tab, once } = world.open(kept));
      }
      said = 'done';
      expect((await again(4)).outcome).toMatchObject({ effect: 'done' });
      expect(new Set(world.server.keys).size).toBe(1);
    },
  );
});

describe('A41 to A45, A48: limits', () => {
  test('A41: totalMs wins over the budget of waiting for work in progress', async ({ world }) => {
    const { tab, once } = world.open({ limits: { totalMs: 10 * SECOND, inProgressMs: HOUR } });
    world.server.otherwise = answers(409, '', { 'retry-after': '3' });
    const begun = world.clock.now();
    expect(await world.end(tab, pay(once))).toMatchObject({ status: 409, outcome: { effect: 'unknown', reason: 'in-progress' } });
    expect(world.clock.now() - begun).toBeLessThanOrEqual(10 * SECOND);
  });

  test('A41: the wait for a lock counts against totalMs, too', async ({ world }) => {
    const [one, two] = [world.open(), world.open({ limits: { totalMs: 20 * SECOND } })];
    world.server.otherwise = charged(hangs());
    const [first] = await world.begin(pay(one.once));
    const begun = world.clock.now();
    expect((await world.end(two.tab, pay(two.once))).outcome).toMatchObject({ effect: 'unknown' });
    expect(world.clock.now() - begun).toBeLessThanOrEqual(20 * SECOND);
    await world.end(one.tab, first);
  });

  test('A42: retryAt is stored: a call before that time waits until then if its limits allow, even on another page', async ({ world, tab, once }) => {
    world.server.plays(charged(answers(503, '', { 'retry-after': '60' })), replays());
    const at = world.clock.now();
    expect((await world.end(tab, pay(once, ONE))).outcome).toMatchObject({ effect: 'unknown', retryAt: at + MINUTE });
    expect(await world.run(pending(once))).toMatchObject([{ retryAt: at + MINUTE }]);
    tab.kill();
    const next = world.open();
    expect((await world.end(next.tab, pay(next.once))).outcome).toMatchObject({ type: 'replayed' });
    expect(world.server.gaps).toEqual([MINUTE]);
  });

  test('A42: a call whose limits do not allow that wait makes one attempt at once', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), answers(503, '', { 'retry-after': '3600' }));
    expect((await world.end(tab, pay(once), answers(503))).outcome).toMatchObject({ effect: 'unknown', attempts: 1 });
    expect(world.server.gaps).toEqual([0]);
  });

  test('A43: `attempts` counts from one in every call, and `resumed` says that earlier calls made attempts', async ({ world }) => {
    await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    expect((await world.end(tab, pay(once), replays())).outcome).toMatchObject({ attempts: 1, resumed: true });
  });

  test('A44: a payment makes its first retry even if the retry budget of the origin is empty', async ({ world, tab, once }) => {
    const noise = Array.from({ length: 20 }, (_, index) => pay(once, { ...ONE, operation: ['log', index] }));
    world.server.plays(...noise.map(() => answers(503)));
    await world.all(tab, ...noise);
    expect(await world.end(tab, pay(once), lost(), answers(201))).toMatchObject({ status: 201, outcome: { attempts: 2 } });
  });

  test('A44: a resumed payment makes its retries even if the retry budget is empty', async ({ world }) => {
    await world.interrupted(charged(lost()));
    const { tab, once } = world.open();
    const noise = Array.from({ length: 20 }, (_, index) => pay(once, { ...ONE, operation: ['log', index] }));
    world.server.plays(...noise.map(() => answers(503)));
    await world.all(tab, ...noise);
    expect(await world.end(tab, pay(once), answers(503), answers(503), answers(503), replays())).toMatchObject({ status: 201, outcome: { attempts: 4 } });
  });

  test('A44: the retry budget limits a storm of retries', async ({ world, tab, once }) => {
    world.server.otherwise = answers(503);
    const storm = Array.from({ length: 50 }, (_, index) => pay(once, { operation: ['log', index] }));
    await world.all(tab, ...storm);
    expect(world.server.arrivals.length).toBeLessThan(50 * 3);
  });

  test('A45: a GraphQL query gets no key and no record; a mutation does', async ({ world, tab }) => {
    const once = tab.once({ fetch: tab.fetch });
    const ask = (query: string) =>
      watched(once.fetch('https://shop.example/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }) }));
    await world.end(tab, ask('query Cart { cart { id } }'), answers(200, { data: {} }));
    await world.end(tab, ask('{ cart { id } }'), answers(200, { data: {} }));
    expect(world.records).toEqual([]);
    await world.end(tab, ask('mutation Pay { pay { id } }'), answers(200, { data: {} }));
    expect(world.server.keys.map((key) => key !== null)).toEqual([false, false, true]);
  });

  test('A48: in Node, clients without a store warn once that memory forgets: when the first operation is stored, not when a client is made', async () => {
    // Load a fresh module, because another test of this process may have caused the warning already.
    vi.resetModules();
    const { createOnce } = await import('../../src/entries/index.js');
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    // Clients that are made at the top of a module, as builds and server rendering load it.
    const fetch = async () => new Response('{}');
    const clients = [createOnce({ fetch }), createOnce({ fetch })];
    await clients[0]?.fetch('https://shop.example/');
    expect(await pending(clients[0] as (typeof clients)[number])).toEqual([]);
    expect(warn).not.toHaveBeenCalled();
    for (const [index, once] of clients.entries()) await once.fetch('https://shop.example/', { method: 'POST', body: '{}', once: ['a48', index] });
    expect(warn.mock.calls.map(([message]) => String(message))).toEqual([expect.stringContaining('forgotten')]);
    warn.mockRestore();
  });
});

describe('A51: small secrets', () => {
  const card = JSON.stringify({ cart: 'c-1', pan: '4242424242424242', cvv: '123' });
  const digest = createHash('sha256').update(card).digest('hex');
  const storedWith = async (options: object): Promise<string> => {
    const { world, tab, once } = newWorld().open(options);
    await world.end(tab, pay(once, { ...ONE, body: card }), charged(lost()));
    return JSON.stringify(world.records);
  };

  test('A51: if `fingerprint` leaves a card out, nothing is stored from which it could be guessed', async () => {
    const stored = await storedWith({ fingerprint: ({ body }: { body: { cart: string } }) => body.cart });
    expect(stored).toContain('"raw"');
    expect(stored).not.toContain(digest.slice(0, 8));
  });

  test('A51: without `fingerprint`, the digest of the body is stored', async () => expect(await storedWith({})).toContain(digest));
});

describe('A53: headers', () => {
  test('A53: are not part of the fingerprint', async ({ world }) => {
    const { tab, once } = world.open({ whenChanged: 'refuse' });
    await world.end(tab, pay(once, { ...ONE, init: { headers: { authorization: 'Bearer old', traceparent: '00-1' } } }), charged(lost()));
    expect(await world.end(tab, pay(once, { init: { headers: { authorization: 'Bearer new', traceparent: '00-2' } } }), replays())).toMatchObject({
      status: 201,
    });
    expect(world.server.arrivals[1]?.headers.get('authorization')).toBe('Bearer new');
  });

  test("A53: from the headers hook override the call's own, but cannot replace the key", async ({ world, tab, once }) => {
    world.server.plays(delayed(1, answers(201)));
    const end = await world.end(tab, pay(once, { headers: () => ({ 'content-type': 'application/vnd.shop+json', 'idempotency-key': 'stranger' }) }));
    expect(world.server.arrivals[0]?.headers.get('content-type')).toBe('application/vnd.shop+json');
    expect(world.server.keys).toEqual([end.outcome?.key]);
    expect(world.server.keys).not.toContain('stranger');
  });
});

describe('A47, A49, A55: what the app can look up', () => {
  test("A47: the key window is the dialect's, 24 hours for the generic one, unless an option says otherwise", async () => {
    const windows = [];
    const hour: Dialect = { ...GENERIC, windowMs: HOUR };
    const cases: [Dialect | undefined, number | undefined][] = [
      [undefined, undefined],
      [hour, undefined],
      [hour, 2 * HOUR],
    ];
    for (const [dialect, keyWindowMs] of cases) {
      const { world, tab, once } = newWorld().open({ dialect, limits: { keyWindowMs } });
      await world.end(tab, pay(once, ONE), lost());
      windows.push((await world.run(pending(once)))[0]!.expiresAt - world.clock.now());
    }
    expect(windows).toEqual([24 * HOUR, HOUR, 2 * HOUR]);
  });

  test('A49: pending lists an operation that is in flight', async ({ world, tab, once }) => {
    const [call] = await world.begin(pay(once), delayed(SECOND, answers(201)));
    expect(await world.run(pending(once))).toMatchObject([{ name: NAME, sent: 'maybe' }]);
    await world.end(tab, call);
    expect(await world.run(pending(once))).toEqual([]);
  });

  test('A55: a refused preflight looks like a lost answer: the effect is unknown, and the developer gets one diagnostic', async ({ world, tab, once }) => {
    const codes: string[] = [];
    subscribe(once, (event) => event.type === 'diagnostic' && codes.push(event.code));
    world.server.otherwise = lost();
    for (const cart of ['c1', 'c2']) {
      expect(await world.end(tab, pay(once, { operation: ['pay', cart], url: 'https://api.other.example/pay' }))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
    }
    await world.end(tab, pay(once, { operation: ['pay', 'c3'] }));
    expect(codes).toEqual(['preflight-suspected']);
  });
});
