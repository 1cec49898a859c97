/**
 * Goal: a request has its key, and its content type once, even if the app or a library has wrapped fetch. Method: the ways in which such wrappers add a header
 * of their own.
 */
import { around, createOnce, memoryStore } from 'oncefetch';
import { expect, test } from 'vitest';

type Headed = Record<string, string>;

const WAYS: Record<string, (init: RequestInit) => HeadersInit> = {
  'spreads what it is given': ({ headers }) => ({ ...(headers as Headed), 'X-CSRF-Token': 't' }),
  'has a content type of its own, unless it is given one': ({ headers }) => ({ 'Content-Type': 'text/plain', ...(headers as Headed), 'X-CSRF-Token': 't' }),
  'sets one content type for all': ({ headers }) => ({ ...(headers as Headed), 'Content-Type': 'application/json', 'X-CSRF-Token': 't' }),
  'copies member by member, as XMLHttpRequest needs it': ({ headers }) => {
    const copy: [string, string][] = [['X-CSRF-Token', 't']];
    for (const name in headers) copy.push([name, (headers as Headed)[name] as string]);
    return copy;
  },
  'makes a Headers': ({ headers }) => {
    const all = new Headers(headers);
    all.set('X-CSRF-Token', 't');
    return all;
  },
};

test.each(Object.entries(WAYS).flatMap(([way, headersOf]) => [false, true].map((hooked) => ({ way, headersOf, hooked }))))(
  'a fetch that $way sends the key, and one content type (around: $hooked)',
  async ({ headersOf, hooked }) => {
    const sent: Headers[] = [];
    const once = createOnce({
      store: memoryStore(),
      namespace: 'u',
      use: hooked ? [around((_, send) => send())] : [],
      fetch: async (_, init = {}) => {
        sent.push(new Headers(headersOf(init)));
        if (sent.length === 1) throw new TypeError('Failed to fetch');
        return Response.json({ id: 'ch_1' }, { status: 201 });
      },
      retry: { minDelayMs: 0, maxDelayMs: 0 },
    });
    await once.fetch('https://shop.example/pay', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' }, once: ['pay', 1] });
    const [key] = new Set(sent.map((headers) => headers.get('idempotency-key')));
    expect(key).toMatch(/^[0-9a-f-]{36}$/);
    for (const headers of sent)
      expect([headers.get('idempotency-key'), headers.get('content-type'), headers.get('x-csrf-token')]).toEqual([key, 'application/json', 't']);
    expect(sent).toHaveLength(2);
  },
);
