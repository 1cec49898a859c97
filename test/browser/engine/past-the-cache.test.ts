/**
 * Goal: a GET with a name, and the polling of a 202's link, bypass the browser's cache, which may hold the answer for
 * another key. Method: a real server with a cacheable document, which reports the work of the first 202 as failed.
 */
import { expect } from 'vitest';
import { around, createOnce, type Feature, outcomeOf, polling } from '../../../src/entries/index.js';
import { test } from '../support/shop.js';

test('work behind a 202 fails, and the next press polls the same cacheable document: each press gets its own result', async ({ shop }) => {
  const keys = new Set<string | null>();
  const once = createOnce({
    namespace: shop.namespace,
    use: [polling()],
    accepted: 'poll',
    async fetch(url, init) {
      if (init?.method === 'POST') {
        keys.add(new Headers(init.headers).get('idempotency-key'));
        return new Response(null, { status: 202, headers: { location: shop.at('cached') } });
      }
      const reads = await (await fetch(url, init)).text();
      return Response.json({ status: reads === '1' ? 'failed' : 'succeeded' });
    },
  });
  const press = async () => outcomeOf(await once.fetch(shop.url, { method: 'POST', body: '{}', once: ['pay', 1] }))?.effect;
  expect([await press(), await press(), await press()]).toEqual(['none', 'done', 'done']);
  expect(keys.size).toBe(2);
});

const signs = around((_, send) => send({ 'x-signed': '1' }));
test.for<[string, ...Feature[]]>([['alone'], ['behind a hook', around((_, send) => send())], ['behind two hooks that add headers', signs, signs]])(
  'a GET with a name (%s), then another name at the same URL with a cacheable answer: both reach the server',
  async ([, ...use], { shop }) => {
    const once = createOnce({ namespace: shop.namespace, use });
    const reads: string[] = [];
    for (const name of ['a', 'b']) {
      const answer = await once.fetch(shop.at('cached'), { once: [name] });
      reads.push(`${outcomeOf(answer)?.effect} ${await answer.text()}`);
    }
    expect(reads).toEqual(['done 1', 'done 2']);
  },
);
