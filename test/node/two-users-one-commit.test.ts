/**
 * Goal: a service that finds its user in an AsyncLocalStorage makes each payment in the session of the user who pays,
 * although the store commits the changes of several calls together, in the async context of the first call. Method:
 * three users pay in the same turn of the event loop, on SQLite.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { close, createOnce, outcomeOf } from '../../src/entries/index.js';
import { sqliteStore } from '../../src/entries/sqlite.js';

test('users whose calls are committed together all pay, each in their own session', async () => {
  const requests = new AsyncLocalStorage<string>();
  const sent: string[] = [];
  const once = createOnce({
    namespace: () => requests.getStore() ?? '',
    store: sqliteStore({ path: ':memory:' }),
    fetch: async () => {
      sent.push(requests.getStore() ?? '');
      return Response.json({ id: 'ch_1' }, { status: 201 });
    },
  });
  const pay = () => once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', once: ['pay', 'c1'] });
  const ends = await Promise.all(['ann', 'bert', 'cleo'].map((user) => requests.run(user, () => pay())));
  expect(ends.map((response) => outcomeOf(response)?.type)).toEqual(['fresh', 'fresh', 'fresh']);
  expect(sent.sort()).toEqual(['ann', 'bert', 'cleo']);
  await close(once);
});
