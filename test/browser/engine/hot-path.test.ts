/** Goal: what a page pays for a call, as far as it can be counted. Method: real IndexedDB and Web Locks, whose calls are noted. */
import { afterEach, expect, test } from 'vitest';
import { close, createOnce, unnamed } from '../../../src/entries/index.js';
import { indexedDbStore } from '../../../src/stores/browser/indexeddb.js';
import { freshName, replaceMethod } from '../stores/support.js';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const restore of undo.splice(0).reverse()) restore();
});

/** Notes calls of a method; `says` gives `undefined` where a call does not count. */
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

/** The calls of the platform that `pay` makes, once its store is open and its client has swept. */
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
  note(steps, IDBDatabase, 'transaction', ([, mode, options]) => `${mode} ${(options as IDBTransactionOptions | undefined)?.durability}`);
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

test('a named call takes one lock, commits once before the first byte, strictly, and once, relaxed, before the answer', async () => {
  const steps = await stepsOf('ann', (once, url, n) => once.fetch(url, { method: 'POST', body: '{}', once: ['pay', n] }));
  expect(steps).toEqual(['lock', 'readwrite strict', 'get', 'put', 'first byte', 'readwrite relaxed', 'get', 'put']);
});

test('a call without a name looks for a lost one by its content, in one page, and commits twice', async () => {
  const steps = await stepsOf('ann', (once, url, n) => once.fetch(url, { method: 'POST', body: JSON.stringify({ n }) }));
  expect(steps).toEqual(['readonly relaxed', 'list by getAll', 'lock', 'readwrite relaxed', 'get', 'put', 'first byte', 'readwrite relaxed', 'get', 'put']);
});

test('a GET touches neither', async () => {
  expect(await stepsOf('ann', (once, url) => once.fetch(url))).toEqual(['first byte']);
});
