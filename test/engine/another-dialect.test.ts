/**
 * Goal: a key counts where it was sent, even for a page that does not know the dialect it was sent in: a page without `hooks()`,
 * which has no `dialect` function, or a page of another release. Method: two pages on one store, whose servers look for the key
 * in different places.
 */
import { describe, expect } from 'vitest';
import { defineDialect, generic, googleRequestId, inBody, inHeader } from '../../src/entries/dialects.js';
import {
  answers as answersFeature,
  extend,
  hooks,
  move,
  type Once,
  type OnceOptions,
  pending,
  requests,
  resumeInBackground,
  resumeOne,
} from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { createOn } from '../../src/once.js';
import { answers, charged, honest, lost, replays } from '../support/server.js';
import type { Tab } from '../support/tab.js';
import { HOUR, NAME, ONE, pay, resumed, test, URL_, type World, watched } from '../support/world.js';

const ELSEWHERE = defineDialect({ name: 'elsewhere', place: inHeader('X-Key') });
const ANN = { namespace: 'ann' } as const;
/** A page that knows no dialect but the default one. */
const BARE = { ...ANN, use: [] } as const;
const WITH = { ...ANN, dialect: () => ELSEWHERE } as const;

/** For each request, the header of the default dialect and the header of `ELSEWHERE`. */
const places = ({ server }: World): (string | null)[][] => server.arrivals.map(({ headers }) => [headers.get('idempotency-key'), headers.get('x-key')]);

/** A press while the device is offline, in a page that is closed before anything is sent. */
async function pressedOffline(world: World, options: OnceOptions, key?: string): Promise<void> {
  const { tab, once } = world.open(options);
  tab.online = false;
  await world.dies({ tab, once }, { key });
  expect(world.record()).toMatchObject({ state: 'pending', ambiguous: false });
}

