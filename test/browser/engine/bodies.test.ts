/**
 * Goal: a body of any kind is sent with the same bytes on every attempt, and has the same fingerprint as in Node
 * (`test/engine/body-cases.test.ts` has the same table). Method: a real server computes a digest of what arrives.
 */
import { describe, expect } from 'vitest';
import { server } from 'vitest/browser';
import { extend } from '../../../src/entries/index.js';
import { bodyCases } from '../../support/body-cases.js';
import { createOnce, outcomeOf, SOON } from '../realm/lib.js';
import { type Arrival, client, Shop, sends, test } from '../support/shop.js';

const keyOfContent = (given: { fingerprint: string }) => given.fingerprint;
/** The content type without the boundary of a form, which is different in every request. */
const typeOf = (headers: Readonly<Record<string, string>> | undefined) => headers?.['content-type']?.replace(/boundary=.*/, 'boundary');

describe('a body is sent with the same bytes twice, and has the same fingerprint as in Node', () => {
  test.for(bodyCases)('$kind', async ({ make, bytes }, { shop }) => {
    await shop.meets('unavailable-after-commit');
    const answer = await client(shop).fetch(shop.url, { method: 'POST', body: make(), once: ['pay', 1] });
    expect(outcomeOf(answer)).toMatchObject({ type: 'replayed', attempts: 2 });
    const arrivals = await shop.oneEffect();
    expect(sends(arrivals)).toHaveLength(2);
    expect(new Set(arrivals.map(({ digest }) => digest)).size).toBe(1);
    expect(new Set(arrivals.map(({ headers }) => headers['content-type'])).size).toBe(1);
    if (bytes !== undefined) expect(arrivals[0]?.digest).toBe(bytes);
  });

  test.for(bodyCases)('$kind: the fingerprint', async ({ make, fingerprint }) => {
    let key: string | null = null;
    const once = extend(createOnce({ ...SOON, namespace: new Shop().namespace }), {
      fetch: async (_, init) => {
        key = new Headers(init?.headers).get('idempotency-key');
        return new Response('{}', { status: 201 });
      },
    });
    await once.fetch('https://shop.example/pay', { method: 'POST', body: make(), once: { operation: ['pay', 1], key: keyOfContent } });
    expect(key).toBe(fingerprint);
  });
});

/** The length of a body without the boundaries of a form: Firefox generates boundaries of different lengths. */
const bytesOf = (arrival: Arrival | undefined, body: BodyInit): number => {
  const boundary = /boundary=(.*)/.exec(arrival?.headers['content-type'] ?? '')?.[1] ?? '';
  const boundaries = body instanceof FormData ? [...body].length + 1 : 0;
  return (arrival?.bytes ?? Number.NaN) - boundaries * boundary.length;
};

describe('plain fetch', () => {
  const plainly = async (shop: Shop, body: BodyInit) => {
    await fetch(shop.url, { method: 'POST', body, ...(body instanceof ReadableStream && { duplex: 'half' }) } as RequestInit).catch(() => {});
    return (await shop.ledger()).arrivals[0];
  };

  test('sends a form with a different boundary each time, which is why oncefetch turns it into bytes once', async ({ shop }) => {
    const form = new FormData();
    form.append('a', '1');
    await plainly(shop, form);
    await plainly(shop, form);
    const { arrivals } = await shop.ledger();
    expect(new Set(arrivals.map(({ digest }) => digest)).size).toBe(2);
  });

  test('sends each body with the same content type as oncefetch', async () => {
    for (const { kind, make } of bodyCases.filter(({ kind }) => kind !== 'a stream')) {
      const shop = new Shop();
      const plain = await plainly(shop, make());
      await client(shop).fetch(shop.url, { method: 'POST', body: make(), once: ['pay', kind] });
      const ours = (await shop.ledger()).arrivals.at(-1);
      expect([kind, typeOf(ours?.headers)]).toEqual([kind, typeOf(plain?.headers)]);
      expect(bytesOf(ours, make())).toBe(bytesOf(plain, make()));
    }
  });

  test('cannot send a stream over HTTP/1.1 in any browser: Firefox sends the text "[object ReadableStream]", the others refuse', async () => {
    const { kind, make } = bodyCases.find((one) => one.kind === 'a stream') ?? expect.unreachable();
    const plain = await plainly(new Shop(), make());
    expect([kind, plain?.bytes]).toEqual([kind, server.browser === 'firefox' ? '[object ReadableStream]'.length : undefined]);
  });
});

describe('a Request', () => {
  test('with a body is sent twice unchanged, and outcomeOf works on the Request itself', async ({ shop }) => {
    await shop.meets('unavailable-after-commit');
    const request = new Request(shop.url, { method: 'POST', body: new Blob(['{"a":1}'], { type: 'application/json' }), headers: { 'x-trace': '7' } });
    const answer = await client(shop).fetch(request, { once: ['pay', 1] });
    expect(answer.status).toBe(201);
    expect(outcomeOf(request)).toEqual(outcomeOf(answer));
    const arrivals = await shop.oneEffect();
    expect(arrivals.map(({ headers }) => [headers['x-trace'], headers['content-type']])).toEqual(arrivals.map(() => ['7', 'application/json']));
    expect(new Set(arrivals.map(({ digest }) => digest)).size).toBe(1);
  });

  test('made from a form with files is sent, except in WebKit, which cannot read it: there the call is rejected and nothing is sent', async ({ shop }) => {
    const { make } = bodyCases.find(({ kind }) => kind === 'a FormData with files') ?? expect.unreachable();
    const once = client(shop);
    const told = await once.fetch(new Request(shop.url, { method: 'POST', body: make() }), { once: ['pay', 1] }).catch((error: unknown) => error);
    if (server.browser === 'webkit') {
      expect(told).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { effect: 'none', sent: 'no' } });
      expect((await shop.ledger()).arrivals).toEqual([]);
    } else await shop.oneEffect();
  });
});

describe('a large body', () => {
  test('given as a File of 5 MB is sent twice with the same bytes', async ({ shop }) => {
    await shop.meets('unavailable-after-commit');
    const part = crypto.getRandomValues(new Uint8Array(65_536));
    const file = new File(
      Array.from({ length: 80 }, () => part),
      'scan.pdf',
      { type: 'application/pdf' },
    );
    await client(shop).fetch(shop.url, { method: 'POST', body: file, once: ['upload', 1] });
    const arrivals = await shop.oneEffect();
    expect(arrivals.map(({ bytes }) => bytes)).toEqual(arrivals.map(() => file.size));
    expect(new Set(arrivals.map(({ digest }) => digest)).size).toBe(1);
    expect(sends(arrivals)).toHaveLength(2);
  });

  test('given as a stream beyond the limit is rejected, and nothing is sent', async ({ shop }) => {
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(100_000)) });
    const error = await client(shop)
      .fetch(shop.url, { method: 'POST', body, once: ['upload', 1] })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'ERR_ONCE_BODY', outcome: { effect: 'none', sent: 'no' } });
    expect((await shop.ledger()).arrivals).toEqual([]);
  });
});
