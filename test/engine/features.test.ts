/**
 * Goal: a client does what its features let it do, and refuses at once what needs a feature that it was made without. Method:
 * clients with and without a feature, on one store; a call that is refused may send and store nothing.
 */
import { afterEach, describe, expect, vi } from 'vitest';
import type { OnceRecord } from '../../src/core/record.js';
import {
  answers as answersFeature,
  clear,
  extend,
  hooks,
  type Keep,
  type Once,
  type OnceOptions,
  type OnceRequestInit,
  type OperationOptions,
  pending,
  polling,
  reconciling,
  requests,
  resumeOne,
  retrying,
  run,
  unnamed,
} from '../../src/entries/index.js';
import { insecureOrigins } from '../../src/features/insecure-origins.js';
import { browserPlatform } from '../../src/platform/browser/index.js';
import type { Platform } from '../../src/ports.js';
import { needs } from '../../src/texts/full.js';
import { answers, charged, idle, lost, replays, textOf } from '../support/server.js';
import { LEAN } from '../support/texts.js';
import { CART, NAME, newWorld, ONE, pay, test, URL_ } from '../support/world.js';

const BARE = { use: [] } as const;
const ACCEPTED = answers(202, {}, { location: 'https://shop.example/jobs/1' });

describe('polling', () => {
  const needed = needs("accepted: 'poll'", 'polling');

  test('is named as missing if a client or a call needs it, and nothing is sent', async ({ world }) => {
    expect(() => world.open({ ...BARE, accepted: 'poll' })).toThrow(new TypeError(needed));
    const { tab, once } = world.open(BARE);
    expect((await world.end(tab, pay(once, { accepted: 'poll' }))).error).toEqual(new TypeError(needed));
    expect(world.server.arrivals).toHaveLength(0);
    expect(world.record()).toBeUndefined();
  });

  test('was used by an earlier page: a link that this page cannot poll leaves the operation open, and nothing is sent twice', async ({ world }) => {
    const first = world.open({ accepted: 'poll', limits: { inProgressMs: 1 } });
    await world.end(first.tab, pay(first.once), ACCEPTED, answers(200, { status: 'running' }));
    expect(world.record()).toMatchObject({ link: 'https://shop.example/jobs/1' });
    const sent = world.server.arrivals.length;
    const { tab, once } = world.open(BARE);
    expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { effect: 'unknown', reason: 'in-progress' } });
    expect(await world.end(tab, resumeOne(once, NAME) as Promise<Response>)).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(sent);
  });
});

describe('polling, and a request that an earlier page stored beside the link', () => {
  const ACCEPTS = { namespace: 'ann', accepted: 'poll', limits: { inProgressMs: 1 } } as const;

  /** A payment whose work goes on, stored with its request and its link. */
  async function accepted(world: ReturnType<typeof newWorld>): Promise<void> {
    const first = world.open({ ...ACCEPTS, keep: { request: true } });
    await world.end(first.tab, pay(first.once), charged(ACCEPTED), idle(answers(200, { status: 'running' })));
  }

  test('polls the link without `requests`, too', async ({ world }) => {
    await accepted(world);
    const { tab, once } = world.open({ ...ACCEPTS, use: [polling()] });
    expect(await world.end(tab, resumeOne(once, NAME), idle(answers(200, { status: 'done' })))).toMatchObject({ status: 200, outcome: { effect: 'done' } });
  });

  test('does not take the poll for the request: if the link is gone, the next press sends its own body', async ({ world }) => {
    await accepted(world);
    const { tab, once } = world.open({ ...ACCEPTS, use: [polling()] });
    await world.end(tab, resumeOne(once, NAME), idle(answers(200, { status: 'running' })));
    await world.run(clear(world.open(ACCEPTS).once));
    await world.end(tab, pay(once), replays());
    expect(await textOf(world.server.arrivals.at(-1) as never)).toBe(JSON.stringify(CART));
  });
});

describe('retrying', () => {
  /** A fetch that answers with these statuses, one after the other. */
  function busy(...statuses: number[]) {
    const sent: number[] = [];
    return { sent, fetch: async () => new Response(null, { status: statuses[sent.push(sent.length) - 1] ?? 200 }) };
  }

  test.for([
    ['with it, a GET is sent again', [retrying()], 200, 2],
    ['without it, a GET is sent once', [], 503, 1],
  ] as const)('%s', async ([_, use, status, times], { world }) => {
    const { sent, fetch } = busy(503);
    const { tab, once } = world.open({ use, fetch });
    expect(await world.end(tab, once.fetch(URL_))).toMatchObject({ status });
    expect(sent).toHaveLength(times);
  });

  test('can be added for an extended client alone', async ({ world }) => {
    const { fetch } = busy(503, 200, 503);
    const { tab, once } = world.open({ ...BARE, fetch });
    const patient = tab.in(() => extend(once, { use: [retrying()] }));
    expect(await world.end(tab, patient.fetch(URL_))).toMatchObject({ status: 200 });
    expect(await world.end(tab, once.fetch(URL_))).toMatchObject({ status: 503 });
  });
});

