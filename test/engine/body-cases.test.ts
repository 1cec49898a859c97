/** Goal: in Node a body of any kind has the same fingerprint as in browsers, where `test/browser/engine/bodies.test.ts` runs the same table. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { defineDialect, inBody, inQuery } from '../../src/entries/dialects.js';
import { createOnce, hooks, memoryStore, outcomeOf } from '../../src/entries/index.js';
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
  // The definition of a fingerprint.
  expect(fingerprint).toBe(sha256(`POST\n${ADDRESS}\n${bytes}`));
});

test.each(bodyCases)('$kind, with the key in the query: the bytes are the same', async ({ make }) => {
  const sent: string[] = [];
  const fetch = async (_: unknown, init?: RequestInit) => {
    sent.push(sha256(new Uint8Array(await new Response(init?.body).arrayBuffer())));
    return new Response('{}', { status: 201 });
  };
  for (const dialect of [undefined, defineDialect({ name: 'mine', place: inQuery('request_id') })] as const)
    await createOnce({ store: memoryStore(), fetch, dialect }).fetch(ADDRESS, { method: 'POST', body: make(), once: ['pay', 1] });
  expect(sent[1]).toBe(sent[0]);
});

describe('a body whose file can no longer be read', () => {
  const dialect = defineDialect({ name: 'mine', place: inBody('key') });

  /** Pays with a file of which only the first `readings` reads come to an end. Counts the reads. */
  async function payWith(readings: number) {
    let reads = 0;
    let sent = 0;
    class File extends Blob {
      override arrayBuffer(): Promise<ArrayBuffer> {
        reads++;
        return reads > readings ? new Promise(() => {}) : super.arrayBuffer();
      }
    }
    const fetch = async () => {
      sent++;
      return Response.json({}, { status: 201 });
    };
    const once = createOnce({ store: memoryStore(), fetch, dialect, limits: { attempts: 1, attemptMs: 50, totalMs: 2000 } });
    const body = new File(['{"amount":1}'], { type: 'application/json' });
    const end = await once.fetch('https://shop.example/pay', { method: 'POST', body, once: ['pay', String(readings)] }).catch((error: unknown) => error);
    return { reads, sent, effect: outcomeOf(end)?.effect };
  }

  test('is not sent if the key is to go into it, and the call ends', async () => {
    const { reads, ...paid } = await payWith(Number.POSITIVE_INFINITY);
    expect(paid).toEqual({ sent: 1, effect: 'done' });
    expect(await payWith(reads - 1)).toEqual({ reads, sent: 0, effect: 'none' });
  });
});
