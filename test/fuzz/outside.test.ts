/**
 * Goal: nothing from outside makes a call hang, lie, grow without bound or end with an untyped error. Method: answers, transports, stored
 * records, stores, hooks, options and names of absurd shapes, drawn from a seed that a failure prints.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import type { OnceOptions, OperationOptions } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { createOn } from '../../src/once.js';
import type { Random } from '../simulation/random.js';
import { answers, type Entry, lost, shaped } from '../support/server.js';
import { NAME, pay, URL_ } from '../support/world.js';
import { fuzz, NONSENSE, stage, truthful } from './fuzz.js';

const MEGABYTE = 1_048_576;
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

const BODIES: readonly ((random: Random) => BodyInit | null)[] = [
  () => null,
  () => '',
  () => '{',
  () => '{"code":"idempotency_conflict","message":"',
  () => deep(100_000),
  () => `{"errors":${deep(5000)}}`,
  (random) => `{"code":"${'x'.repeat(random.int(1, 50_000))}"}`,
  () => JSON.stringify({ __proto__: null, code: { code: { code: 1 } }, error: [[[{}]]], title: null, links: [] }),
  () => JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`error${index}`, { code: index }]))),
  (random) => Uint8Array.from({ length: 500 }, () => random.int(0, 255)),
  () => Uint8Array.of(0xff, 0xfe, 0x7b, 0x7d),
  () => Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0),
  () => '<html><body>It works!</body></html>',
  () => '\u0000'.repeat(1000),
];

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  'content-type': ['', 'application/json', 'application/json;charset=utf-16', 'text/html', 'text/event-stream', 'x'.repeat(8000), ';;;', 'multipart/form-data'],
  'content-length': ['-1', '0', '1e9', '99999999999999999999', 'NaN', '5, 5', ''],
  'content-encoding': ['gzip', 'br', 'x'],
  'retry-after': ['-1', '0', '1', '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT', 'tomorrow', '1e9', 'Infinity', '5, 5'],
  'retry-after-ms': ['-5', '1', '9'.repeat(300), 'x'],
  'idempotent-replayed': ['true', 'false', '', 'true, true', 'x'.repeat(5000)],
  'idempotency-status': ['ignored', 'replayed', 'completed', ''],
  'stripe-should-retry': ['true', 'false', 'maybe'],
  location: ['http://[', '//evil.example/', 'javascript:alert(1)', '/jobs/1', 'x'.repeat(8000), ''],
  'operation-location': ['https://evil.example/', '/jobs/1'],
};

/**
 * An answer of any status from 100 to 999. The server's log stays true to what it says: a 2xx took effect, and an answer that proves that
 * nothing did is not given for a key that took effect.
 */
const absurd =
  (random: Random): Entry =>
  async (arrival, server) => {
    const status = random.chance(0.5)
      ? random.pick([200, 201, 202, 204, 301, 303, 304, 400, 401, 404, 408, 409, 412, 422, 423, 425, 429, 500, 501, 503, 599])
      : random.int(100, 999);
    const headers = new Headers();
    for (const [name, values] of Object.entries(HEADERS)) if (random.chance(0.25)) headers.set(name, random.pick(values));
    const body = random.pick(BODIES)(random);
    // A refusal had no effect. After any other answer the effect may have happened or not.
    const refused = (status >= 400 && status < 500 && ![408, 460, 499].includes(status)) || status === 501 || status === 505;
    if ((status >= 200 && status < 300) || (!refused && random.chance(0.5))) server.charged.add(arrival.key);
    const marked = headers.has('idempotent-replayed') || headers.has('idempotency-status');
    // A marked 4xx, or a refusal with a retry hint, would say that the key had no effect. If it had one, the answer loses the marker and the hint.
    if (((status >= 400 && status < 500 && marked) || (refused && headers.has('stripe-should-retry'))) && server.charged.has(arrival.key))
      for (const name of ['idempotent-replayed', 'idempotency-status', 'stripe-should-retry']) headers.delete(name);
    const made = (): Response =>
      new Response([204, 205, 304].includes(status) ? null : body, { status: status >= 200 && status <= 599 ? status : 200, headers });
    return status >= 200 && status <= 599 ? made() : shaped(made, { status })(arrival, server);
  };

