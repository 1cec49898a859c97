/**
 * Goal: what stripe-node returns or throws is read as its HTTP answer would be. Method: objects with the fields of its errors (src/Error.ts), through `run` on
 * the real engine.
 */
import { describe, expect, test } from 'vitest';
import { stripe, stripeVerdict } from '../../src/entries/dialects.js';
import { run } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import { newWorld } from '../support/world.js';

interface Fields {
  readonly statusCode?: number;
  readonly rawType?: string;
  readonly code?: string;
  readonly headers?: Record<string, string>;
}

/** An error as stripe-node makes it, with these fields. */
const thrown = (type: string, fields: Fields = {}) => Object.assign(new Error(type), { type, ...fields });
const MARKED = { headers: { 'idempotent-replayed': 'true' } };

const DECLINED = thrown('StripeCardError', { statusCode: 402, rawType: 'card_error', code: 'card_declined' });
const LOST = thrown('StripeConnectionError');

describe('reads', () => {
  test.each([
    ['a connection that broke', LOST, 'ambiguous'],
    ['a bug in the effect', new TypeError('x is not a function'), 'ambiguous'],
    ['nothing at all', undefined, 'ambiguous'],
    ['a declined card, which is stored', DECLINED, 'rejected-for-good'],
    ['a stored refusal', thrown('StripeInvalidRequestError', { statusCode: 400, rawType: 'invalid_request_error', ...MARKED }), 'rejected-for-good'],
    ['wrong parameters', thrown('StripeInvalidRequestError', { statusCode: 400, rawType: 'invalid_request_error' }), 'rejected'],
    ['no valid API key', thrown('StripeAuthenticationError', { statusCode: 401 }), 'rejected'],
    ['a key in use', thrown('StripeAPIError', { statusCode: 409, rawType: 'idempotency_error', code: 'idempotency_key_in_use' }), 'in-progress'],
    ['other parameters under the key', thrown('StripeIdempotencyError', { statusCode: 400, rawType: 'idempotency_error' }), 'ambiguous'],
    ['too many requests', thrown('StripeRateLimitError', { statusCode: 429, rawType: 'rate_limit_error' }), 'not-sent'],
    ['a 500', thrown('StripeAPIError', { statusCode: 500, rawType: 'api_error' }), 'transient'],
    ['a 500 that is not worth another attempt', thrown('StripeAPIError', { statusCode: 500, headers: { 'stripe-should-retry': 'false' } }), 'ambiguous'],
    ['a stored 500', thrown('StripeAPIError', { statusCode: 500, ...MARKED }), 'ambiguous'],
  ])('%s', (_, error, verdict) => expect(stripeVerdict({ error })).toBe(verdict));

  test('a result, made now or replayed', () => {
    expect(stripeVerdict({ value: { id: 'pi_1' } })).toBe('fresh');
    expect(stripeVerdict({ value: Object.defineProperty({ id: 'pi_1' }, 'lastResponse', { value: { headers: { 'idempotent-replayed': 'true' } } }) })).toBe(
      'replayed',
    );
    expect(stripeVerdict({ value: undefined })).toBe('fresh');
  });
});

/** Runs a script of results and errors as a charge. */
async function charge(...script: readonly unknown[]) {
  const { world, tab, once } = newWorld().open({ dialect: stripe(), keep: { response: 'memory' } });
  const keys: string[] = [];
  const play = [...script];
  const call = (of: Once) =>
    run(
      of,
      ['charge', 1],
      ({ key }) => {
        keys.push(key);
        const next = play.shift();
        if (next instanceof Error) throw next;
        world.server.charged.add(key);
        return next;
      },
      { verdict: stripeVerdict },
    ) as Promise<Response>;
  const end = await world.end(tab, call(once));
  return { world, tab, once, call, end, keys };
}

