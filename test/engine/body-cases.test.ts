/** Goal: in Node a body of any kind has the fingerprint that it has in browsers (`test/browser/engine/bodies.test.ts`: the same table). */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createOnce, hooks, memoryStore } from '../../src/entries/index.js';
import { ADDRESS, bodyCases } from '../support/body-cases.js';

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

test.each(bodyCases)('$kind', async ({ make, bytes, fingerprint }) => {
  const sent: { key: string | null; bytes: string }[] = [];
  const once = createOnce({
    use: [hooks()],
    store: memoryStore(),
    retry: { minDelayMs: 1 },
    fetch: async (_, init) => {
      const body = new Uint8Array(await new Response(init?.body).arrayBuffer());
      sent.push({ key: new Headers(init?.headers).get('idempotency-key'), bytes: sha256(body) });
      return new Response('{}', { status: sent.length === 1 ? 503 : 201 });
    },
  });
  await once.fetch(ADDRESS, { method: 'POST', body: make(), once: { operation: ['pay', 1], key: (given) => given.fingerprint } });
  expect(sent).toHaveLength(2);
  expect(sent[0]).toEqual(sent[1]);
  expect(sent[0]?.key).toBe(fingerprint);
  if (bytes === undefined) return;
  expect(sent[0]?.bytes).toBe(bytes);
  // What a fingerprint is, said once more.
  expect(fingerprint).toBe(sha256(`POST\n${ADDRESS}\n${bytes}`));
});
