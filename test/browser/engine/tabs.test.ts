/**
 * Goal: with a reload, another tab or a frozen tab there is one effect, and every caller gets the outcome. Method:
 * frames of one origin, each with its own package, real locks and the real IndexedDB; the shop holds its answers until
 * the test releases them.
 */
import { afterEach, describe, expect } from 'vitest';
import { clear, pending, settle } from '../../../src/entries/index.js';
import { createOnce, SOON } from '../realm/lib.js';
import { closeRealms, openFrame, openWorker, type Realm, type RealmError } from '../support/realms.js';
import { Shop, sends, test } from '../support/shop.js';

afterEach(closeRealms);

interface Told {
  readonly status?: number;
  readonly body?: unknown;
  readonly code?: string;
  readonly outcome: import('../realm/lib.js').Outcome | undefined;
}

interface Asks {
  readonly card?: string;
  readonly limits?: object;
  readonly keep?: 'disk';
}

/** Presses Pay in a realm. Returns the result of the call. */
const pay = ({ run }: Realm, { url, namespace }: Shop, { card = 'good', limits = {}, keep }: Asks = {}): Promise<Told> =>
  run(
    async (lib, url, namespace, card, limits, keep) => {
      const once = lib.createOnce({
        ...lib.SOON,
        limits: { ...lib.SOON.limits, ...limits },
        namespace,
        ...(keep && { use: [lib.answers()], keep: { response: keep } }),
      });
      try {
        const answer = await once.fetch(url, { method: 'POST', body: JSON.stringify({ card }), once: ['pay', 1] });
        return { status: answer.status, body: await answer.json(), outcome: lib.outcomeOf(answer) };
      } catch (error) {
        return { code: (error as RealmError).code ?? String(error), outcome: lib.outcomeOf(error) };
      }
    },
    url,
    namespace,
    card,
    limits,
    keep,
  );

/** Presses Pay in a realm that ends before its call does. */
const payAndForget = (realm: Realm, shop: Shop): void => void pay(realm, shop).catch(() => {});

/** Resolves when a call in that realm is waiting for another context. */
const waits = ({ run }: Realm, { namespace }: Shop): Promise<void> =>
  run(async (lib, namespace) => {
    const operation = lib.operation(lib.createOnce({ namespace }), ['pay', 1]);
    for (let n = 0; n < 500; n++) {
      const { state } = operation;
      if (state.phase === 'waiting' && state.why === 'another-context') return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`it does not wait: ${JSON.stringify(operation.state)}`);
  }, namespace);

describe('a reload in the middle of an attempt', () => {
  test('keeps the operation and its key: the next press continues with it, one effect', async ({ shop }) => {
    await shop.hold();
    const frame = await openFrame();
    payAndForget(frame, shop);
    const [first] = await shop.arrived(1);
    await frame.reload();
    await shop.release();
    expect(await pending(createOnce({ namespace: shop.namespace }))).toMatchObject([{ name: ['pay', 1], key: first?.key, sent: 'maybe' }]);
    const told = await pay(frame, shop);
    expect(told).toMatchObject({ status: 201, body: { charge: 1 }, outcome: { type: 'replayed', resumed: true, key: first?.key } });
    // Firefox lets a page send once more while it is being reloaded.
    expect(sends(await shop.oneEffect()).length).toBeGreaterThanOrEqual(2);
    expect(await pending(createOnce({ namespace: shop.namespace }))).toEqual([]);
  });

  test('and then another card: sent under the same key, so that at most one of the two is charged', async ({ shop }) => {
    await shop.hold();
    const frame = await openFrame();
    payAndForget(frame, shop);
    await shop.arrived(1);
    await frame.reload();
    await shop.release();
    const told = await pay(frame, shop, { card: 'another' });
    expect(told.outcome?.effect).toBe('unknown');
    expect(told.code).toBe('ERR_ONCE_MISMATCH');
    await shop.oneEffect();
  });

  test('settle takes no none while the request of the page before may arrive: one effect', async ({ shop }) => {
    await shop.hold();
    const frame = await openFrame();
    payAndForget(frame, shop);
    await shop.arrived(1);
    await frame.reload();
    // The lock of the page before is free.
    await expect.poll(async () => (await navigator.locks.query()).held?.filter(({ name }) => name?.includes(shop.namespace))).toEqual([]);
    const once = createOnce({ ...SOON, namespace: shop.namespace });
    await expect(settle(once, ['pay', 1], 'none')).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    await shop.release();
    expect(await pay(frame, shop)).toMatchObject({ status: 201, body: { charge: 1 }, outcome: { effect: 'done' } });
    await shop.oneEffect();
  });

  test('five times in a row: one effect', async ({ shop }) => {
    await shop.meets('hang', 'hang-after-commit', 'hang', 'hang-after-commit', 'hang');
    const frame = await openFrame();
    for (let n = 1; n <= 5; n++) {
      payAndForget(frame, shop);
      await shop.arrived(n);
      await frame.reload();
    }
    // Firefox lets a page send once more while it is being reloaded, and even get the answer: then the operation is already
    // settled.
    expect(await pay(frame, shop)).toMatchObject({ outcome: { type: 'replayed', effect: 'done' } });
    await shop.oneEffect();
  });
});