describe('a key that was stored but never sent goes where the next page looks for it', () => {
  test.for<[string, from: OnceOptions, to: OnceOptions, header: string]>([
    ['a page with a `dialect` function, after one without `hooks()`', BARE, { ...WITH, use: [hooks()] }, 'X-Key'],
    ['a page without `hooks()`, after one with a `dialect` function', WITH, BARE, 'Idempotency-Key'],
    ['a page of a release with another dialect', BARE, { ...BARE, dialect: ELSEWHERE }, 'X-Key'],
  ])('%s: the retry after a lost answer is not a second charge', async ([_, from, to, header], { world }) => {
    await pressedOffline(world, from);
    world.keyHeader = header;
    const { tab, once } = world.open(to);
    expect(await world.end(tab, pay(once), charged(lost()), honest())).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect([...world.server.charged]).toEqual([world.server.keys[0]]);
    expect(world.server.keys[0]).not.toBeNull();
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('a key that the app gave goes there, too', async ({ world }) => {
    await pressedOffline(world, BARE, 'order-1');
    world.keyHeader = 'X-Key';
    const { tab, once } = world.open({ ...BARE, dialect: ELSEWHERE });
    expect(await world.end(tab, pay(once, { key: 'order-1' }), charged(lost()), replays())).toMatchObject({ status: 201 });
    expect(world.server.keys).toEqual(['order-1', 'order-1']);
  });

  test('the key of a stored request is the exception: it goes where the page that stored the request had put it', async ({ world }) => {
    world.keyHeader = 'X-Key';
    await pressedOffline(world, { ...WITH, keep: { request: true } });
    const { tab, once } = world.open({ ...ANN, use: [requests()], dialect: defineDialect({ name: 'elsewhere', place: inHeader('Idempotency-Key') }) });
    expect(await world.end(tab, resumeOne(once, NAME), answers(201))).toMatchObject({ status: 201 });
    expect(places(world)).toEqual([[null, world.server.keys[0]]]);
  });
});

describe('a page without `hooks()` that finds a key which a `dialect` function put elsewhere', () => {
  test('sends the key there again, and not to its own place', async ({ world }) => {
    world.keyHeader = 'X-Key';
    const first = world.open({ ...WITH, ...ONE });
    await world.end(first.tab, pay(first.once), charged(lost()));
    const { tab, once } = world.open(BARE);
    expect(await world.end(tab, pay(once), replays())).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    const [key] = world.server.keys;
    expect(places(world)).toEqual([
      [null, key],
      [null, key],
    ]);
  });

  test('sends nothing to another origin', async ({ world }) => {
    world.keyHeader = 'X-Key';
    const first = world.open({ ...WITH, ...ONE });
    await world.end(first.tab, pay(first.once), charged(lost()));
    const { tab, once } = world.open(BARE);
    const { code, outcome } = await world.end(tab, pay(once, { url: URL_.replace('shop.', 'eu.shop.') }));
    expect([code, outcome]).toMatchObject(['ERR_ONCE_MISMATCH', { effect: 'unknown', reason: 'elsewhere' }]);
    expect(world.server.arrivals).toHaveLength(1);
  });

  test('sends nothing if only that dialect has the code for the place', async ({ world }) => {
    world.keyOf = ({ body }) => JSON.parse(String(body)).key ?? null;
    const dialect = () => defineDialect({ name: 'in-body', place: inBody('key') });
    const first = world.open({ ...ANN, ...ONE, dialect, keep: { request: true } });
    await world.end(first.tab, pay(first.once), charged(lost()));
    const { tab, once } = world.open({ ...ANN, use: [requests()] });
    const renamed = tab.once({ ...ANN, use: [requests()], dialect: defineDialect({ name: 'in-body', place: inHeader('Idempotency-Key') }) });
    for (const call of [() => pay(once), () => pay(renamed), () => resumeOne(renamed, NAME)])
      expect(await world.end(tab, call())).toMatchObject({ outcome: { effect: 'unknown', reason: 'not-a-verdict', attempts: 0 } });
    expect(await tab.in(() => pending(once))).toMatchObject([{ name: NAME, sent: 'maybe' }]);
    const back = first.tab.reload();
    expect(await world.end(back, pay(back.once({ ...ANN, dialect })), replays())).toMatchObject({ status: 201 });
    expect(new Set(world.server.keys).size).toBe(1);
  });

  test('does not ask at another place for the answer of a settled operation', async ({ world }) => {
    world.keyHeader = 'X-Key';
    const first = world.open(WITH);
    await world.end(first.tab, pay(first.once), answers(201));
    const replaying = defineDialect({ name: 'replaying', place: inHeader('Idempotency-Key'), replays: true });
    const { tab, once } = world.open({ ...ANN, use: [answersFeature()], dialect: replaying });
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    expect(world.server.arrivals).toHaveLength(1);
  });
});

test('a key that stays in use after a refusal also stays in use for a page with another dialect that puts it in the same place', async ({ world }) => {
  const dialect = () => defineDialect({ name: 'same-place', place: inHeader('Idempotency-Key') });
  // Nobody knows who refused. Before that, the browser may have sent a copy unseen, which took effect.
  const first = world.open({ ...ANN, dialect }, { resends: true });
  expect(await world.end(first.tab, pay(first.once), charged(answers(400)))).toMatchObject({ outcome: { effect: 'none' } });
  const { tab, once } = world.open(BARE, { resends: true });
  expect(await world.end(tab, pay(once), replays())).toMatchObject({ status: 201 });
  expect([...world.server.charged]).toEqual([world.server.keys[0]]);
});

describe('keys that count for one account only', () => {
  const dialect = () => defineDialect({ name: 'per-account', place: inHeader('Idempotency-Key'), perAccount: true });

  test.for<[string, of: OnceOptions]>([
    ['without `hooks()`', { use: [] }],
    ['with the dialect of another release', { dialect: ELSEWHERE }],
  ])('a page %s does not send a key that it has moved into the account of a user: it cannot tell whether the key counts there', async ([_, of], { world }) => {
    const guest = world.open({ ...ONE, namespace: 'guest', dialect });
    await world.end(guest.tab, pay(guest.once), charged(lost()));
    const { tab, once } = world.open({ ...ANN, ...of });
    await tab.in(() => move(once, 'guest'));
    expect(await world.end(tab, pay(once))).toMatchObject({ code: 'ERR_ONCE_KEY_EXPIRED', outcome: { effect: 'unknown' } });
    expect(world.server.arrivals).toHaveLength(1);
  });
});

test('a client with a dialect of its own goes on with its key after a move by the client from which it was extended', async ({ world, tab }) => {
  const toPayments = (once: Once) =>
    tab.in(() => extend(once, { dialect: defineDialect({ name: 'payments', place: inHeader('Idempotency-Key'), perAccount: false }) }));
  await world.end(tab, pay(toPayments(tab.once({ namespace: 'guest' })), ONE), charged(lost()));
  const ann = tab.once({ namespace: 'ann' });
  const payments = toPayments(ann);
  await tab.in(() => move(ann, 'guest'));
  expect((await world.end(tab, pay(payments, ONE), replays())).outcome).toMatchObject({ effect: 'done' });
  expect(new Set(world.server.keys).size).toBe(1);
});

test('a client whose dialect comes from a function goes on with its key after a move', async ({ world, tab }) => {
  const dialect = () => defineDialect({ name: 'payments', place: inHeader('Idempotency-Key'), perAccount: false });
  await world.end(tab, pay(tab.once({ namespace: 'guest', dialect }), ONE), charged(lost()));
  const ann = tab.once({ namespace: 'ann', dialect });
  await tab.in(() => move(ann, 'guest'));
  expect((await world.end(tab, pay(ann, ONE), replays())).outcome).toMatchObject({ effect: 'done' });
  expect(new Set(world.server.keys).size).toBe(1);
});

test('a resume sends a header once, even if the app lists it twice, or lists one that is always stored', async ({ world }) => {
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-shop': 'eu' };
  const first = world.open({ ...ANN, ...ONE, keep: { request: true, headers: ['Content-Type', 'accept', 'X-Shop', 'x-shop'] } });
  await world.end(first.tab, pay(first.once, { init: { headers } }), lost());
  const { tab, once } = world.open(ANN);
  await world.end(tab, resumeOne(once, NAME), replays());
  expect(Object.fromEntries(world.server.arrivals[1]?.headers ?? [])).toEqual({ ...headers, 'idempotency-key': world.server.keys[0] });
});

test.for([
  // The code that puts a key into the body is part of a dialect, and a page loads only its own dialect.
  [inHeader('Idempotency-Key'), { effect: 'unknown', reason: 'not-a-verdict' }, 1],
  [{ ...inBody('request_id'), ...inHeader('Idempotency-Key') }, { effect: 'done', type: 'replayed' }, 2],
] as const)('a key that was sent in the body goes on there in a release with keys in %j', async ([place, told, arrivals], { world }) => {
  world.keyOf = ({ headers, body }) => headers.get('Idempotency-Key') ?? (JSON.parse(String(body)) as { request_id?: string }).request_id ?? null;
  const first = world.open({ ...ANN, ...ONE, dialect: defineDialect({ name: 'shop', place: inBody('request_id') }) });
  await world.end(first.tab, pay(first.once), charged(lost()));
  const { tab, once } = world.open({ ...ANN, dialect: defineDialect({ name: 'shop', place }) });
  world.server.otherwise = replays();
  expect((await world.end(tab, pay(once))).outcome).toMatchObject(told);
  expect(world.server.arrivals).toHaveLength(arrivals);
  expect(new Set(world.server.keys).size).toBe(1);
  // A new key goes into the header.
  world.server.otherwise = answers(201);
  await world.end(tab, pay(once, { operation: ['pay', 'next'] }));
  expect(world.server.arrivals.at(-1)?.headers.get('idempotency-key')).toBe(world.server.keys.at(-1));
});

test.for([generic(), googleRequestId()])(
  'a service worker that names calls, too, passes on the request of a page that has a key: $name',
  async (dialect, { world }) => {
    world.keyOf = ({ url, headers }) => headers.get('idempotency-key') ?? new URL(url).searchParams.get('requestId');
    const { tab: worker } = world.open();
    const options = { store: worker.store, use: everything(), dialect, operation: () => NAME };
    const fetch = (async ({ url, method, headers }: Request) => worker.fetch(url, { method, headers })) as typeof globalThis.fetch;
    const inner = worker.in(() => createOn({ ...worker.platform, relay: true }, { ...options, fetch }));
    const { tab, once } = world.open({ dialect, fetch: (input, init) => watched(worker.in(() => inner.fetch(new Request(input, init)))) });
    expect(await world.end(tab, pay(once), answers(201))).toMatchObject({ status: 201, outcome: { type: 'fresh', attempts: 1 } });
    expect(world.writes.filter(({ from }) => from === worker.name)).toEqual([]);
  },
);

test.for<[string, (tab: Tab, once: Once, press: () => Promise<Response>) => Promise<unknown>]>([
  ['a resume', (tab, once) => tab.in(() => resumed(once))],
  ['a press', (_tab, _once, press) => press()],
  ['the outbox', (tab, once) => tab.in(() => resumeInBackground(once))],
])('bytes with the key in the query, and a reload: %s sends the same bytes to the same address', async ([, goesOn], { world }) => {
  world.keyOf = ({ url }) => new URL(url).searchParams.get('requestId');
  const first = world.open({ ...ANN, ...ONE, dialect: googleRequestId(), keep: { request: true } });
  const bytes = [0xff, 0xfe, 0, 0x80, 0x0a];
  const background = { untilMs: world.clock.now() + HOUR };
  const send = (of: Once) => of.fetch(URL_, { method: 'POST', body: new Uint8Array(bytes), once: { operation: NAME, background } });
  await world.end(first.tab, watched(send(first.once)), charged(lost()), replays());
  const tab = first.tab.reload();
  const once = tab.once({ ...ANN, dialect: googleRequestId() });
  await world.run(goesOn(tab, once, () => watched(send(once))));
  const [one, two] = await Promise.all(
    world.server.arrivals.map(async ({ url, body }) => ({ url, bytes: [...new Uint8Array(await new Response(body).arrayBuffer())] })),
  );
  expect(two).toEqual(one);
  expect(one?.bytes).toEqual(bytes);
});
