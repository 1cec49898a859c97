/**
 * Goal: a wrong option, key, name, body or URL leads to an error that names it, before anything is sent or stored, and nothing
 * can be smuggled into a header. Method: a table of mistakes at createOnce, at the call and in hooks.
 */
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { GENERIC, generic } from '../../src/dialects/generic.js';
import { createOnce, type Evidence, extend, memoryStore, type OnceOptions, type OperationOptions } from '../../src/entries/index.js';
import { createOnce as createOnceInNode } from '../../src/node.js';
import { createOnce as createOnceInApp } from '../../src/react-native.js';
import { number, text } from '../support/arbitraries.js';
import { answers, charged, lost } from '../support/server.js';
import { LEAN, says } from '../support/texts.js';
import { NAME, newWorld, ONE, pay, resumed, test, URL_, watched } from '../support/world.js';

const circular: Record<string, unknown> = {};
circular['self'] = circular;

type Mistake = readonly [field: string, options: unknown, kind: typeof TypeError | typeof RangeError];

/**
 * Only code can make these wrong, and its first run shows it, so a page in production does not check them
 * (docs/decisions/0030-texts-and-builds.md).
 */
const WHILE_DEVELOPING =
  /^(limits\.leaseMs|keep|keep\.(request|response|headers.*)|when.*|repeat|accepted|verdict|reconcile|headers|fingerprint|onOutcome|store|dialect|update|close|scope|atomic|replayed|dialect generic|subscribe|fetch|durability|retry|retry\.(minDelayMs|maxDelayMs|factor|budget)|origins|operation|connectivity)$/;
/** Whether this build checks the mistake. Data can make the options of a call wrong, so those are checked in production, too. */
const looked = ([field, given]: Mistake): boolean => !LEAN || !WHILE_DEVELOPING.test(field) || CALL.some(([, call]) => call === given);

/** Options of both a client and a call. */
const SHARED: Mistake[] = [
  ['limits', 5, TypeError],
  ['limits.attempts', { limits: { attempts: '5' } }, TypeError],
  ['limits.attempts', { limits: { attempts: 0 } }, RangeError],
  ['limits.attempts', { limits: { attempts: -1 } }, RangeError],
  ['limits.attempts', { limits: { attempts: Number.NaN } }, TypeError],
  ['limits.attemptMs', { limits: { attemptMs: -1 } }, RangeError],
  ['limits.attemptMs', { limits: { attemptMs: '30s' } }, TypeError],
  ['limits.totalMs', { limits: { totalMs: 2 ** 31 } }, RangeError],
  ['limits.totalMs', { limits: { totalMs: Number.POSITIVE_INFINITY } }, RangeError],
  ['limits.keyWindowMs', { limits: { keyWindowMs: 1000 } }, RangeError],
  ['limits.inProgressMs', { limits: { inProgressMs: null } }, TypeError],
  ['limits.leaseMs', { limits: { leaseMs: 999 } }, RangeError],
  ['limits.leaseMs', { limits: { leaseMs: 3_600_001 } }, RangeError],
  ['limits.offlineWaitMs', { limits: { offlineWaitMs: -3 } }, RangeError],
  ['limits.bodyBytes', { limits: { bodyBytes: {} } }, TypeError],
  ['limits.tries', { limits: { tries: 3 } }, TypeError],
  ['keep', { keep: true }, TypeError],
  ['keep.request', { keep: { request: 'yes' } }, TypeError],
  ['keep.response', { keep: { response: true } }, TypeError],
  ['keep.headers', { keep: { headers: 'authorization' } }, TypeError],
  ['keep.headers[1]', { keep: { headers: ['x-region', 5] } }, TypeError],
  ['keep.forMs', { keep: { forMs: -1 } }, RangeError],
  ['keep.formMs', { keep: { formMs: 1 } }, TypeError],
  ['whenBusy', { whenBusy: 'queue' }, TypeError],
  ['whenChanged', { whenChanged: 'refused' }, TypeError],
  ['repeat', { repeat: true }, TypeError],
  ['accepted', { accepted: 'wait' }, TypeError],
  ['verdict', { verdict: 'fresh' }, TypeError],
  ['reconcile', { reconcile: {} }, TypeError],
  ['headers', { headers: { authorization: 'x' } }, TypeError],
  ['fingerprint', { fingerprint: 'sha256' }, TypeError],
  ['onOutcome', { onOutcome: [] }, TypeError],
  ['attempts', { attempts: 3 }, TypeError],
];

