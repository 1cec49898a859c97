/** Goal: Node does not warn of a leak if many calls share a signal, as all calls of a service may. Method: a signal with Node 20's limit of 10 listeners. */
import { getEventListeners, setMaxListeners } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { createOnce, memoryStore } from '../../src/entries/index.js';

const CALLS = 20;

test.each([
  ['many operations', (call: number) => ['pay', call] as const],
  ['one operation', () => ['pay', 'c1'] as const],
])('calls of %s share a signal without a warning', async (_, nameOf) => {
  const { signal } = new AbortController();
  setMaxListeners(10, signal);
  const warned: unknown[] = [];
  const warns = (warning: unknown): void => void warned.push(warning);
  process.on('warning', warns);
  onTestFinished(() => void process.off('warning', warns));
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => void (open = resolve));
  const once = createOnce({ store: memoryStore(), fetch: async () => opened.then(() => Response.json({}, { status: 201 })) });
  const calls = Array.from({ length: CALLS }, (_, call) => once.fetch('http://shop.test/pay', { method: 'POST', body: '1', signal, once: nameOf(call) }));
  await expect.poll(() => getEventListeners(signal, 'abort').length).toBeGreaterThanOrEqual(CALLS);
  open();
  await Promise.all(calls);
  // Node emits a warning only after the pending promise callbacks.
  await new Promise(setImmediate);
  expect(warned).toEqual([]);
});
