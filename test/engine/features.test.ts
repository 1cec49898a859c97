/**
 * Goal: a client does what its features let it do, and refuses at once what needs one that it was made without. Method: clients with
 * and without, on one store; nothing may be sent or stored by a call that is refused.
 */
import { describe, expect } from 'vitest';
import type { Once, OnceOptions, OnceRequestInit } from '../../src/entries/index.js';
import { extend, insecureOrigins, pending, polling, reconciling, resumeOne, retrying, unnamed } from '../../src/entries/index.js';
import { needs } from '../../src/texts/full.js';
import { answers, lost, replays } from '../support/server.js';
import { LEAN } from '../support/texts.js';
import { NAME, newWorld, pay, test, URL_ } from '../support/world.js';

const BARE = { use: [] } as const;
const ACCEPTED = answers(202, {}, { location: 'https://shop.example/jobs/1' });

describe('polling', () => {
  const needed = needs("accepted: 'poll'", 'polling');

  test('is asked for where a client or a call says so, and nothing is sent', async ({ world }) => {
    expect(() => world.open({ ...BARE, accepted: 'poll' })).toThrow(new TypeError(needed));
    const { tab, once } = world.open(BARE);
    expect((await world.end(tab, pay(once, { accepted: 'poll' }))).error).toEqual(new TypeError(needed));
    expect(world.server.arrivals).toHaveLength(0);
    expect(world.record()).toBeUndefined();
  });

  test('of an earlier page: a link that this one cannot ask at leaves the operation open, and nothing is sent twice', async ({ world }) => {
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

describe('retrying', () => {
  /** A fetch that answers with these statuses, one after the other. */
  function busy(...statuses: number[]) {
    const sent: number[] = [];
    return { sent, fetch: async () => new Response(null, { status: statuses[sent.push(sent.length) - 1] ?? 200 }) };
  }

  test.for([
    ['with it a GET is sent again', [retrying()], 200, 2],
    ['without it a GET is sent once', [], 503, 1],
  ] as const)('%s', async ([_, use, status, times], { world }) => {
    const { sent, fetch } = busy(503);
    const { tab, once } = world.open({ use, fetch });
    expect(await world.end(tab, once.fetch(URL_))).toMatchObject({ status });
    expect(sent).toHaveLength(times);
  });

  test('is what an extended client may have more than the other', async ({ world }) => {
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

  test('is asked for where a client, an extended one or a call says so, and nothing is sent', async ({ world }) => {
    expect(() => world.open({ ...BARE, reconcile: done })).toThrow(new TypeError(needed));
    const { tab, once } = world.open(BARE);
    expect(() => tab.in(() => extend(once, { reconcile: done }))).toThrow(new TypeError(needed));
    expect((await world.end(tab, pay(once, { reconcile: done }))).error).toEqual(new TypeError(needed));
    expect(world.server.arrivals).toHaveLength(0);
    expect(world.record()).toBeUndefined();
  });

  test('with it the app is asked; without it the operation stays open for a page that can', async ({ world }) => {
    world.server.plays(lost(), answers(422));
    const bare = world.open(BARE);
    expect(await world.end(bare.tab, pay(bare.once))).toMatchObject({ outcome: { effect: 'unknown' } });
    world.server.plays(answers(422));
    const { tab, once } = world.open({ use: [reconciling()], reconcile: done });
    expect(await world.end(tab, pay(once))).toMatchObject({ outcome: { effect: 'done', from: 'reconcile' } });
  });
});

describe('unnamed', () => {
  const post = (once: Once, more: OnceRequestInit = {}) => once.fetch(URL_, { method: 'POST', body: 'x', ...more });

  test.for<[string, OnceRequestInit]>([
    ['a POST', {}],
    ['a PATCH', { method: 'PATCH' }],
    ['one with options and no name', { once: { keep: { request: true } } }],
    ['one that is named by its content', { once: true }],
    ['a body that only fetch can make text of', { body: {} as never }],
  ])('is asked for by %s, and nothing is sent', async ([_, init], { world }) => {
    const { tab, once } = world.open(BARE);
    const { error } = await world.end(tab, post(once, init));
    expect(error).toBeInstanceOf(TypeError);
    if (init.body === undefined) expect(error).toEqual(new TypeError(needs(`a ${init.method ?? 'POST'} without a name`, 'unnamed')));
    expect(world.server.arrivals).toHaveLength(0);
    expect(world.record()).toBeUndefined();
  });

  test('is not needed for what has a name, is no POST, or is to be plain', async ({ world }) => {
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

  test('of an earlier page: one that was left open is listed without it, and goes on with it', async ({ world }) => {
    const first = world.open({ use: [unnamed()], limits: { attempts: 1 } });
    await world.end(first.tab, post(first.once), lost());
    const bare = world.open(BARE);
    expect(await bare.tab.in(() => pending(bare.once))).toHaveLength(1);
    const { tab, once } = world.open({ use: [unnamed()] });
    expect((await world.end(tab, post(once), replays())).status).toBe(201);
    expect(new Set(world.server.keys).size).toBe(1);
  });
});

describe('insecureOrigins', () => {
  test('makes one key in all tabs of a store that is not atomic among them; without it nothing is sent', async ({ world }) => {
    const bare = world.open({ ...BARE, store: { ...world.tab().store, atomic: false } });
    expect((await world.end(bare.tab, pay(bare.once))).error).toMatchObject({ message: expect.stringContaining('needs insecureOrigins()') });
    expect(world.server.arrivals).toHaveLength(0);
    const { tab, once } = world.open({ use: [insecureOrigins()], store: { ...world.tab().store, atomic: false } });
    expect(await world.end(tab, pay(once), replays())).toMatchObject({ status: 201 });
  });
});

// In production it is a TypeError of JavaScript's own, or none until the feature is needed.
if (!LEAN)
  test.each<[where: string, says: string, use: unknown]>([
    ['use[0]', 'must be a feature, such as polling(), got function', [polling]],
    ['use[1]', 'must be a feature, such as polling(), got undefined', [polling(), undefined]],
    ['use', 'must be an array, got object', polling()],
  ])('what is no feature is refused, and %s named', (where, text, use) => {
    expect(() => newWorld().open({ use: use as never })).toThrow(TypeError);
    expect(() => newWorld().open({ use: use as never })).toThrow(`once: ${where} ${text}`);
  });