const CLIENT: Mistake[] = [
  ['options', 'x', TypeError],
  ['options', null, TypeError],
  ['limits.keyWindowMs', { dialect: { ...GENERIC, windowMs: Number.NaN } }, RangeError],
  ['namespace', { namespace: 5 }, TypeError],
  ['namespace', { namespace: '' }, TypeError],
  ['namespace', { namespace: undefined }, TypeError],
  ['store', { store: 'indexeddb' }, TypeError],
  ['store', { store: {} }, TypeError],
  ['store', { store: Promise.resolve(memoryStore()) }, TypeError],
  ['update', { store: { ...memoryStore(), update: undefined } }, TypeError],
  ['close', { store: { ...memoryStore(), close: undefined } }, TypeError],
  ['scope', { store: { ...memoryStore(), scope: undefined } }, TypeError],
  ['atomic', { store: { ...memoryStore(), atomic: 'yes' } }, TypeError],
  ['dialect', { dialect: 'stripe' }, TypeError],
  ['dialect', { dialect: {} }, TypeError],
  ['replayed', { dialect: { ...GENERIC, replayed: true } }, TypeError],
  ['dialect generic', { dialect: generic({ header: 'Idempotency Key' }) }, TypeError],
  ['fetch', { fetch: {} }, TypeError],
  ['durability', { durability: 'always' }, TypeError],
  ['retry', { retry: false }, TypeError],
  ['retry.minDelayMs', { retry: { minDelayMs: -1 } }, RangeError],
  ['retry.maxDelayMs', { retry: { maxDelayMs: 'x' } }, TypeError],
  ['retry.factor', { retry: { factor: 0.5 } }, RangeError],
  ['retry.factor', { retry: { factor: Number.NaN } }, TypeError],
  ['retry.budget', { retry: { budget: true } }, TypeError],
  ['retry.delayMs', { retry: { delayMs: 5 } }, TypeError],
  ['origins', { origins: 'https://shop.example' }, TypeError],
  ['origins[0]', { origins: ['api.shop.example'] }, RangeError],
  ['origins[1]', { origins: ['https://shop.example', 'https://*.shop.example'] }, RangeError],
  ['origins[0]', { origins: ['https://shop.example/api'] }, RangeError],
  ['origins[0]', { origins: ['https://shop.example?a'] }, RangeError],
  ['origins[0]', { origins: ['//shop.example'] }, RangeError],
  ['origins[0]', { origins: ['*'] }, RangeError],
  ['origins[0]', { origins: ['null'] }, RangeError],
  ['origins[0]', { origins: ['data:x'] }, RangeError],
  ['origins[0]', { origins: ['https://'] }, RangeError],
  ['origins[0]', { origins: ['https://a:b@shop.example'] }, RangeError],
  ['origins[0]', { origins: ['https://shop example'] }, RangeError],
  ['origins[0]', { origins: ['https://[shop'] }, RangeError],
  ['origins[0]', { origins: [''] }, RangeError],
  ['origins[0]', { origins: [5] }, TypeError],
  ['origins[0]', { origins: [null] }, TypeError],
  ['origins[0]', { origins: [/shop/] }, TypeError],
  ['origins[0]', { origins: [new URL('https://shop.example')] }, TypeError],
  ['operation', { operation: ['pay'] }, TypeError],
  ['connectivity', { connectivity: true }, TypeError],
  ['subscribe', { connectivity: { online: () => true } }, TypeError],
  ['idempotencyKey', { idempotencyKey: 'x' }, TypeError],
];