describe.each([
  ['tab', openFrame],
  ['worker', openWorker],
])('a second %s', (_, openSecond) => {
  test('waits for the first and gets its outcome: nothing is sent again', async ({ shop }) => {
    const [first, second] = await Promise.all([openFrame(), openSecond()]);
    await shop.hold();
    const told = pay(first, shop);
    await shop.arrived(1);
    const toldSecond = pay(second, shop);
    await waits(second, shop);
    await shop.release();
    const { outcome } = await told;
    expect(await told).toMatchObject({ status: 201, outcome: { type: 'fresh' } });
    expect(await toldSecond).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done', key: outcome?.key } });
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });

  test("gets the first one's answer itself if answers are kept on disk", async ({ shop }) => {
    const [first, second] = await Promise.all([openFrame(), openSecond()]);
    await shop.hold();
    const told = pay(first, shop, { keep: 'disk' });
    await shop.arrived(1);
    const toldSecond = pay(second, shop, { keep: 'disk' });
    await waits(second, shop);
    await shop.release();
    expect([await told, await toldSecond]).toMatchObject([
      { status: 201, body: { charge: 1 } },
      { status: 201, body: { charge: 1 }, outcome: { type: 'replayed', from: 'store' } },
    ]);
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });

  test('that waits gets the refusal of the first, and sends nothing itself (A33)', async ({ shop }) => {
    const [first, second] = await Promise.all([openFrame(), openSecond()]);
    await shop.hold();
    const told = pay(first, shop, { card: 'declined' });
    await shop.arrived(1);
    const toldSecond = pay(second, shop, { card: 'declined' });
    await waits(second, shop);
    await shop.release();
    expect(await told).toMatchObject({ status: 402, outcome: { type: 'rejected', effect: 'none' } });
    expect((await toldSecond).outcome).toMatchObject({ type: 'rejected', effect: 'none' });
    const { effects, arrivals } = await shop.ledger();
    expect([effects.length, sends(arrivals).length]).toEqual([0, 1]);
    // The next press is another payment, under another key.
    expect(await pay(second, shop)).toMatchObject({ status: 201, outcome: { type: 'fresh', resumed: false } });
    expect(new Set((await shop.ledger()).arrivals.map(({ key }) => key)).size).toBe(2);
  });

  test('takes over under the same key as soon as the first is closed in the middle of its attempt', async ({ shop }) => {
    const [first, second] = await Promise.all([openFrame(), openSecond()]);
    await shop.meets('hang-after-commit');
    payAndForget(first, shop);
    await shop.arrived(1);
    const told = pay(second, shop, { limits: { attemptMs: 60_000, totalMs: 120_000 } });
    await waits(second, shop);
    first.close();
    expect(await told).toMatchObject({ status: 201, body: { charge: 1 }, outcome: { type: 'replayed', resumed: true } });
    expect(sends(await shop.oneEffect())).toHaveLength(2);
  });

  test('behind a frozen tab that never releases its lock waits for the time limit of an attempt, then continues with the same key', async ({ shop }) => {
    const [first, second] = await Promise.all([openFrame(), openSecond()]);
    await first.run(() => {
      const { request } = LockManager.prototype;
      LockManager.prototype.request = function (this: LockManager, ...args: unknown[]) {
        const held = args.pop() as (lock: Lock | null) => unknown;
        const never = (lock: Lock | null) => (lock ? Promise.all([held(lock), new Promise(() => {})]) : held(lock));
        return (request as (...args: unknown[]) => Promise<unknown>).call(this, ...args, never);
      } as typeof request;
    });
    await shop.meets('lose-response');
    expect(await pay(first, shop, { limits: { attempts: 1 } })).toMatchObject({ code: 'ERR_ONCE_UNKNOWN' });
    const began = performance.now();
    // On a busy machine, the answer to an attempt may take a second.
    const told = await pay(second, shop, { limits: { attemptMs: 2000, totalMs: 30_000 } });
    expect(performance.now() - began).toBeGreaterThanOrEqual(1990);
    expect(told).toMatchObject({ status: 201, outcome: { type: 'replayed', resumed: true } });
    expect(sends(await shop.oneEffect())).toHaveLength(2);
  });
});

