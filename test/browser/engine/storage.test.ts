/**
 * Goal: whatever happens to the store during an operation, there is at most one effect and no untrue outcome. Method:
 * the real IndexedDB, cleared, closed, upgraded, full or unresponsive; a real server counts the effects.
 */
import { afterEach, describe, expect } from 'vitest';
import { operation, pending, subscribe } from '../../../src/entries/index.js';
import { createOnce, derived, indexedDbStore, localStorageStore, type OnceEvent, type OnceOptions, outcomeOf, SOON } from '../realm/lib.js';
import { freshName, replaceMethod, settled } from '../stores/support.js';
import { closeRealms, type Frame, openFrame } from '../support/realms.js';
import { test as inShop, Shop, sends } from '../support/shop.js';

const undo: (() => void)[] = [];
afterEach(() => {
  closeRealms();
  for (const restore of undo.splice(0).reverse()) restore();
});

const ORDER = { method: 'POST', body: '{"cart":1}', once: ['pay', 1] } as const;
const caught = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it resolved'),
    (error) => error,
  );

/**
 * A client with its own database, so that what happens to it affects no other test. `openTimeoutMs`: short only where
 * the database never answers.
 */
function client(shop: Shop, options: OnceOptions = {}, openTimeoutMs?: number) {
  const name = freshName();
  const events: OnceEvent[] = [];
  const once = createOnce({ ...SOON, namespace: shop.namespace, store: indexedDbStore({ name, openTimeoutMs }), ...options });
  subscribe(once, (event) => events.push(event));
  return { name, once, codes: () => events.flatMap((event) => (event.type === 'diagnostic' ? [event.code] : [])) };
}

const test = inShop.extend('own', ({ shop }) => client(shop));

/** A call whose first attempt got a 503 after its effect, and which is now waiting to send again. */
async function waiting(shop: Shop, { once }: ReturnType<typeof client>) {
  await shop.meets({ name: 'unavailable-after-commit', retryAfter: 1 });
  // Listens for the wait, because a page that is blocked for a second would miss it by polling.
  const waits = new Promise<void>((resolve) => subscribe(once, ({ type }) => (type === 'wait' ? resolve() : undefined)));
  const told = once.fetch(shop.url, ORDER).then(
    (answer) => ({ status: answer.status, outcome: outcomeOf(answer) }),
    (error) => ({ code: error.code, outcome: error.outcome }),
  );
  await waits;
  return { told };
}

const write = (make: Parameters<typeof replaceMethod>[2]) => undo.push(replaceMethod(IDBObjectStore, 'put', make));
const full = () => {
  throw new DOMException('no room', 'QuotaExceededError');
};

/** Drops what a reload would drop from memory. */
const forgetMemory = (): void => {
  for (const symbol of ['oncefetch', 'oncefetch.memory']) delete (globalThis as unknown as Record<symbol, unknown>)[Symbol.for(symbol)];
};

describe('while an operation waits between two attempts', () => {
  test("the site's data are cleared: it does not send a key again that is no longer stored", async ({ shop }) => {
    const { told } = await waiting(shop, client(shop));
    await fetch('/site/clear.html');
    expect(await told).toMatchObject({ outcome: { effect: 'unknown' } });
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });

  test('another version of the app upgrades its database: it continues in the upgraded database', async ({ shop, own }) => {
    const { told } = await waiting(shop, own);
    (await settled(indexedDB.open(own.name, 9))).close();
    expect(await told).toMatchObject({ status: 201, outcome: { type: 'replayed', storedIn: 'disk' } });
    expect(await pending(own.once)).toEqual([]);
    await shop.oneEffect();
  });

  test('its connection is closed, as iOS does in the background: it continues', async ({ shop, own }) => {
    let connection: IDBDatabase | undefined;
    undo.push(
      replaceMethod(
        IDBDatabase,
        'transaction',
        (transaction) =>
          function (...args) {
            connection = this as IDBDatabase;
            return transaction.apply(this, args);
          },
      ),
    );
    const { told } = await waiting(shop, own);
    connection?.close();
    expect(await told).toMatchObject({ status: 201, outcome: { type: 'replayed' } });
    expect(await pending(own.once)).toEqual([]);
    await shop.oneEffect();
  });

  test('the disk fills up: the caller gets the answer, and no later press ends as none', async ({ shop, own }) => {
    const { told } = await waiting(shop, own);
    write(() => full);
    expect(await told).toMatchObject({ status: 201, outcome: { effect: 'done' } });
    expect(own.codes()).toContain('store-write');
    const again = await own.once.fetch(shop.url, ORDER).catch((error: unknown) => error);
    expect(outcomeOf(again)?.effect).not.toBe('none');
    await shop.oneEffect();
  });
});

