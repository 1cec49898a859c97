/**
 * Goal: each fault does what its name says, and no more. Method: a table of all faults, over MSW and over `server.fetch`: what the
 * client sees, how many effects there are then, and how many after the same key was sent once more.
 */
import { http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Fault, type FaultName, faultNames } from '../../src/testing/faults.js';
import { idempotentServer } from '../../src/testing/idempotent-server.js';
import { seededRandom } from '../../src/testing/seeded-random.js';

const server = idempotentServer({ url: '/api/payments' });
const network = setupServer(...server.handlers(http));
beforeAll(() => network.listen({ onUnhandledFrame: 'error' }));
afterEach(() => server.reset());
afterAll(() => network.close());

const request = (signal?: AbortSignal): [string, RequestInit] => [
  'http://shop.example/api/payments',
  { method: 'POST', headers: { 'Idempotency-Key': 'k1' }, body: '{"amount":42}', ...(signal && { signal }) },
];

/** Much longer than any answer takes, even on a busy machine. */
const PATIENCE_MS = 2000;

/** What a client can see: a status, a body that breaks off, a network error, or nothing at all. */
async function seen(fetch: typeof globalThis.fetch): Promise<number | 'cut' | 'network error' | 'silence'> {
  const gaveUp = AbortSignal.timeout(PATIENCE_MS);
  let response: Response;
  try {
    response = await fetch(...request(gaveUp));
  } catch {
    return gaveUp.aborted ? 'silence' : 'network error';
  }
  return response.text().then(
    () => response.status,
    () => 'cut' as const,
  );
}

type Row = [fault: FaultName | Fault, sees: Awaited<ReturnType<typeof seen>>, effects: 0 | 1, copies: number];
const table: Row[] = [
  ['lose-request', 'network error', 0, 1],
  ['lose-response', 'network error', 1, 1],
  ['truncate', 'cut', 1, 1],
  ['hang', 'silence', 0, 1],
  ['hang-after-commit', 'silence', 1, 1],
  ['in-progress', 409, 0, 1],
  ['unavailable', 503, 0, 1],
  [{ name: 'unavailable', status: 500 }, 500, 0, 1],
  ['unavailable-after-commit', 503, 1, 1],
  ['unauthorized', 401, 0, 1],
  ['rate-limited', 429, 0, 1],
  ['duplicate', 409, 1, 2],
  [{ name: 'duplicate', copies: 3 }, 409, 1, 3],
  ['delay', 201, 1, 1],
  ['delay-request', 201, 1, 1],
];

test('the table has every fault', () => {
  expect([...new Set(table.map(([fault]) => (typeof fault === 'string' ? fault : fault.name)))].sort()).toEqual([...faultNames].sort());
});

describe.each([
  ['over MSW', () => fetch],
  ['over server.fetch', () => server.fetch],
] as const)('%s', (_, pick) => {
  test.each(table)('%j: the client sees %s, effects %i, copies %i; after the next attempt there is one effect', async (fault, sees, effects, copies) => {
    server.faults.next(fault);
    expect(await seen(pick())).toBe(sees);
    expect(server.effects).toHaveLength(effects);
    expect(server.requests).toHaveLength(copies);
    expect(server.requests.map(({ fate }) => fate)).toEqual(Array(copies).fill(typeof fault === 'string' ? fault : fault.name));

    const next = await pick()(...request());
    expect(next.status).toBe(201);
    expect(next.headers.get('Idempotent-Replayed')).toBe(effects ? 'true' : null);
    expect(await next.json()).toEqual({ id: 'effect-1' });
    expect(server.effects).toHaveLength(1);
  });
});

test('a truncated body announces its full length', async () => {
  server.faults.next('truncate');
  const response = await fetch(...request());
  expect(response.headers.get('content-length')).toBe(String('{"id":"effect-1"}'.length));
  const reader = response.body!.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('{"id":"e');
  await expect(reader.read()).rejects.toThrow();
});

test.each([
  ['in-progress', '1'],
  [{ name: 'in-progress', retryAfter: 7 }, '7'],
  ['unavailable', null],
  [{ name: 'unavailable', retryAfter: 2 }, '2'],
  [{ name: 'rate-limited', retryAfter: 5 }, '5'],
] as const)('%j announces Retry-After %s', async (fault, retryAfter) => {
  server.faults.next(fault);
  expect((await fetch(...request())).headers.get('retry-after')).toBe(retryAfter);
});

test('a late request has its effect after the client gave up', async () => {
  server.faults.next({ name: 'delay-request', ms: 60 });
  await expect(fetch(...request(AbortSignal.timeout(15)))).rejects.toThrow();
  expect(server.effects).toEqual([]);
  await expect.poll(() => server.effects.length).toBe(1);
});

describe('which fault a request meets', () => {
  test('the script decides first, in order, where "none" lets a request pass; then the rates decide', async () => {
    server.faults.rate('rate-limited', 1);
    server.faults.next('unavailable', 'none', 'unauthorized');
    const statuses = [];
    for (let count = 0; count < 4; count++) statuses.push((await fetch(...request())).status);
    expect(statuses).toEqual([503, 201, 401, 429]);
  });

  test('a rate hits the requests that its random numbers select, and the same ones in each run', async () => {
    const run = async () => {
      server.reset();
      server.faults.rate('unavailable', 0.3, seededRandom(42));
      const statuses = [];
      for (let count = 0; count < 100; count++) statuses.push((await server.fetch(...request())).status);
      return statuses;
    };
    const statuses = await run();
    const random = seededRandom(42);
    expect(statuses.map((status) => status === 503)).toEqual(statuses.map(() => random() < 0.3));
    expect(await run()).toEqual(statuses);
  });

  test('clear ends the script and the rates', async () => {
    server.faults.rate('unavailable', 1);
    server.faults.next('unauthorized');
    server.faults.clear();
    expect((await fetch(...request())).status).toBe(201);
  });

  test('an unknown fault, member or rate throws at once, with an error that names it', () => {
    expect(() => server.faults.next({ name: 'unavailable', retryAfterMs: 5 } as Fault)).toThrow('unavailable has no member retryAfterMs');
    expect(() => server.faults.next('lose-respond' as FaultName)).toThrow(/"lose-respond".*lose-response/);
    for (const copies of [0, -1, Number.NaN])
      expect(() => server.faults.next({ name: 'duplicate', copies })).toThrow(new RangeError(`faults: copies must be at least 1, got ${copies}`));
    expect(() => server.faults.rate('truncate', 1.5)).toThrow(/between 0 and 1, got 1.5/);
    expect(() => server.faults.rate('truncate', Number.NaN)).toThrow(RangeError);
  });
});

test('truncate cuts an answer without a body within its head', async () => {
  const bare = idempotentServer({ url: '/api/payments', effect: () => new Response(null, { status: 204 }) });
  bare.faults.next('truncate');
  expect(await seen(bare.fetch)).toBe('network error');
  expect(await seen(bare.fetch)).toBe(204);
  expect(bare.effects).toHaveLength(1);
});

test('a rate of 0 turns the fault off, and no other one', async () => {
  const own = idempotentServer({ url: '/api/payments' });
  own.faults.rate('lose-response', 1);
  await expect(seen(own.fetch)).resolves.toBe('network error');
  own.faults.rate('unavailable', 0);
  await expect(seen(own.fetch)).resolves.toBe('network error');
  own.faults.rate({ name: 'lose-response' }, 0);
  await expect(seen(own.fetch)).resolves.toBe(201);
});
