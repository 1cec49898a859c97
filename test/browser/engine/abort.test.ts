/**
 * Goal: an abort means the same in every browser, although WebKit drops its reason. Method: compares the reason by
 * identity, and shows with plain fetch what each browser does by itself.
 */
import { afterEach, describe, expect } from 'vitest';
import { server } from 'vitest/browser';
import { operation, pending } from '../../../src/entries/index.js';
import { createOnce, outcomeOf, SOON } from '../realm/lib.js';
import { closeRealms } from '../support/realms.js';
import { client, Shop, sends, test } from '../support/shop.js';

afterEach(closeRealms);

const caught = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.unreachable('it resolved'),
    (error) => error,
  );
const ORDER = { method: 'POST', body: '{"cart":1}' } as const;

const SIGNALS: readonly (readonly [string, () => { readonly signal: AbortSignal; abort(): void }])[] = [
  ['its own object as reason', () => custom({ mine: true })],
  ['a text as reason', () => custom('enough')],
  ['its own Error as reason', () => custom(new RangeError('enough'))],
  ['no reason', () => custom(undefined)],
  ['AbortSignal.timeout', () => ({ signal: AbortSignal.timeout(300), abort: () => {} })],
  [
    'AbortSignal.any',
    () => {
      const { signal, abort } = custom({ mine: 'any' });
      return { signal: AbortSignal.any([signal, new AbortController().signal]), abort };
    },
  ],
];

function custom(reason: unknown) {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(reason) };
}

describe('plain fetch, aborted in flight', () => {
  test.each(SIGNALS)('by %s: rejects with the reason, except in WebKit, which rejects with its own AbortError', async (_, make) => {
    const shop = new Shop();
    await shop.hold();
    const { signal, abort } = make();
    const told = caught(fetch(shop.url, { ...ORDER, signal }));
    await shop.arrived(1);
    abort();
    const error = await told;
    expect(signal.aborted).toBe(true);
    if (server.browser === 'webkit') expect(error).toMatchObject({ name: 'AbortError', message: 'Fetch is aborted' });
    else expect(error).toBe(signal.reason);
  });
});

describe.each([
  ['before it begins', 0],
  ['in flight', 1],
  ['in a wait between two attempts', 2],
] as const)('a call that is aborted %s', (_, moment) => {
  test.each(SIGNALS)('by %s: rejects with this very reason', async (_, make) => {
    const shop = new Shop();
    if (moment === 1) await shop.hold();
    if (moment === 2) await shop.meets({ name: 'unavailable', retryAfter: 30 });
    const { signal, abort } = make();
    if (moment === 0) {
      abort();
      await expect.poll(() => signal.aborted).toBe(true);
    }
    const told = caught(client(shop).fetch(shop.url, { ...ORDER, signal, once: ['pay', 1] }));
    if (moment > 0) await shop.arrived(1);
    abort();
    expect(await told).toBe(signal.reason);
    expect(sends((await shop.ledger()).arrivals)).toHaveLength(moment && 1);
  });
});

describe('an abort', () => {
  test('in flight leaves the operation unsettled, in its state and in pending(); the next call continues with its key', async ({ shop, once }) => {
    await shop.hold();
    const controller = new AbortController();
    const told = caught(once.fetch(shop.url, { ...ORDER, signal: controller.signal, once: ['pay', 1] }));
    const [first] = await shop.arrived(1);
    controller.abort();
    await told;
    await expect.poll(() => operation(once, ['pay', 1]).state).toMatchObject({ phase: 'unsettled', pending: { key: first?.key, sent: 'maybe' } });
    expect(await pending(once)).toMatchObject([{ name: ['pay', 1], key: first?.key }]);
    await shop.release();
    const answer = await once.fetch(shop.url, { ...ORDER, once: ['pay', 1] });
    expect(outcomeOf(answer)).toMatchObject({ type: 'replayed', resumed: true, key: first?.key });
    await shop.oneEffect();
  });

  test('before anything was sent leaves no record', async ({ shop, once }) => {
    const controller = new AbortController();
    const told = caught(once.fetch(shop.url, { ...ORDER, signal: controller.signal, once: { operation: ['pay', 1], headers: () => new Promise(() => {}) } }));
    await expect.poll(() => pending(once)).toHaveLength(1);
    controller.abort();
    await told;
    await expect.poll(() => pending(once)).toEqual([]);
    expect((await shop.ledger()).arrivals).toEqual([]);
  });

  test('by one of two calls that share a request: the other call still gets the answer', async ({ shop, once }) => {
    await shop.hold();
    const controller = new AbortController();
    const told = caught(once.fetch(shop.url, { ...ORDER, signal: controller.signal, once: ['pay', 1] }));
    const second = once.fetch(shop.url, { ...ORDER, once: ['pay', 1] });
    await shop.arrived(1);
    controller.abort();
    expect(await told).toBe(controller.signal.reason);
    await shop.release();
    expect((await second).status).toBe(201);
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });

  test("by the timeout of an attempt: the next attempt learns of the first one's effect", async ({ shop }) => {
    await shop.meets('hang-after-commit');
    const once = createOnce({ ...SOON, limits: { attemptMs: 500, totalMs: 20_000 }, namespace: shop.namespace });
    const answer = await once.fetch(shop.url, { ...ORDER, once: ['pay', 1] });
    expect(outcomeOf(answer)).toMatchObject({ type: 'replayed', attempts: 2 });
    expect(sends(await shop.oneEffect())).toHaveLength(2);
  });
});