describe('a store that is full', () => {
  test('and has no record of the name: the record is kept in memory, and the outcome says so', async ({ shop, own }) => {
    await pending(own.once);
    write(() => full);
    await shop.meets('unavailable-after-commit');
    const answer = await own.once.fetch(shop.url, ORDER);
    expect(outcomeOf(answer)).toMatchObject({ type: 'replayed', storedIn: 'memory' });
    expect(own.codes()).toEqual(['store-degraded']);
    await shop.oneEffect();
  });

  test('and has a record of the name: nothing is sent, because that record may hold an earlier key', async ({ shop }) => {
    const own = client(shop, { limits: { attempts: 1 } });
    await shop.meets('unavailable-after-commit');
    expect(outcomeOf(await own.once.fetch(shop.url, ORDER))).toMatchObject({ effect: 'unknown' });
    const { arrivals } = await shop.ledger();
    write(() => full);
    const error = await caught(own.once.fetch(shop.url, { ...ORDER, body: JSON.stringify({ amount: 1 }) }));
    expect(error).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown' } });
    expect((await shop.ledger()).arrivals).toEqual(arrivals);
    expect(own.codes()).not.toContain('store-degraded');
  });

  test('with durability required: nothing is sent', async ({ shop }) => {
    const own = client(shop, { durability: 'required' });
    await pending(own.once);
    write(() => full);
    const error = await caught(own.once.fetch(shop.url, ORDER));
    expect(error).toMatchObject({ code: 'ERR_ONCE_UNSENT', outcome: { effect: 'none', sent: 'no', reason: 'store-write' } });
    expect((await shop.ledger()).arrivals).toEqual([]);
  });
});

test('a first write that fails once, as when the connection is lost: the key is stored all the same, and the next page goes on with it', async ({ shop }) => {
  const own = client(shop, { limits: { attempts: 1 } });
  await pending(own.once);
  let fails = 1;
  write(
    (put) =>
      function (...args) {
        const request = put.apply(this, args);
        if (fails-- > 0) (this as IDBObjectStore).transaction.abort();
        return request;
      },
  );
  await shop.meets('unavailable-after-commit');
  expect(outcomeOf(await own.once.fetch(shop.url, ORDER))).toMatchObject({ effect: 'unknown', storedIn: 'disk' });
  expect(own.codes()).not.toContain('store-degraded');
  forgetMemory();
  const next = createOnce({ ...SOON, namespace: shop.namespace, store: indexedDbStore({ name: own.name }) });
  expect(outcomeOf(await next.fetch(shop.url, ORDER))).toMatchObject({ type: 'replayed' });
  await shop.oneEffect();
});

describe("durability: 'required', and a database that dies between the first and the second commit", () => {
  test.each<[string, () => void]>([
    ['it takes no more writes', () => write(() => full)],
    [
      'its connection is lost, and it cannot be opened again',
      () => {
        undo.push(
          replaceMethod(IDBDatabase, 'transaction', () => () => {
            throw new DOMException('connection lost', 'InvalidStateError');
          }),
        );
        undo.push(
          replaceMethod(IDBFactory, 'open', () => () => {
            throw new DOMException('it is broken', 'UnknownError');
          }),
        );
      },
    ],
  ])('%s: the outcome is done, and the next page finds the charge under the same key', async (_, dies) => {
    const shop = new Shop();
    const own = client(shop, { durability: 'required' });
    await shop.hold();
    const call = own.once.fetch(shop.url, ORDER);
    await shop.arrived(1);
    dies();
    await shop.release();
    expect(outcomeOf(await call)).toMatchObject({ type: 'fresh', effect: 'done' });
    expect(own.codes()).toContain('store-write');
    for (const restore of undo.splice(0).reverse()) restore();
    forgetMemory();
    const next = createOnce({ ...SOON, namespace: shop.namespace, durability: 'required', store: indexedDbStore({ name: own.name }) });
    expect(outcomeOf(await next.fetch(shop.url, ORDER))).toMatchObject({ type: 'replayed', effect: 'done' });
    await shop.oneEffect();
  });
});

test('localStorage with room for a key but not for a long request: the key is stored, and the next page continues with it', async ({ shop }) => {
  undo.push(() => localStorage.clear());
  for (let size = 1_000_000; size >= 1000; size /= 10)
    try {
      for (let n = 0; ; n++) localStorage.setItem(`${size}-${n}`, 'x'.repeat(size));
    } catch {}
  for (const n of [0, 1, 2, 3]) localStorage.removeItem(`1000-${n}`);
  const page = () => createOnce({ ...SOON, namespace: shop.namespace, store: localStorageStore(), keep: { request: true }, limits: { attempts: 1 } });
  const order = { ...ORDER, body: JSON.stringify({ note: 'x'.repeat(20_000) }) };
  await shop.meets('unavailable-after-commit');
  expect(outcomeOf(await page().fetch(shop.url, order))).toMatchObject({ effect: 'unknown' });
  forgetMemory();
  expect(outcomeOf(await page().fetch(shop.url, order))).toMatchObject({ effect: 'done' });
  await shop.oneEffect();
});