describe('answers', () => {
  test('of any status, header and body end the call within its limits, with a typed and true outcome', async () => {
    await fuzz(200, async (random) => {
      const { world, once, ends } = stage({ accepted: random.pick(['settle', 'poll']) });
      world.server.otherwise = random.chance(0.3) ? (...all) => (random.chance(0.5) ? absurd(random)(...all) : lost()(...all)) : absurd(random);
      const end = await ends(() => pay(once, { limits: { attempts: random.int(1, 4) } }));
      if (end.response && !end.response.bodyUsed) await end.response.arrayBuffer().catch(() => {});
    });
  });

  test.each([
    ['ten megabytes of JSON', () => JSON.stringify({ code: 'x', filler: 'y'.repeat(10 * MEGABYTE) })],
    ['a million brackets', () => deep(500_000)],
    ['an endless stream of megabytes', () => new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(MEGABYTE)) })],
  ])('with %s end the call with the outcome of their status', async (_, body) => {
    for (const [status, effect] of [
      [200, 'done'],
      [422, 'none'],
    ] as const) {
      const { world, once, ends } = stage({});
      world.server.plays(({ key }, server) => {
        if (status === 200) server.charged.add(key);
        return new Response(body(), { status, headers: { 'content-type': 'application/json' } });
      });
      const { response, outcome } = await ends(() => pay(once));
      expect(outcome).toMatchObject({ effect });
      await response?.body?.cancel().catch(() => {});
    }
  });
});

describe('transports', () => {
  const thrower = (): never => {
    throw new Error('a getter that throws');
  };
  const almost: readonly (() => unknown)[] = [
    ...NONSENSE.map((value) => () => value),
    () => ({ status: 201, ok: true, headers: new Headers(), body: null }),
    () => ({ status: '201', headers: { get: () => 5 }, body: {}, clone: () => null }),
    () => ({ status: 201, headers: new Headers(), body: {}, clone: thrower }),
    () => new Proxy({}, { get: thrower }),
    () => Response.error(),
  ];

  test('that resolve with something that is not a Response end in time, and never with an untrue outcome', async () => {
    await fuzz(120, async (random) => {
      const { world, once, ends } = stage({ limits: { attempts: 2 } });
      const given = random.pick(almost);
      world.server.otherwise = (({ key }, server) => {
        server.charged.add(key);
        return given() as Response;
      }) as Entry;
      await ends(() => pay(once));
    });
  });

  test('whose answer throws when it is read leave the outcome unknown, because the request was sent (P2)', async () => {
    const { world, once, ends } = stage({ limits: { attempts: 1 } });
    world.server.otherwise = (({ key }, server) => {
      server.charged.add(key);
      return Object.defineProperty({}, 'status', { get: thrower });
    }) as Entry;
    expect(await ends(() => pay(once))).toMatchObject({ outcome: { effect: 'unknown' } });
  });

  test('that reject with nonsense leave the outcome unknown, and the record pending', async () => {
    await fuzz(60, async (random) => {
      const { world, once, ends } = stage({ limits: { attempts: 2 } });
      const reason = random.pick(NONSENSE);
      world.server.otherwise = () => Promise.reject(reason);
      expect(await ends(() => pay(once))).toMatchObject({ outcome: { effect: 'unknown' } });
      expect(world.record()).toMatchObject({ state: 'pending' });
    });
  });
});