test('text for a name gets an error that shows what a name is', async ({ world, tab, once }) => {
  const { error } = await world.end(tab, once.fetch(URL_, { method: 'POST', once: 'c-1' as never }));
  const shown = "TypeError: once: once needs a name, such as once: { operation: ['pay', cart.id] }, got string";
  expect(String(error)).toBe(says(shown, 'TypeError: once: once: no-name, got string (docs/errors.md#mistakes)'));
  expect(world.server.arrivals).toEqual([]);
});

test('an empty namespace gets an error that says whose id it must be', async ({ world, tab }) => {
  const { error } = await world.end(tab, pay(tab.once({ namespace: () => '' })));
  expect(String(error)).toContain(says('must be or return the id of a user or service', 'namespace'));
});

test.each([undefined, null, ''])(
  'extend refuses the namespace %o, as createOnce does: otherwise a customer who is not known would share somebody’s operations',
  (namespace) => {
    for (const parent of [createOnce({ store: memoryStore() }), createOnce({ store: memoryStore(), namespace: 'shop' })])
      expect(() => extend(parent, { namespace: namespace as unknown as string })).toThrow(/namespace/);
  },
);

// fetch answers a POST to a data: URL with 200, so that the call ended as done.
test.for(['file:///api', 'data:,ok', 'DATA:text/plain,ok'])(
  '%s, at which no server answers, is refused at once, in every build',
  async (url, { world, tab, once }) => {
    const { error } = await world.end(tab, pay(once, { url }));
    expect(String(error)).toContain(says(`TypeError: once: url must be a URL of a server, got "${url}"`, `TypeError: once: url: url, got "${url}"`));
    expect([world.server.arrivals, world.records]).toEqual([[], []]);
  },
);

// fetch fails at these as if the network were broken: the call ended as unknown.
if (!LEAN)
  test.for(['blob:https://shop.example/1', 'about:blank', 'ftp://shop.example/', 'wss://shop.example/', 'javascript:0'])(
    'a URL at which no server answers is refused at once: %s',
    async (url, { world, tab, once }) => {
      const { error } = await world.end(tab, pay(once, { url }));
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain(`once: no server answers at a URL of ${url.split(':')[0]}:`);
      expect([world.server.arrivals, world.records]).toEqual([[], []]);
    },
  );

test('once.name, which the lists of operations have, is refused with the name of the option', async ({ world, tab, once }) => {
  const { error } = await world.end(tab, watched(once.fetch(URL_, { method: 'POST', once: { name: NAME } as never })));
  expect(String(error)).toBe(says('TypeError: once: there is no option once.name, but once.operation', 'TypeError: once: there is no option once.name'));
  expect(world.records).toEqual([]);
});

if (!LEAN)
  test('an option of the client at a call, or of a call at the client, is refused with the place that it belongs to', async ({ world, tab, once }) => {
    const { error } = await world.end(tab, watched(once.fetch(URL_, { method: 'POST', once: { operation: NAME, retry: {} } as never })));
    expect(String(error)).toBe('TypeError: once: there is no option once.retry: give it to createOnce');
    expect(() => createOnce({ meta: {} } as never)).toThrow('once: there is no option meta: give it to a call, in once');
    expect(world.records).toEqual([]);
  });

