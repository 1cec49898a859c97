/**
 * Goal: in a page behind a real service worker, each fault looks the same as in Node (`test/testing/faults.test.ts`).
 * Method: runs the same table over `setupWorker`.
 */
import { http } from 'msw';
import { setupWorker } from 'msw/browser';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { server as tests } from 'vitest/browser';
import type { FaultName } from '../../../src/testing/faults.js';
import { idempotentServer } from '../../../src/testing/idempotent-server.js';

const server = idempotentServer({ url: '/api/payments' });
const worker = setupWorker(...server.handlers(http));
beforeAll(async () => void (await worker.start({ quiet: true, onUnhandledFrame: 'bypass' })));
afterEach(() => server.reset());
afterAll(() => worker.stop());

const pay = (signal?: AbortSignal) =>
  fetch('/api/payments', { method: 'POST', headers: { 'Idempotency-Key': 'k1' }, body: '{"amount":42}', ...(signal && { signal }) });

/** `patienceMs`: how long to wait for an answer or a network error. A busy browser reports network errors late. */
async function seen(patienceMs: number): Promise<number | 'cut' | 'network error' | 'silence'> {
  const gaveUp = AbortSignal.timeout(patienceMs);
  let response: Response;
  try {
    response = await pay(gaveUp);
  } catch {
    return gaveUp.aborted ? 'silence' : 'network error';
  }
  return response.text().then(
    () => response.status,
    () => 'cut' as const,
  );
}

test.for<[FaultName, Awaited<ReturnType<typeof seen>>, 0 | 1]>([
  ['lose-request', 'network error', 0],
  ['lose-response', 'network error', 1],
  ['truncate', 'cut', 1],
  ['hang', 'silence', 0],
  ['hang-after-commit', 'silence', 1],
  ['in-progress', 409, 0],
  ['unavailable-after-commit', 503, 1],
  ['duplicate', 409, 1],
  ['delay', 201, 1],
])('behind a service worker: %s: the client sees %s, effects are %i; after the next attempt there is one', async ([fault, sees, effects], { skip }) => {
  skip(fault === 'truncate' && tests.browser === 'webkit', 'without transferable streams MSW cannot hand over one that breaks off');
  server.faults.next(fault);
  expect(await seen(sees === 'silence' ? 600 : 10_000)).toBe(sees);
  expect(server.effects).toHaveLength(effects);
  const next = await pay();
  expect([next.status, next.headers.get('Idempotent-Replayed')]).toEqual([201, effects ? 'true' : null]);
  expect(await next.json()).toEqual({ id: 'effect-1' });
  expect(server.effects).toHaveLength(1);
});