describe('drives', () => {
  test('a lost answer, then the stored result', async () => {
    const { end, keys } = await charge(LOST, { id: 'pi_1' });
    expect(end.response).toEqual({ id: 'pi_1' });
    expect(new Set(keys).size).toBe(1);
  });

  test('a lost answer, then a decline: the customer may try another card, under another key', async () => {
    const { world, tab, once, call, end, keys } = await charge(LOST, DECLINED, { id: 'pi_2' });
    expect(end.error).toBe(DECLINED);
    expect(tab.outcomeOf(end.error)).toMatchObject({ type: 'rejected', effect: 'none' });
    expect((await world.end(tab, call(once))).response).toEqual({ id: 'pi_2' });
    expect(keys[2]).not.toBe(keys[1]);
  });

  test('a lost answer, then no valid API key: unknown, and the key stays', async () => {
    const refused = thrown('StripeAuthenticationError', { statusCode: 401 });
    const { world, tab, once, call, end, keys } = await charge(LOST, refused, { id: 'pi_1' });
    expect(tab.outcomeOf(end.error)).toMatchObject({ effect: 'unknown' });
    await world.end(tab, call(once));
    expect(new Set(keys).size).toBe(1);
  });

  test('a rate limit leaves nothing ambiguous', async () => {
    const busy = thrown('StripeRateLimitError', { statusCode: 429 });
    const invalid = thrown('StripeInvalidRequestError', { statusCode: 400 });
    const { tab, end } = await charge(busy, invalid);
    expect(tab.outcomeOf(end.error)).toMatchObject({ type: 'rejected', effect: 'none' });
  });

  test('a charge and a fee under one key, so that the second meets the first: unknown, and the key stays', async () => {
    const used = thrown('StripeIdempotencyError', { statusCode: 400, rawType: 'idempotency_error' });
    const { world, call, once, tab, end, keys } = await charge(used, used, used, used, used, { id: 'pi_1' });
    expect(tab.outcomeOf(end.error)).toMatchObject({ effect: 'unknown' });
    await world.end(tab, call(once));
    expect(new Set(keys).size).toBe(1);
  });

  test.each([
    ['declined', DECLINED],
    ['refused', thrown('StripeInvalidRequestError', { statusCode: 400 })],
    ['rate-limited', thrown('StripeRateLimitError', { statusCode: 429 })],
  ])('a charge, then a fee that is %s, each under a key of its own: unknown, and the next run charges under the same key', async (_, refused) => {
    const { world, tab, once } = newWorld().open({ dialect: stripe() });
    let funds = false;
    const order = () =>
      run(
        once,
        ['order', 1],
        async ({ child }) => {
          world.server.charged.add(child('charge'));
          child('fee');
          if (!funds) throw refused;
          return 'booked';
        },
        { verdict: stripeVerdict, limits: { attempts: 2 } },
      ) as Promise<never>;
    const end = await world.end(tab, order());
    expect(tab.outcomeOf(end.error)).toMatchObject({ effect: 'unknown' });
    funds = true;
    expect((await world.end(tab, order())).response).toBe('booked');
    expect(world.server.charged.size).toBe(1);
  });
});

test.each([
  ['a plain object, as of its Node client', { 'idempotent-replayed': 'true' }],
  ['a Headers, as of its fetch client', new Headers({ 'idempotent-replayed': 'true' })],
])(
  'a refusal that is marked as a replay, by %s, is that of an earlier call: after the storage is lost, the call goes on and finds the charge',
  async (_, headers) => {
    const world = newWorld();
    const keys: string[] = [];
    // The first card was declined under k.0, the second one charged under k.1; then the records were lost.
    const sdk = async ({ key }: { readonly key: string }) => {
      keys.push(key);
      if (key === 'k.0') throw Object.assign(new Error('declined'), { ...DECLINED, headers });
      return { id: 'pi_1', lastResponse: { headers: { 'idempotent-replayed': 'true' } } };
    };
    const { tab, once } = world.open();
    const intent = await world.run(run(once, ['charge', 'o-1'], sdk, { key: ({ generation }) => `k.${generation}`, verdict: stripeVerdict }));
    expect(tab.outcomeOf(intent)).toMatchObject({ type: 'replayed', effect: 'done', key: 'k.1' });
    expect(keys).toEqual(['k.0', 'k.1']);
  },
);