describe('an option of fetch', () => {
  if (!LEAN)
    test.for<[string, unknown]>([
      ['credentials', true],
      ['mode', 'CORS'],
      ['redirect', false],
      ['referrerPolicy', 5],
      ['method', 'TRACE'],
      ['method', 'PO ST'],
    ])('that fetch refuses is refused at once, by its name: %s', async ([name, value], { world, tab, once }) => {
      const { error } = await world.end(tab, watched(once.fetch(URL_, { method: 'POST', once: NAME, [name]: value } as never)));
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain(`once: fetch refuses the option ${name}, ${typeof value}: `);
      expect([world.server.arrivals, world.records]).toEqual([[], []]);
    });

  test.for([
    { keepalive: true, priority: 'high', window: null },
    { cache: 'only-if-cached', mode: 'same-origin' },
    { dispatcher: {}, next: { tags: [] } },
    { method: 'PATCH' },
  ])('that fetch takes, or does not know, is passed on: %o', async (options, { world, tab, once }) => {
    const { outcome } = await world.end(tab, watched(once.fetch(URL_, { method: 'POST', once: NAME, ...options } as never)), answers(201));
    expect(outcome).toMatchObject({ effect: 'done' });
  });
});

test.for(['GET', 'PUT', 'POST'])(
  'a signal that is not an AbortSignal is refused, and the error says so, even for a %s without a name',
  async (method, { world }) => {
    for (const signal of [new AbortController(), 5]) {
      const { tab, once } = world.open({ fetch: async (...of) => new Response(await new Request(...of).text()) });
      const { error } = await world.end(tab, watched(once.fetch(URL_, { method, signal } as never)));
      expect(String(error)).toMatch(/signal .*AbortSignal|Expected signal|signal: signal, got/);
      expect(world.records).toEqual([]);
    }
  },
);

test.each([null, 5, 'x', ...(LEAN ? [] : [5, 'polling'].map((use) => ({ use, store: memoryStore() })))])(
  'createOnce with every feature refuses what createOnce refuses: %o',
  (options) => {
    const wrong = /^once: (use\[9\] must be a feature|options must be an object)/;
    for (const create of [createOnceInNode, createOnceInApp]) expect(() => create(options as never)).toThrow(LEAN ? TypeError : wrong);
  },
);

const CALL: Mistake[] = [
  ['operation', { operation: 'pay' }, TypeError],
  ['operation', { operation: [] }, TypeError],
  ['operation[1]', { operation: ['pay', undefined] }, TypeError],
  ['operation', { operation: ['x'.repeat(5000)] }, RangeError],
  ['key', { key: 5 }, TypeError],
  ['key', { key: null }, TypeError],
  ['meta', { meta: circular }, TypeError],
  ['meta', { meta: 1n }, TypeError],
  ['meta', { meta: () => 1 }, TypeError],
  ['meta', { meta: Symbol('x') }, TypeError],
  ['meta', { meta: 'x'.repeat(2000) }, RangeError],
];

const named = (error: unknown, field: string, kind: typeof TypeError | typeof RangeError): void => {
  expect(error).toBeInstanceOf(kind);
  expect((error as Error).message).toMatch(/^once: /);
  expect((error as Error).message).toContain(field);
  expect((error as Error).message.length).toBeLessThan(300);
};

test.each(
  [...SHARED.filter(([, given]) => typeof given === 'object'), ...CLIENT]
    .filter(looked)
    .map(([field, given, kind]) => [field, kind.name, given, kind] as const),
)('createOnce throws on %s at once: %s', (field, _, given, kind) => {
  const tab = newWorld().tab();
  let thrown: unknown;
  try {
    tab.in(() => tab.once(given as OnceOptions));
  } catch (error) {
    thrown = error;
  }
  // The helper that adds the store spreads `null` and text away.
  if (given === null || typeof given === 'string') return;
  named(thrown, field, kind);
});