describe('reconciling', () => {
  const needed = needs('reconcile', 'reconciling');
  const done = async () => 'done' as const;

  test('is named as missing if a client, an extended one or a call needs it, and nothing is sent', async ({ world }) => {
    expect(() => world.open({ ...BARE, reconcile: done })).toThrow(new TypeError(needed));
    const { tab, once } = world.open(BARE);
    expect(() => tab.in(() => extend(once, { reconcile: done }))).toThrow(new TypeError(needed));
    expect((await world.end(tab, pay(once, { reconcile: done }))).error).toEqual(new TypeError(needed));
    expect(world.server.arrivals).toHaveLength(0);
    expect(world.record()).toBeUndefined();
  });

  test('with it, the app is asked; without it, the operation stays open for a page that can ask', async ({ world }) => {
    world.server.plays(lost(), answers(422));
    const bare = world.open(BARE);
    expect(await world.end(bare.tab, pay(bare.once))).toMatchObject({ outcome: { effect: 'unknown' } });
    world.server.plays(answers(422));
    const { tab, once } = world.open({ use: [reconciling()], reconcile: done });
    expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { effect: 'done', from: 'reconcile' } });
  });
});

test.for<[option: string, feature: string, keep: Keep]>([
  ['keep.request', 'requests', { request: true }],
  ["keep.response: 'disk'", 'answers', { response: 'disk' }],
])('%s: its feature is named as missing if a client, an extended one or a call needs it, and nothing is sent', async ([option, feature, keep], { world }) => {
  const needed = new TypeError(needs(option, feature));
  expect(() => world.open({ ...BARE, keep })).toThrow(needed);
  const { tab, once } = world.open({ ...BARE, namespace: 'ann' });
  expect(() => tab.in(() => extend(once, { keep }))).toThrow(needed);
  expect((await world.end(tab, pay(once, { keep }))).error).toEqual(needed);
  expect(world.server.arrivals).toHaveLength(0);
  expect(world.record()).toBeUndefined();
});