describe('a tab whose lock is taken away in the middle of its attempt, as WebKit does in the back-forward cache, takes it back', () => {
  const steal = async (shop: Shop) => {
    const name = await shop.stealLock();
    await expect.poll(() => shop.locks()).toContain(name);
  };

  test('another tab cannot settle its operation', async ({ shop }) => {
    const frame = await openFrame();
    await shop.hold();
    const told = pay(frame, shop);
    await shop.arrived(1);
    await steal(shop);
    const once = createOnce({ namespace: shop.namespace });
    expect(await pending(once)).toMatchObject([{ inFlight: true }]);
    await expect(settle(once, ['pay', 1], 'none')).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
    await shop.release();
    expect(await told).toMatchObject({ status: 201, outcome: { type: 'fresh' } });
    await expect.poll(() => shop.locks()).toEqual([]);
    await shop.oneEffect();
  });

  test('an equal call without a name in another tab is another operation', async ({ shop }) => {
    const frame = await openFrame();
    await shop.hold();
    const order = { method: 'POST', body: '{"cart":1}' };
    const send = frame.run(
      (lib, url, namespace, order) =>
        lib
          .createOnce({ ...lib.SOON, namespace })
          .fetch(url, order)
          .then(({ status }) => status),
      shop.url,
      shop.namespace,
      order,
    );
    await shop.arrived(1);
    await steal(shop);
    const second = createOnce({ ...SOON, namespace: shop.namespace }).fetch(shop.url, order);
    await shop.arrived(2);
    await shop.release();
    expect([await send, (await second).status]).toEqual([201, 201]);
    expect((await shop.ledger()).effects).toHaveLength(2);
  });
});

describe('a tab that is waiting between two attempts', () => {
  /** A frame whose first attempt got a 503, and which is now waiting to send again. */
  const waiting = async (shop: Shop, who: string) => {
    localStorage.setItem('who', who);
    await shop.meets({ name: 'unavailable-after-commit', retryAfter: 1 });
    const frame = await openFrame();
    const told = frame.run(async (lib, url) => {
      const once = lib.createOnce({ ...lib.SOON, namespace: () => localStorage.getItem('who') ?? 'nobody' });
      return once.fetch(url, { method: 'POST', body: '{}', once: ['pay', 1] }).then(
        ({ status }) => ({ status }),
        (error) => ({ code: error.code, outcome: lib.outcomeOf(error) }),
      );
    }, shop.url);
    const [first] = await shop.arrived(1);
    return { told, key: first?.key };
  };

  test('sends nothing more once another user has logged in, in another tab (A12)', async ({ shop }) => {
    const { told } = await waiting(shop, `${shop.namespace}-1`);
    localStorage.setItem('who', `${shop.namespace}-2`);
    expect(await told).toMatchObject({ code: 'ERR_ONCE_UNKNOWN', outcome: { effect: 'unknown', reason: 'identity' } });
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });

  test('stops when another tab logs out by clear(), which keeps the key', async ({ shop }) => {
    const { told, key } = await waiting(shop, shop.namespace);
    expect((await clear(createOnce({ namespace: shop.namespace }))).kept).toMatchObject([{ name: ['pay', 1], key }]);
    expect(await told).toMatchObject({ code: 'ERR_ONCE_CLAIM_LOST', outcome: { effect: 'unknown' } });
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });
});

test.each([
  ['named', ['pay', 1]],
  ['unnamed', undefined],
] as const)('a page that navigates in the same tick in which it gets its answer leaves no unsettled %s operation (A6)', async (_, name) => {
  const shop = new Shop();
  const frame = await openFrame();
  for (let n = 0; n < 5; n++) {
    const landed = frame.landed();
    void frame
      .run(
        async (lib, url, namespace, name) => {
          await lib.createOnce({ ...lib.SOON, namespace }).fetch(url, { method: 'POST', body: '{}', ...(name && { once: [...name] }) });
          location.href = '/site/empty.html';
        },
        `${shop.url}?${n}`,
        shop.namespace,
        name && [...name, n],
      )
      .catch(() => {});
    await landed;
    await frame.renew();
  }
  expect(await pending(createOnce({ namespace: shop.namespace }))).toEqual([]);
  expect((await shop.ledger()).effects).toHaveLength(5);
});