describe('stored records', () => {
  /** Damages a record: fields of another type or missing, or another value in its place. */
  const damage = (random: Random, record: Record<string, unknown>): unknown => {
    if (random.chance(0.2)) return random.pick(NONSENSE.filter((value) => value != null));
    const changed: Record<string, unknown> = { ...record };
    for (let times = random.int(1, 3); times > 0; times--) {
      const field = random.pick(Object.keys(record));
      if (random.chance(0.3)) delete changed[field];
      else changed[field] = random.pick(NONSENSE);
    }
    return changed;
  };

  /** Stores a record, damages it, and pays again after a reload. The call must not send another key, and must not believe the damaged record. */
  const paysBeside = async (damaged: (record: Record<string, unknown>) => unknown): Promise<void> => {
    const { world, tab, once, ends } = stage({ limits: { attempts: 1 } });
    world.server.plays(lost());
    const key = (await ends(() => pay(once))).outcome?.key;
    const { id } = world.record()!;
    world.medium.set(id, damaged(world.record() as unknown as Record<string, unknown>));
    world.server.otherwise = answers(201);
    const written = world.writes.length;
    const next = tab.reload();
    const end = await world.end(next, pay(next.once(), { limits: { attempts: 1 } }));
    truthful(world, end);
    for (const sent of world.server.keys) expect(sent).toBe(key);
    // The second call sent nothing, so it must not have written anything either.
    if (world.server.arrivals.length === 1) expect(world.writes).toHaveLength(written);
  };

  test('with any damage are kept as they are unless they can be trusted, and no new key is sent', async () => {
    await fuzz(200, (random) => paysBeside((record) => damage(random, record)));
  });

  test('with any field of any wrong type are kept as they are unless they can be trusted, and no new key is sent', async () => {
    let members = 1;
    for (let at = 0; at < members; at++) {
      for (const value of NONSENSE) {
        let member = '';
        const damaged = (record: Record<string, unknown>) => {
          members = Object.keys(record).length;
          member = Object.keys(record)[at] as string;
          return { ...record, [member]: value };
        };
        await paysBeside(damaged).catch((error: Error) => {
          throw new Error(`${member}: ${String(value)}: ${error.message}`, { cause: error });
        });
      }
    }
  });
});

describe('stores', () => {
  test('that return nonsense, throw, reject or hang: the call ends in time with a typed and true outcome, and no key leaves before it is stored', async () => {
    const verbs = ['update', 'read', 'scan', 'ready'] as const;
    await fuzz(120, async (random) => {
      const { world, tab, ends } = stage({});
      world.server.otherwise = answers(201);
      const verb = random.pick(verbs);
      const value = random.pick(NONSENSE);
      const how = random.pick(['resolves', 'returns', 'throws', 'rejects', 'hangs'] as const);
      const broken = () => {
        if (how === 'throws') throw new Error('a store that throws');
        return how === 'returns' ? value : how === 'resolves' ? Promise.resolve(value) : how === 'rejects' ? Promise.reject(value) : new Promise(() => {});
      };
      const once = tab.once({ store: { ...tab.store, [verb]: broken } as never });
      const { error } = await ends(() => pay(once));
      expect(error === undefined || error instanceof Error).toBe(true);
      // A store that resolves with nonsense claims to have stored the record.
      if (how !== 'resolves' && how !== 'returns') world.check();
    });
  });
});

describe('hooks', () => {
  const HOOKS = ['headers', 'verdict', 'reconcile', 'onOutcome', 'fingerprint', 'key'] as const;

  test('that throw, hang or return nonsense: the call ends in time, and never with an untrue outcome', async () => {
    await fuzz(200, async (random) => {
      const options: Record<string, unknown> = {};
      for (const name of HOOKS) {
        if (!random.chance(0.4)) continue;
        const value = random.pick(NONSENSE);
        const rejects = /^(onOutcome|verdict|fingerprint)$/.test(name) ? [] : [() => Promise.reject(value)];
        options[name] = random.pick([
          () => value,
          async () => value,
          () => new Promise(() => {}),
          () => {
            throw value;
          },
          ...rejects,
        ]);
      }
      const { world, tab, once } = stage({});
      const script = [lost(), answers(500), answers(402), answers(409), answers(201), answers(202)];
      world.server.otherwise = (...all) => random.pick(script)(...all);
      const begun = world.clock.now();
      const end = await world.end(tab, pay(once, { ...(options as OperationOptions), limits: { attempts: 2, totalMs: 30_000, attemptMs: 5000 } }));
      expect(world.clock.now() - begun).toBeLessThanOrEqual(90_000);
      // The caller gets the error of its own hook as it is. The outcome is checked, unless `reconcile` or `verdict` decided it: the client believes them.
      if (!('verdict' in options) && !('reconcile' in options) && end.outcome) truthful(world, { ...end, error: undefined });
    });
  });
});

