/** Goal: a trace has the end of an operation also on a platform where each call is isolated, as in Workers. Method: a platform with `isolated: true`. */
import { expect, test } from 'vitest';
import { memoryStore } from '../../src/entries/index.js';
import { openTelemetry } from '../../src/entries/opentelemetry.js';
import { createOn } from '../../src/once.js';
import { nodePlatform } from '../../src/platform/node/index.js';
import { Telemetry } from '../support/telemetry.js';

test('the span of an aborted call has the outcome of its operation', async () => {
  const sdk = new Telemetry();
  const fetch: typeof globalThis.fetch = () => new Promise(() => {});
  const once = createOn({ ...nodePlatform(), isolated: true }, { store: memoryStore(), fetch, use: [openTelemetry(sdk.providers)] });
  const call = once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 1], signal: AbortSignal.timeout(20) });
  await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
  await expect.poll(() => sdk.operations).toMatchObject([{ attributes: { 'oncefetch.effect': 'unknown', 'oncefetch.reason': 'aborted' } }]);
  expect(sdk.open).toBe(0);
});