describe('requests', () => {
  const KEPT = { keep: { request: true } } as const;

  test('was used by an earlier page: without it, a stored request is not sent by itself, and stays for a page that has the feature', async ({ world }) => {
    const first = world.open({ namespace: 'ann', ...ONE, ...KEPT });
    await world.end(first.tab, pay(first.once), lost());
    const bare = world.open({ ...BARE, ...ONE, namespace: 'ann' });
    expect(await bare.tab.in(() => pending(bare.once))).toMatchObject([{ resumable: false }]);
    expect(await world.end(bare.tab, resumeOne(bare.once, NAME))).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(1);
    expect(await world.end(bare.tab, pay(bare.once), lost())).toMatchObject({ outcome: { effect: 'unknown' } });
    const { tab, once } = world.open({ namespace: 'ann', use: [requests()] });
    expect(await tab.in(() => pending(once))).toMatchObject([{ resumable: true }]);
    expect(await world.end(tab, resumeOne(once, NAME), replays())).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('was used by an earlier page: without it, a changed payload that the server refuses is unknown; a page with it finds the earlier end', async ({
    world,
  }) => {
    const first = world.open({ namespace: 'ann', ...ONE, ...KEPT });
    await world.end(first.tab, pay(first.once), lost());
    const bare = world.open({ ...BARE, namespace: 'ann' });
    const mismatch = answers(422, { error: { code: 'idempotency_key_reused', message: 'The idempotency key was used with a different body' } });
    expect(await world.end(bare.tab, pay(bare.once, { body: 'other' }), mismatch)).toMatchObject({ outcome: { effect: 'unknown', reason: 'mismatch' } });
    const { tab, once } = world.open({ namespace: 'ann', use: [requests()] });
    expect(await world.end(tab, pay(once, { body: 'other' }), mismatch, replays())).toMatchObject({ outcome: { effect: 'done', from: 'server' } });
    expect(new Set(world.server.keys).size).toBe(1);
  });
});

describe('a page without the features that finds what another page stored', () => {
  const KEPT = { namespace: 'ann', keep: { request: true, response: 'disk' }, ...ONE } as const;

  test('clears it at a log-out: no request and no answer stays, but the key of an open operation does', async ({ world }) => {
    const first = world.open(KEPT);
    await world.end(first.tab, pay(first.once, { operation: ['pay', 'done'] }), answers(201, { id: 'pay_1' }));
    await world.end(first.tab, pay(first.once), lost());
    const bare = world.open({ ...BARE, namespace: 'ann' });
    expect((await bare.tab.in(() => clear(bare.once))).kept).toMatchObject([{ name: NAME, resumable: false }]);
    const records = world.records as OnceRecord[];
    expect(records.map(({ request, answer }) => request ?? answer)).toEqual([undefined, undefined]);
    expect(await world.end(bare.tab, pay(bare.once), replays())).toMatchObject({ status: 201 });
    expect(world.server.keys.at(-1)).toBe(world.server.keys.at(-2));
  });

  test('goes on under a key that a strategy made, and makes no other one', async ({ world }) => {
    const first = world.open({ ...KEPT });
    await world.end(first.tab, pay(first.once, { key: () => 'order-1' }), lost());
    const bare = world.open({ ...BARE, namespace: 'ann' });
    expect(await world.end(bare.tab, pay(bare.once), replays())).toMatchObject({ status: 201, outcome: { key: 'order-1' } });
    expect(world.server.keys).toEqual(['order-1', 'order-1']);
  });

  test('with if-changed, sends a changed payload under the same key, and the next one under a new key', async ({ world }) => {
    const first = world.open(KEPT);
    await world.end(first.tab, pay(first.once), lost());
    const bare = world.open({ ...BARE, ...ONE, namespace: 'ann', repeat: 'if-changed' });
    await world.end(bare.tab, pay(bare.once, { body: 'second' }), answers(201));
    await world.end(bare.tab, pay(bare.once, { body: 'third' }), answers(201));
    const [one, two, three] = world.server.keys;
    expect([two === one, three === two]).toEqual([true, false]);
  });
});

describe('hooks', () => {
  const asked: [option: string, options: Pick<OperationOptions, 'headers' | 'verdict' | 'fingerprint'>][] = [
    ['headers', { headers: () => ({}) }],
    ['verdict', { verdict: () => undefined }],
    ['fingerprint', { fingerprint: () => 'x' }],
  ];

  test.for<[option: string, options: OnceOptions]>([...asked, ['dialect', { dialect: () => 'none' }]])(
    'are named as missing if a client has %s',
    ([option, options], { world }) => {
      expect(() => world.open({ ...BARE, ...options })).toThrow(new TypeError(needs(option, 'hooks')));
      expect(() => world.open({ use: [hooks()], ...options })).not.toThrow();
    },
  );

  test.for<[option: string, options: OperationOptions]>([...asked, ['key', { key: () => 'k-1' }]])(
    'are named as missing if a call has %s, and nothing is sent or stored',
    async ([option, options], { world }) => {
      const { tab, once } = world.open(BARE);
      expect((await world.end(tab, pay(once, options))).error).toEqual(new TypeError(needs(option, 'hooks')));
      expect(world.server.arrivals).toHaveLength(0);
      expect(world.record()).toBeUndefined();
    },
  );

  test('are named as missing if the key of a `run` is a function, before the function given to it runs', async ({ world }) => {
    const { tab, once } = world.open(BARE);
    let runs = 0;
    const end = world.end(tab, run(once, NAME, () => ++runs, { key: () => 'k-1' }) as Promise<never>);
    expect((await end).error).toEqual(new TypeError(needs('key', 'hooks')));
    expect([runs, world.record()]).toEqual([0, undefined]);
  });

  test('are not needed for a key or a dialect that is not a function', async ({ world }) => {
    const { tab, once } = world.open({ ...BARE, dialect: 'none' });
    expect(await world.end(tab, pay(once, { key: 'k-1' }), answers(201))).toMatchObject({ status: 201 });
  });
});

describe('answers', () => {
  const KEPT = { keep: { response: 'disk' } } as const;

  test('was used by an earlier page: without it, a call of a settled operation says so; with it, the call gets the stored answer', async ({ world }) => {
    const first = world.open({ namespace: 'ann', ...KEPT });
    await world.end(first.tab, pay(first.once), answers(201, { id: 'pay_1' }));
    const bare = world.open({ ...BARE, namespace: 'ann' });
    expect(await world.end(bare.tab, pay(bare.once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    const { tab, once } = world.open({ namespace: 'ann', use: [answersFeature()] });
    const { response } = await world.end(tab, pay(once));
    expect(await response?.json()).toEqual({ id: 'pay_1' });
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('is not needed by `run`, which finds the value of its function after a reload', async ({ world }) => {
    const first = world.open({ ...BARE, namespace: 'ann' });
    expect(await first.tab.in(() => run(first.once, NAME, () => ({ id: 1 })))).toEqual({ id: 1 });
    const { tab, once } = world.open({ ...BARE, namespace: 'ann' });
    expect(await tab.in(() => run(once, NAME, () => ({ id: 2 })))).toEqual({ id: 1 });
  });
});

describe('unnamed', () => {
  const post = (once: Once, more: OnceRequestInit = {}) => once.fetch(URL_, { method: 'POST', body: 'x', ...more });

  test.for<[string, OnceRequestInit]>([
    ['a POST', {}],
    ['a PATCH', { method: 'PATCH' }],
    ['options without a name', { once: { keep: { forMs: 1 } } }],
    ['a call that is named by its content', { once: true }],
    ['a PUT that is named by its content', { method: 'PUT', once: true }],
    ['a body that only fetch can turn into text', { body: {} as never }],
  ])('is named as missing for %s, and nothing is sent', async ([_, init], { world }) => {
    const { tab, once } = world.open(BARE);
    const { error } = await world.end(tab, post(once, init));
    expect(error).toBeInstanceOf(TypeError);
    if (init.body === undefined) expect(error).toEqual(new TypeError(needs(`a ${init.method ?? 'POST'} without a name`, 'unnamed')));
    expect(world.server.arrivals).toHaveLength(0);
    expect(world.record()).toBeUndefined();
  });

  test.for<[string, OnceOptions]>([
    ['no feature makes an operation of it', BARE],
    ['the client has a name for it', { use: [unnamed()], operation: () => NAME }],
  ])('a POST that the package refuses is not left to fetch if %s', async ([_, options], { world }) => {
    const fetch = vi.fn(async () => new Response());
    const { tab, once } = world.open({ ...options, fetch });
    const { error } = await world.end(tab, once.fetch('https://ann:secret@shop.example/', { method: 'POST', body: 'x' }));
    expect(error).toBeInstanceOf(TypeError);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('is not needed for a call that has a name, is not a POST, or has once: false', async ({ world }) => {
    const names: OnceOptions['operation'] = ({ url }) => (url.endsWith('/plain') ? false : NAME);
    const plain: string[] = [];
    const fetch = async (input: unknown) => new Response(String(plain.push(String(input))));
    const { tab, once } = world.open({ ...BARE, operation: names, fetch });
    for (const work of [
      () => post(once, { once: false }),
      () => once.fetch(`${URL_}/plain`, { method: 'POST' }),
      () => once.fetch(URL_, { method: 'PUT', once: {} }),
    ])
      expect((await world.end(tab, work())).error).toBeUndefined();
    expect(plain).toEqual([URL_, `${URL_}/plain`, URL_]);
  });

  test('was used by an earlier page: an operation that was left open is listed without it, and goes on with it', async ({ world }) => {
    const first = world.open({ use: [unnamed()], limits: { attempts: 1 } });
    await world.end(first.tab, post(first.once), lost());
    const bare = world.open(BARE);
    expect(await bare.tab.in(() => pending(bare.once))).toHaveLength(1);
    const { tab, once } = world.open({ use: [unnamed()] });
    expect((await world.end(tab, post(once), replays())).status).toBe(201);
    expect(new Set(world.server.keys).size).toBe(1);
  });
});

test('insecureOrigins lets a client on a store that is not atomic make its key; without it nothing is sent', async ({ world }) => {
  const bare = world.open({ ...BARE, store: { ...world.tab().store, atomic: false } });
  expect((await world.end(bare.tab, pay(bare.once))).error).toMatchObject({ message: expect.stringContaining('needs insecureOrigins()') });
  expect(world.server.arrivals).toHaveLength(0);
  const { tab, once } = world.open({ use: [insecureOrigins()], store: { ...world.tab().store, atomic: false } });
  expect(await world.end(tab, pay(once), replays())).toMatchObject({ status: 201 });
});

// In production this is a TypeError of JavaScript's own, or no error until the feature is needed.
if (!LEAN)
  test.each<[where: string, says: string, use: unknown]>([
    ['use[0]', 'must be a feature, such as polling(), got function', [polling]],
    ['use[1]', 'must be a feature, such as polling(), got undefined', [polling(), undefined]],
    ['use', 'must be an array, got object', polling()],
  ])('a value that is not a feature is refused, and the error names %s', (where, text, use) => {
    expect(() => newWorld().open({ use: use as never })).toThrow(TypeError);
    expect(() => newWorld().open({ use: use as never })).toThrow(`once: ${where} ${text}`);
  });

describe('insecureOrigins on a page without Web Crypto', () => {
  afterEach(() => vi.unstubAllGlobals());

  test('makes keys even if the page has a polyfill of crypto.randomUUID', () => {
    vi.stubGlobal('process', undefined);
    vi.stubGlobal('crypto', { getRandomValues: (bytes: Uint8Array) => bytes.fill(7), randomUUID: () => '07070707-0707-4707-8707-070707070707' });
    const { platform } = insecureOrigins().parts as { platform(lacking: Platform): Platform };
    expect(platform(browserPlatform()).randomness.uuid()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });
});
