/**
 * Goal: on a platform where a request must not wait for a promise of another request, calls find each other only through the
 * store. Method: a platform that says so, and one client for all calls, as a Worker has at module level.
 */
import { close, extend, forget, memoryStore, outcomeOf, pending } from 'oncefetch';
import { expect, test, vi } from 'vitest';
import { createOn } from '../../src/once.js';
import { nodePlatform } from '../../src/platform/node/index.js';

const PAY = { method: 'POST', body: '{"amount":5}', once: ['pay', 1] } as const;
const URL_ = 'https://shop.example/pay';

/** A shop that answers when the test tells it to. */
function scene() {
  const keys: (string | null)[] = [];
  const waiting: (() => void)[] = [];
  const fetch = (async (_: unknown, init?: RequestInit) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    await new Promise<void>((resolve) => waiting.push(resolve));
    return Response.json({ charge: 1 }, { status: 201 });
  }) as typeof globalThis.fetch;
  const sent = async (): Promise<void> => {
    while (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const once = createOn({ ...nodePlatform(), isolated: true }, { store: memoryStore(), fetch });
  return { once, keys, sent, answer: () => waiting.splice(0).forEach((go) => void go()) };
}

test('two calls of one client under one name make one request: the second waits for the lease of the first, and then finds its end', async () => {
  const { once, keys, sent, answer } = scene();
  const first = once.fetch(URL_, PAY);
  await sent();
  const second = once.fetch(URL_, PAY);
  setTimeout(answer, 30);
  expect(outcomeOf(await first)).toMatchObject({ type: 'fresh', joined: false });
  expect(outcomeOf(await second)).toMatchObject({ type: 'replayed', joined: false });
  expect(await (await second).json()).toEqual({ charge: 1 });
  expect(keys).toHaveLength(1);
});

test('an operation in flight cannot be forgotten, and `pending` shows that it is in flight', async () => {
  const { once, sent, answer } = scene();
  const call = once.fetch(URL_, PAY);
  await sent();
  await expect(forget(once, ['pay', 1])).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  expect(await pending(once)).toMatchObject([{ inFlight: true }]);
  answer();
  await call;
  expect(await pending(once)).toEqual([]);
});

test('another payload under the name waits for the end of the first, and is refused', async () => {
  const { once, keys, sent, answer } = scene();
  const call = once.fetch(URL_, PAY);
  await sent();
  const other = once.fetch(URL_, { ...PAY, body: '{"amount":6}' }).catch((error: unknown) => error);
  setTimeout(answer, 30);
  await call;
  expect(outcomeOf(await other)).toMatchObject({ effect: 'done' });
  expect(keys).toHaveLength(1);
});

test('closing a client ends the waits of its calls', async () => {
  const { once, sent } = scene();
  const call = once.fetch(URL_, PAY);
  await sent();
  const waits = once.fetch(URL_, PAY).catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await close(once);
  expect(outcomeOf(await waits)).toMatchObject({ effect: 'unknown', reason: 'aborted' });
  void call.catch(() => {});
});

test('extend works where there is no WeakRef', async () => {
  vi.stubGlobal('WeakRef', undefined);
  const { once, sent, answer } = scene();
  const call = extend(once, { namespace: 'ann' }).fetch(URL_, PAY);
  vi.unstubAllGlobals();
  await sent();
  answer();
  expect(outcomeOf(await call)).toMatchObject({ effect: 'done' });
});