describe('a store that cannot be read', () => {
  const silent = () => undo.push(replaceMethod(IDBFactory, 'open', () => () => ({})));

  test('makes a named call fail before anything is sent, because it may have an earlier key', async ({ shop }) => {
    const own = client(shop, {}, 600);
    silent();
    const error = await caught(own.once.fetch(shop.url, ORDER));
    expect(error).toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown', sent: 'maybe' }, cause: { reason: 'blocked' } });
    expect((await shop.ledger()).arrivals).toEqual([]);
  });

  test('is read again by the next call, which finds the earlier key', async ({ shop }) => {
    const own = client(shop, {}, 3000);
    await shop.meets('lose-response');
    await caught(own.once.fetch(shop.url, { ...ORDER, once: { operation: ['pay', 1], limits: { attempts: 1 } } }));
    (await settled(indexedDB.open(own.name, 7))).close();
    silent();
    await caught(own.once.fetch(shop.url, ORDER));
    for (const restore of undo.splice(0)) restore();
    const answer = await own.once.fetch(shop.url, ORDER);
    expect(outcomeOf(answer)).toMatchObject({ type: 'replayed', resumed: true });
    expect(sends(await shop.oneEffect())).toHaveLength(2);
  });
});

describe('after the data of the site were cleared (A31)', () => {
  test('the page that sent it goes on with its key; for a page that is opened later a random key is gone: another effect, as the docs say', async ({
    shop,
    own,
  }) => {
    await shop.meets('lose-response');
    await caught(own.once.fetch(shop.url, { ...ORDER, once: { operation: ['pay', 1], limits: { attempts: 1 } } }));
    await fetch('/site/clear.html');
    await expect.poll(() => own.once.fetch(shop.url, ORDER).then(({ status }) => status, String)).toBe(201);
    expect((await shop.ledger()).effects).toHaveLength(1);
    await fetch('/site/clear.html');
    const later = await openFrame();
    const press = () =>
      later.run(
        (lib, url, namespace) =>
          lib
            .createOnce({ ...lib.SOON, namespace })
            .fetch(url, { method: 'POST', body: '{}', once: ['pay', 1] })
            .then(({ status }) => status, String),
        shop.url,
        shop.namespace,
      );
    await expect.poll(press).toBe(201);
    expect((await shop.ledger()).effects).toHaveLength(2);
  });

  test('a press that waited in another tab sends nothing, because what it waited for may have been sent; a later press has another effect, as the docs say', async ({
    shop,
  }) => {
    const [one, other] = [await openFrame(), await openFrame({ copy: 'b' })];
    const press = (frame: Frame) =>
      frame.run(
        (lib, url, namespace) =>
          lib
            .createOnce({ ...lib.SOON, namespace })
            .fetch(url, { method: 'POST', body: '{}', once: ['pay', 1] })
            .then(
              ({ status }) => status,
              (error: unknown) => lib.outcomeOf(error)?.effect,
            ),
        shop.url,
        shop.namespace,
      );
    await shop.hold();
    const first = press(one);
    await shop.arrived(1);
    const second = press(other);
    await expect.poll(() => other.run(async () => (await navigator.locks.query()).pending?.length)).toBe(1);
    await fetch('/site/clear.html');
    await shop.release();
    expect(await Promise.all([first, second])).toEqual([201, 'unknown']);
    expect((await shop.ledger()).effects).toHaveLength(1);
    expect(await press(other)).toBe(201);
    expect((await shop.ledger()).effects).toHaveLength(2);
  });

  test('a derived key is the same again: one effect', async ({ shop }) => {
    const own = client(shop, {});
    const order = { ...ORDER, once: { operation: ['pay', 1], key: derived } } as const;
    await shop.meets('lose-response');
    await caught(own.once.fetch(shop.url, { ...order, once: { ...order.once, limits: { attempts: 1 } } }));
    await fetch('/site/clear.html');
    await expect.poll(() => own.once.fetch(shop.url, order).then(({ status }) => status, String)).toBe(201);
    await shop.oneEffect();
  });
});

test.for<[string, (own: ReturnType<typeof client>) => unknown]>([
  ['is full', () => write(() => full)],
  [
    'is emptied',
    async ({ name }) => {
      const db = await settled(indexedDB.open(name));
      const stores = [...db.objectStoreNames];
      await Promise.all(stores.map((one) => settled(db.transaction(stores, 'readwrite').objectStore(one).clear())));
      db.close();
    },
  ],
])('the disk %s when the payment is done: the screen still says so when the page gets the focus', async ([, happens], { shop, own }) => {
  const screen = operation(own.once, ['pay', 1]);
  undo.push(screen.subscribe(() => {}));
  await shop.hold();
  const paid = own.once.fetch(shop.url, ORDER);
  await shop.arrived(1);
  await happens(own);
  await shop.release();
  expect((await paid).status).toBe(201);
  window.dispatchEvent(new Event('focus'));
  for (let reads = 0; reads < 5; reads++) await pending(own.once);
  expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
  await shop.oneEffect();
});