describe('async functions for onOutcome, verdict and fingerprint', () => {
  test.each(['onOutcome', 'verdict', 'fingerprint'] as const)('%s: the rejection is handled (P3)', async (name) => {
    await fuzz(1, async () => {
      const { world, tab, once } = stage({});
      world.server.plays(answers(201));
      const hook = async () => {
        throw new Error('a hook that rejects');
      };
      await world.end(tab, pay(once, { [name]: hook } as never));
    });
  });

  test('fingerprint: another payload is not taken for the same (P4)', async () => {
    const { world, tab, once } = stage({});
    world.server.plays(answers(201));
    const fingerprint = (async ({ body }: { body: unknown }) => body) as never;
    await world.end(tab, pay(once, { fingerprint, body: { amount: 10 } }));
    // The client awaits the fingerprint, so it sees that the payload has changed.
    expect(await world.end(tab, pay(once, { fingerprint, body: { amount: 20 } }))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED' });
  });
});

describe('options', () => {
  const CLIENT = `namespace store dialect fetch durability retry origins operation connectivity limits keep repeat verdict headers reconcile fingerprint
    onOutcome whenBusy whenChanged accepted sotre`.split(/\s+/);
  const CALL = ['operation', 'key', 'meta', 'limits', 'keep', 'repeat', 'whenBusy', 'whenChanged', 'accepted', 'verdict'];

  test('of any wrong type: the error, if any, begins with "once: ", and the call stores nothing', async () => {
    await fuzz(400, async (random) => {
      const { tab, once, world } = stage({});
      const wrong = (names: readonly string[]): Record<string, unknown> => {
        const field = random.pick(names);
        const value = random.pick(NONSENSE);
        const grouped = /^(limits|keep|retry)$/.test(field) && random.chance(0.7);
        return { [field]: grouped ? { [random.pick(['attempts', 'totalMs', 'keyWindowMs', 'forMs', 'request', 'factor', 'budget'])]: value } : value };
      };
      try {
        tab.in(() => createOn(tab.platform, { store: tab.store, use: everything(), ...(wrong(CLIENT) as OnceOptions) }));
      } catch (error) {
        expect(error instanceof TypeError || error instanceof RangeError, String(error)).toBe(true);
        expect((error as Error).message).toMatch(/^once: /);
      }
      world.server.otherwise = answers(201);
      const { error } = await world.end(tab, pay(once, wrong(CALL) as OperationOptions));
      if (error === undefined) return;
      expect((error as Error).message).toMatch(/^once: /);
      expect((error as Error).message.length).toBeLessThan(500);
      expect(world.records).toEqual([]);
    });
  });

  test('names of ten megabytes, of a million parts or with holes are refused', async () => {
    const { tab, world, once } = stage({});
    for (const operation of [['pay', 'x'.repeat(10 * MEGABYTE)], new Array(1_000_000).fill('x'), new Array(1000), ['pay', ...new Array(3)]] as const) {
      const { error } = await world.end(tab, pay(once, { operation: operation as never }));
      expect(error instanceof TypeError || error instanceof RangeError).toBe(true);
      expect((error as Error).message.length).toBeLessThan(300);
    }
    expect(world.records).toEqual([]);
  });
});

test('memory stays bounded over two thousand calls, whatever their outcomes are', async () => {
  const { world, tab } = stage({});
  const once = tab.once({ limits: { attempts: 1 } });
  const ends = [answers(201, { id: 'x'.repeat(2000) }), answers(402, 'x'.repeat(2000)), lost()];
  world.server.otherwise = (...all) => ends[world.server.arrivals.length % 3]!(...all);
  const calls = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to; at += 100) {
      const batch = Array.from({ length: 100 }, (_, index) => once.fetch(URL_, { method: 'POST', body: 'y'.repeat(5000), once: [...NAME, at + index] }));
      await world.run(Promise.allSettled(batch));
      // Drops what the test's own server and store have noted.
      world.server.arrivals.length = world.server.unscripted.length = world.writes.length = 0;
    }
  };
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  await calls(0, 500);
  const before = heap();
  await calls(500, 2000);
  // 1,000 records of about 1 kB stay in the test's store; bodies and answers of 7 kB each must not.
  expect((heap() - before) / MEGABYTE).toBeLessThan(8);
});