describe('a call', () => {
  const wrong = [...SHARED.filter(([, given]) => typeof given === 'object'), ...CALL]
    .filter(looked)
    .map(([field, given, kind]) => [field, kind.name, given, kind] as const);
  test.for(wrong)('rejects with %s: %s; nothing is sent or stored', async ([field, _, given, kind], { world }) => {
    const { tab, once } = world.open({ namespace: 'ann' });
    const end = await world.end(tab, pay(once, given as OperationOptions));
    named(end.error, field, kind);
    expect(world.records).toEqual([]);
    expect(world.server.arrivals).toEqual([]);
  });

  test.for(['pay', 5, null, () => {}, Symbol('x')])('rejects with once: %s', async (wrongOnce, { world, tab, once }) => {
    named((await world.end(tab, watched(once.fetch(URL_, { method: 'POST', once: wrongOnce as never })))).error, 'once', TypeError);
  });

  test.for([new AbortController(), {}, 5, true, false, 'x'])(
    'rejects a signal that is not an AbortSignal, such as the controller: %o; nothing is sent or stored',
    async (signal, { world, tab, once }) => {
      named((await world.end(tab, pay(once, { init: { signal: signal as never } }))).error, 'signal', TypeError);
      expect(world.records).toEqual([]);
      expect(world.server.arrivals).toEqual([]);
    },
  );

  test('never throws synchronously', () => {
    const { once } = newWorld().open();
    for (const bad of [{ once: 'x' }, { once: [] }, { once: { operation: [{}] } }, { mode: 'no-cors', once: ['a'] }, { method: 'GET', body: 'x', once: ['a'] }])
      expect(() => watched(once.fetch(URL_, bad as never))).not.toThrow();
    expect(() => watched(once.fetch('http://[', { once: ['a'] }))).not.toThrow();
    expect(() => watched(once.fetch(undefined as never, { once: ['a'] }))).not.toThrow();
  });

  test('takes explicit undefined as absent, in every option', async ({ world, tab, once }) => {
    const nothing = {
      key: undefined,
      meta: undefined,
      repeat: undefined,
      verdict: undefined,
      keep: { request: undefined },
      limits: { attempts: undefined },
      whenBusy: undefined,
      whenChanged: undefined,
    };
    world.server.plays(lost(), answers(201));
    expect(
      await world.end(tab, pay(once, { ...nothing, reconcile: undefined, headers: undefined, onOutcome: undefined, fingerprint: undefined })),
    ).toMatchObject({ status: 201 });
  });
});

test.for<[string, unknown]>([
  ['a function', { deep: [() => 1] }],
  ['a Date', { at: new Date(0) }],
  ['a Map', new Map([[1, 2]])],
  ['undefined', { a: undefined }],
  ['NaN', [Number.NaN]],
])('meta that is not JSON is refused, or stored as the JSON that it becomes: %s in it', async ([_, meta], { world }) => {
  const { tab, once } = world.open({ namespace: 'ann' });
  world.server.otherwise = lost();
  const { error } = await world.end(tab, pay(once, { limits: { attempts: 1 }, meta: meta as never }));
  if (error instanceof TypeError) return named(error, 'meta', TypeError);
  // A store that clones records, such as IndexedDB, would refuse a record with anything else in it.
  expect(structuredClone(world.record()?.meta)).toStrictEqual(JSON.parse(JSON.stringify(meta)));
});

