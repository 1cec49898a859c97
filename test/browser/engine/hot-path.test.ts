/** Goal: a call makes no more calls to the platform than this file lists. Method: logs the calls to the real IndexedDB and Web Locks. */
import { afterEach, expect, test } from 'vitest';
import { close, createOnce, unnamed } from '../../../src/entries/index.js';
import { indexedDbStore } from '../../../src/stores/browser/indexeddb.js';
import { freshName, replaceMethod } from '../stores/support.js';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const restore of undo.splice(0).reverse()) restore();
});

/** Logs each call of a method, as the text that `says` returns for it. */
function note(steps: string[], type: { readonly prototype: unknown }, name: string, says: (args: readonly unknown[]) => string): void {
  const restore = replaceMethod(
    type as Parameters<typeof replaceMethod>[0],
    name,
    (original) =>
      function (...args) {
        steps.push(says(args));
        return original.apply(this, args);
      },
  );
  undo.push(restore);
}

/** The platform calls of the client's second call, when the store is already open and has been swept. */
async function stepsOf(
  namespace: string,
  call: (once: ReturnType<typeof createOnce>, url: string, n: number) => Promise<Response>,
): Promise<readonly string[]> {
  const steps: string[] = [];
  const fetch = async () => {
    steps.push('first byte');
    return new Response('{"id":"ch_1"}', { status: 201 });
  };
  const once = createOnce({ use: [unnamed()], namespace, store: indexedDbStore({ name: freshName() }), fetch });
  await call(once, '/api/payments', 1);
  await new Promise((done) => setTimeout(done, 100));
  steps.length = 0;
  note(steps, IDBFactory, 'open', () => 'open');
  note(
    steps,
    IDBDatabase,
    'transaction',
    ([, mode, options]) => `${mode ?? 'readonly'} ${(options as IDBTransactionOptions | undefined)?.durability ?? 'default'}`,
  );
  for (const listing of ['getAll', 'getAllKeys', 'openCursor', 'openKeyCursor', 'count']) {
    note(steps, IDBIndex, listing, () => `list by ${listing}`);
    note(steps, IDBObjectStore, listing, () => `list by ${listing}`);
  }
  for (const step of ['get', 'put', 'delete']) note(steps, IDBObjectStore, step, () => step);
  note(steps, LockManager, 'request', () => 'lock');
  note(steps, LockManager, 'query', () => 'look at locks');
  await call(once, '/api/payments', 2);
  await close(once);
  return steps;
}

test('a named call takes one lock and commits twice: strictly before the first byte, relaxed before the answer', async () => {
  const steps = await stepsOf('ann', (once, url, n) => once.fetch(url, { method: 'POST', body: '{}', once: ['pay', n] }));
  expect(steps).toEqual(['lock', 'readwrite strict', 'get', 'put', 'first byte', 'readwrite relaxed', 'get', 'put']);
});

test('a call without a name searches the store once for an unsettled call with the same content, and commits twice', async () => {
  const steps = await stepsOf('ann', (once, url, n) => once.fetch(url, { method: 'POST', body: JSON.stringify({ n }) }));
  expect(steps).toEqual(['readonly default', 'list by getAll', 'lock', 'readwrite relaxed', 'get', 'put', 'first byte', 'readwrite relaxed', 'get', 'put']);
});

test('a GET without a name touches neither store nor locks', async () => expect(await stepsOf('ann', (once, url) => once.fetch(url))).toEqual(['first byte']));
