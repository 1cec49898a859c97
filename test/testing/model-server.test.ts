/** Goal: the model server does what an honest server does. Method: hand requests and their copies to it directly, on a virtual clock. */
import { test as anyTest, beforeEach, describe, expect } from 'vitest';
import { type ModelAnswer, ModelServer, type ModelServerOptions, ServerKilled } from '../../src/testing/model-server.js';
import { type VirtualClock, virtualClock } from '../../src/testing/virtual-clock.js';

const test = anyTest.extend('server', () => modelServer());

let clock: VirtualClock;
beforeEach(() => void (clock = virtualClock({ start: 1_000 })));

const modelServer = (options: Partial<ModelServerOptions> = {}) =>
  new ModelServer({
    clock,
    keyHeader: 'Idempotency-Key',
    replayHeader: 'Idempotent-Replayed',
    window: 10_000,
    retryAfter: 3,
    workMs: 0,
    requireKey: false,
    rememberRefusals: true,
    refuse: async () => undefined,
    effect: async () => (count) => ({ status: 201, headers: { location: `/charges/${count}` }, body: `{"id":${count}}` }),
    ...options,
  });

const pay = (key?: string, body = '{"amount":42}', url = 'http://shop/payments') => ({
  method: 'POST',
  url,
  headers: key === undefined ? {} : { 'idempotency-key': key },
  body,
});

const declined: ModelAnswer = { status: 402, headers: {}, body: '{"code":"declined"}' };
const replayHeader = (answer: ModelAnswer) => answer.headers['idempotent-replayed'];

describe('a key', () => {
  test('executes once, and then gets the stored answer, including status and headers', async ({ server }) => {
    const first = await server.handle(pay('k1'));
    const second = await server.handle(pay('k1'));
    expect(first).toEqual({ status: 201, headers: { location: '/charges/1' }, body: '{"id":1}' });
    expect(second).toEqual({ ...first, headers: { ...first.headers, 'idempotent-replayed': 'true' } });
    expect(server.effects).toEqual([{ key: 'k1', body: { amount: 42 }, at: 1_000 }]);
  });

  test('that is missing lets every request execute', async ({ server }) => {
    await server.handle(pay());
    await server.handle(pay());
    expect(server.effects.map(({ key }) => key)).toEqual([undefined, undefined]);
  });

  test('that is missing gets a 400 if the server requires keys', async () => {
    const server = modelServer({ requireKey: true });
    expect(await server.handle(pay())).toMatchObject({ status: 400, body: expect.stringContaining('Idempotency-Key is missing') });
    expect(server.effects).toEqual([]);
  });

  test.each([
    ['body', pay('k1', '{"amount":43}')],
    ['URL', pay('k1', '{"amount":42}', 'http://shop/refunds')],
    ['method', { ...pay('k1'), method: 'PUT' }],
  ])('with another %s is a mismatch: 422, no effect', async (_, other) => {
    const server = modelServer();
    await server.handle(pay('k1'));
    expect(await server.handle(other)).toMatchObject({ status: 422, body: expect.stringContaining('Idempotency-Key is already used') });
    expect(server.effects).toHaveLength(1);
  });

  test('is outstanding while the work on its first copy is in progress: 409 with Retry-After, in the words of the IETF draft', async () => {
    const server = modelServer({ workMs: 50 });
    const first = server.handle(pay('k1'));
    const second = await server.handle(pay('k1'));
    expect(second.status).toBe(409);
    expect(second.headers).toEqual({ 'content-type': 'application/problem+json', 'retry-after': '3' });
    expect(JSON.parse(second.body)).toMatchObject({ title: 'A request is outstanding for this Idempotency-Key', status: 409 });
    await clock.advance(50);
    expect((await first).status).toBe(201);
    expect(server.effects).toHaveLength(1);
  });

  test('is looked up and taken in one step: 50 copies at once have one effect', async ({ server }) => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => server.handle(pay('k1'))));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49);
    expect(server.effects).toHaveLength(1);
  });

  test('is forgotten exactly after its window, and then executes again', async ({ server }) => {
    await server.handle(pay('k1'));
    await clock.advance(9_999);
    expect(replayHeader(await server.handle(pay('k1')))).toBe('true');
    await clock.advance(1);
    expect(replayHeader(await server.handle(pay('k1')))).toBeUndefined();
    expect(server.effectsOf('k1')).toHaveLength(2);
  });

  test('is held beyond its window while its work is in progress', async () => {
    const server = modelServer({ workMs: 20_000 });
    const first = server.handle(pay('k1'));
    await clock.advance(15_000);
    expect((await server.handle(pay('k1'))).status).toBe(409);
    await clock.advance(5_000);
    await first;
    expect(server.effects).toHaveLength(1);
  });
});

describe('a refusal', () => {
  const refuseOnce = () => {
    let left = 1;
    return async () => (left-- > 0 ? declined : undefined);
  };

  test('is stored and replayed, and does not count as an effect', async () => {
    const server = modelServer({ refuse: refuseOnce() });
    expect(await server.handle(pay('k1'))).toEqual(declined);
    expect(await server.handle(pay('k1'))).toEqual({ ...declined, headers: { 'idempotent-replayed': 'true' } });
    expect(server.effects).toEqual([]);
  });

  test('frees its key if refusals are not remembered', async () => {
    const server = modelServer({ refuse: refuseOnce(), rememberRefusals: false });
    expect(await server.handle(pay('k1'))).toEqual(declined);
    expect((await server.handle(pay('k1', '{"amount":7}'))).status).toBe(201);
    expect(server.effects).toHaveLength(1);
  });
});

describe('trouble', () => {
  test('an effect that throws has not happened, and its key can be sent again', async () => {
    let fail = true;
    const server = modelServer({
      effect: async () => {
        if (fail) throw new Error('disk full');
        return () => ({ status: 201, headers: {}, body: '' });
      },
    });
    expect((await server.handle(pay('k1'))).status).toBe(500);
    expect(server.effects).toEqual([]);
    fail = false;
    expect((await server.handle(pay('k1'))).status).toBe(201);
    expect(server.effects).toHaveLength(1);
  });

  test('a kill in mid-work leaves no effect, and the next copy takes the key over', async () => {
    const server = modelServer({ workMs: 50 });
    const first = server.handle(pay('k1'));
    first.catch(() => {});
    server.restart();
    const second = server.handle(pay('k1'));
    await clock.advance(50);
    await expect(first).rejects.toBeInstanceOf(ServerKilled);
    expect((await second).status).toBe(201);
    expect(server.effects).toHaveLength(1);
  });

  test('a kill after the effect leaves its answer to be replayed', async ({ server }) => {
    await server.handle(pay('k1'));
    server.restart();
    expect(replayHeader(await server.handle(pay('k1')))).toBe('true');
    expect(server.effects).toHaveLength(1);
  });

  test('a reset forgets keys and effects, and work in progress then has no effect', async () => {
    const server = modelServer({ workMs: 50 });
    const first = server.handle(pay('k1'));
    first.catch(() => {});
    server.reset();
    await clock.advance(50);
    await expect(first).rejects.toBeInstanceOf(ServerKilled);
    expect(server.effects).toEqual([]);
  });
});