describe('keys', () => {
  const BAD = ['', ' ', 'a b', 'a\nb', 'a\r\nX-Injected: 1', 'a\0b', 'ключ', 'a\tb', 'é', 'x'.repeat(256), '\u2028'];
  test.each(BAD)('%j is refused before anything is stored, as an option, and from a strategy that is async or not', async (key) => {
    for (const options of [{ key }, { key: () => key }, { key: async () => key }]) {
      const { world, tab, once } = newWorld().open();
      const { error } = await world.end(tab, pay(once, options));
      named(error, 'key', TypeError);
      // A key may be a credential by mistake.
      if (key.trim().length > 2) expect((error as Error).message).not.toContain(key);
      expect(world.records).toEqual([]);
    }
  });

  test.for([5, null, undefined, {}, ['k']])('a key from a strategy that returns %j is refused', async (said, { world, tab, once }) => {
    named((await world.end(tab, pay(once, { key: (() => said) as never }))).error, 'key', TypeError);
    expect(world.records).toEqual([]);
  });

  test('a header with two keys in it, as append makes it, is refused', async ({ world, tab, once }) => {
    const headers = new Headers({ 'idempotency-key': 'one' });
    headers.append('idempotency-key', 'two');
    named((await world.end(tab, pay(once, { init: { headers } }))).error, 'key', TypeError);
  });

  test("a strategy's own error reaches the caller; nothing is sent or stored", async ({ world, tab, once }) => {
    const own = new Error('the key service is down');
    expect(await world.end(tab, pay(once, { key: () => Promise.reject(own) }))).toMatchObject({ error: own, outcome: undefined });
    expect(world.records).toEqual([]);
  });

  test.for<[string, unknown]>([
    ['a promise, because it is async by mistake', Promise.resolve(GENERIC)],
    ['the name of a dialect', 'stripe'],
    ['the function that makes one', generic],
    ['an empty object', {}],
    ['null', null],
  ])('a dialect function that returns %s is refused, and a stored request is not sent', async ([, said], { world }) => {
    let gives: unknown = GENERIC;
    const options = { namespace: 'ann', keep: { request: true }, dialect: () => gives as never };
    const { tab, once } = world.open(options);
    await world.end(tab, pay(once, ONE), lost());
    gives = said;
    named((await world.end(tab, watched((async () => pay(once))()))).error, 'dialect', TypeError);
    expect((await world.run(resumed(once))).map(({ outcome }) => outcome.effect)).toEqual(['unknown']);
    expect(world.server.arrivals).toHaveLength(1);
  });

  if (!LEAN)
    test('a value that is not a dialect is refused, and the error lists what is allowed', () => {
      const { tab } = newWorld().open();
      expect(() => tab.once({ dialect: 'stripe' as never })).toThrow(
        `once: dialect must be 'none' or a dialect, such as stripe() of 'oncefetch/dialects', got "stripe"`,
      );
      expect(() => tab.once({ dialect: 5 as never })).toThrow('once: dialect must be an object or a function or a string, got number');
      expect(() => tab.once({ store: 5 as never })).toThrow('once: store must be an object, got number');
    });

  test("'none' is a server without keys", async ({ world }) => {
    const { tab, once } = world.open({ dialect: 'none' });
    expect(await world.end(tab, pay(once), charged(lost()))).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { attempts: 1 } });
    expect(world.server.keys).toEqual([null]);
  });

  test("a key must fit the dialect's alphabet", async ({ world }) => {
    const { tab, once } = world.open({ dialect: { ...GENERIC, name: 'short', keyPattern: /^[a-z]{1,4}$/ } });
    named((await world.end(tab, pay(once, { key: 'abcde' }))).error, 'key', TypeError);
  });

  test('no name, however hostile, gets into a header or breaks a record', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(text(1, 40), number, fc.bigInt()), { minLength: 1, maxLength: 4 }), async (operation) => {
        const { world, tab, once } = newWorld().open();
        const { outcome } = await world.end(tab, pay(once, { operation }), charged(lost()), answers(201));
        // -0 is 0, as in JSON.
        expect(outcome).toMatchObject({ effect: 'done', operation: operation.map((part) => (part === 0 ? 0 : part)) });
        for (const { headers } of world.server.arrivals) expect([...headers.keys()].sort()).toEqual(['content-type', 'idempotency-key']);
      }),
      { numRuns: 15 },
    );
  });
});

