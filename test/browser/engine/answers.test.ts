/**
 * Goal: only answers of the shop count as answers, and other origins work as far as CORS permits. Method: real
 * redirects, pages, streams and preflights.
 */
import { describe, expect } from 'vitest';
import { server } from 'vitest/browser';
import { createOnce as createBare, pending, subscribe, unnamed } from '../../../src/entries/index.js';
import { type OnceEvent, outcomeOf } from '../realm/lib.js';
import { client, type Shop, test } from '../support/shop.js';

const ORDER = { method: 'POST', body: '{"cart":1}', once: ['pay', 1] } as const;
const caught = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it resolved'),
    (error) => error,
  );

describe('an answer that proves nothing (A17)', () => {
  test('a login page behind a redirect, although its status is 200', async ({ shop, once }) => {
    const error = await caught(once.fetch(shop.at('moved'), ORDER));
    expect(error).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'not-a-verdict', attempts: 1 } });
    expect(error.response).toMatchObject({ status: 200, redirected: true });
    expect(await pending(once)).toHaveLength(1);
  });

  test('a redirect that was not followed, about which a browser reveals nothing', async ({ shop }) => {
    const told = await client(shop).fetch(shop.at('moved'), { ...ORDER, redirect: 'manual' });
    expect([told.type, told.status]).toEqual(['opaqueredirect', 0]);
    expect(outcomeOf(told)).toMatchObject({ effect: 'unknown', reason: 'not-a-verdict' });
  });

  test('an HTML page as an answer to JSON, as from a captive portal', async ({ shop }) => {
    const error = await caught(client(shop).fetch('/site/empty.html', ORDER));
    expect(error).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { reason: 'not-a-verdict' } });
  });

  test('a call in mode no-cors, whose answer would be hidden, is rejected before anything is stored or sent', async ({ shop, once }) => {
    expect(await caught(once.fetch(shop.url, { ...ORDER, mode: 'no-cors' }))).toBeInstanceOf(TypeError);
    expect(await pending(once)).toEqual([]);
    expect((await shop.ledger()).arrivals).toEqual([]);
  });
});

describe('an answer that is still arriving (A39)', () => {
  test('event by event: the call resolves at its first event', async ({ shop }) => {
    const answer = await client(shop).fetch(shop.at('events'), ORDER);
    expect(outcomeOf(answer)).toMatchObject({ type: 'fresh', effect: 'done' });
    const reader = answer.body?.getReader();
    const { value, done } = (await reader?.read()) ?? {};
    expect([new TextDecoder().decode(value), done]).toEqual(['data: 1\n\n', false]);
    await reader?.cancel();
  });

  test('with a body beyond the limit: the call resolves at its headers, and the caller can read it to its end', async ({ shop }) => {
    const answer = await client(shop).fetch(shop.at('large'), ORDER);
    expect((await answer.arrayBuffer()).byteLength).toBe(3_000_000);
    expect(outcomeOf(answer)).toMatchObject({ effect: 'done' });
  });

  test('and breaks off does not count: the next attempt gets the whole answer', async ({ shop }) => {
    await shop.meets('truncate');
    const answer = await client(shop).fetch(shop.url, ORDER);
    expect(await answer.json()).toEqual({ charge: 1 });
    expect(outcomeOf(answer)).toMatchObject({ type: 'replayed', attempts: 2 });
    await shop.oneEffect();
  });
});

describe('another origin', () => {
  /** The shop on another origin: `open` to CORS, `hiding` its headers, `closed` to preflights of other sites, `simple` without preflights. */
  const abroad = async (shop: Shop, cors: 'open' | 'hiding' | 'closed' | 'simple') =>
    shop.url.replace(location.origin, `${await (await fetch('/site/abroad')).text()}/${cors}`);
  const listening = (shop: Shop) => {
    const events: OnceEvent[] = [];
    const once = client(shop);
    subscribe(once, (event) => events.push(event));
    return { once, codes: () => events.flatMap((event) => (event.type === 'diagnostic' ? [event.code] : [])) };
  };

  test("that allows the key and exposes its headers works like the page's own origin", async ({ shop }) => {
    await shop.meets({ name: 'unavailable-after-commit', retryAfter: 0 });
    const { once, codes } = listening(shop);
    const answer = await once.fetch(await abroad(shop, 'open'), ORDER);
    expect(outcomeOf(answer)).toMatchObject({ type: 'replayed', attempts: 2 });
    expect(codes()).toEqual([]);
    await shop.oneEffect();
  });

  test('whose preflight refuses the key never gets the request, and the client sees only what looks like a lost answer (A55)', async ({ shop }) => {
    const { once, codes } = listening(shop);
    const error = await caught(once.fetch(await abroad(shop, 'closed'), ORDER));
    expect(error).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'no-answer', attempts: 5 } });
    expect(error.cause).toBeInstanceOf(TypeError);
    // WebKitGTK sometimes sends the request anyway.
    const { arrivals } = await shop.ledger();
    if (server.browser === 'webkit') expect(new Set(arrivals.map(({ key }) => key)).size).toBeLessThanOrEqual(1);
    else expect(arrivals).toEqual([]);
    expect(codes()).toEqual(['preflight-suspected']);
  });

  test('that hides its headers makes a replay look like a fresh answer: done, but not certain', async ({ shop }) => {
    await shop.meets({ name: 'unavailable-after-commit', retryAfter: 0 });
    const { once, codes } = listening(shop);
    const answer = await once.fetch(await abroad(shop, 'hiding'), ORDER);
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
    expect(outcomeOf(answer)).toMatchObject({ type: 'fresh', effect: 'done', certain: false });
    expect(codes()).toEqual(['retry-after-hidden', 'replay-hidden']);
    await shop.oneEffect();
  });

  test('gets no key for a call without a name, and therefore no preflight', async ({ shop }) => {
    // This client does not add the header `x-send` that other tests use, because it would cause a preflight.
    const bare = createBare({ use: [unnamed()], namespace: shop.namespace });
    expect((await bare.fetch(await abroad(shop, 'simple'), { method: 'POST', body: 'x' })).status).toBe(201);
    expect((await shop.ledger()).arrivals.map(({ key }) => key)).toEqual([undefined]);
  });
});