describe('requests that no attempt could send', () => {
  test.for<[string, string, RequestInit]>([
    ['a GET with a body', URL_, { method: 'GET', body: 'x' }],
    ['no-cors', URL_, { method: 'POST', mode: 'no-cors' }],
    ['an invalid URL', 'http://[', { method: 'POST' }],
  ])('%s: TypeError, nothing stored', async ([_, url, init], { world, tab, once }) => {
    expect((await world.end(tab, watched(once.fetch(url, { ...init, once: NAME })))).error).toBeInstanceOf(TypeError);
    expect(world.records).toEqual([]);
  });

  test('a relative URL is a TypeError that says so where there is no page, and is resolved where there is one', async ({ world }) => {
    const server = world.open({ namespace: 'x' }, { server: true });
    const { error } = await world.end(server.tab, pay(server.once, { url: '/api/payments' }));
    named(error, 'url', TypeError);
    expect(world.records).toEqual([]);
    const page = world.open();
    await world.end(page.tab, pay(page.once, { url: '/api/payments#top' }), answers(201));
    expect(world.server.arrivals[0]?.url).toBe('https://shop.example/api/payments');
  });

  test('a Request whose body was read: TypeError', async ({ world, tab, once }) => {
    const request = new Request(URL_, { method: 'POST', body: 'x' });
    await request.text();
    expect((await world.end(tab, watched(once.fetch(request, { once: NAME })))).error).toBeInstanceOf(TypeError);
  });

  test.for([
    ['an object that somebody forgot to stringify', { cart: 'c1' }],
    ['a number', 5],
  ] as const)('a body that is %s: ERR_ONCE_BODY, nothing stored', async ([_, body], { world, tab, once }) => {
    expect(await world.end(tab, watched(once.fetch(URL_, { method: 'POST', body: body as never, once: NAME })))).toMatchObject({
      code: 'ERR_ONCE_BODY',
      outcome: { sent: 'no' },
    });
    expect(world.records).toEqual([]);
  });

  test.for([
    ['a circular object', () => circular],
    ['a bigint', () => ({ amount: 1n })],
    ['an error of its own', () => JSON.parse('{')],
  ] as const)('a fingerprint hook that returns %s: a TypeError or its own error, nothing sent or stored', async ([_, fingerprint], { world, tab, once }) => {
    const { error } = await world.end(tab, pay(once, { fingerprint }));
    expect(error).toBeInstanceOf(Error);
    if (error instanceof TypeError) expect(error.message).toContain('fingerprint');
    expect(world.records).toEqual([]);
  });
});

describe('hooks that misbehave after a charge', () => {
  test.for<[string, (evidence: Evidence) => unknown, string]>([
    ['throws', () => JSON.parse('{'), 'JSON'],
    [
      'says an unknown word',
      () => 'succeeded',
      says('must return a word such as \'rejected\', or undefined, got "succeeded"', 'once: verdict: verdict, got "succeeded"'),
    ],
    ['says a number', () => 7, 'number'],
    ['says false because it has nothing to say', ({ status }: Evidence) => status === 402 && 'rejected', 'boolean'],
    ['says null', () => null, 'null'],
    ['is async', async () => 'fresh', 'object'],
  ])(
    'a verdict hook that %s makes the effect unknown and never done, keeps the record, and is reported',
    async ([_, verdict, report], { world, tab, once }) => {
      expect(await world.end(tab, pay(once, { verdict: verdict as never }), answers(201))).toMatchObject({
        code: 'ERR_ONCE_UNKNOWN',
        outcome: { effect: 'unknown', reason: 'not-a-verdict' },
      });
      expect(world.record()).toMatchObject({ state: 'pending' });
      expect(tab.reported.map(String)).toEqual([expect.stringContaining(report)]);
    },
  );
});

// As Prototype.js 1.6 has it. A name was written, but not read back: `pending` and the outcome told of an operation without a name.
if (!LEAN)
  test('an Array.prototype.toJSON that returns text is refused by createOnce while developing', () => {
    Object.defineProperty(Array.prototype, 'toJSON', { configurable: true, value: () => '["pay"]' });
    try {
      expect(() => createOnce()).toThrow(/^once: Array\.prototype\.toJSON changes what JSON\.stringify writes/);
    } finally {
      Reflect.deleteProperty(Array.prototype, 'toJSON');
    }
  });
