/**
 * Goal: on an insecure origin, without Web Crypto and Web Locks, a page finds the same records, and two tabs still have
 * only one effect. Method: removes both in real frames; `test/e2e/` has a real insecure origin.
 */
import { afterEach, describe, expect } from 'vitest';
import { pending } from '../../../src/entries/index.js';
import { createOnce, insecureOrigins } from '../realm/lib.js';
import { closeRealms, type Frame, openFrame } from '../support/realms.js';
import { Shop, sends, test } from '../support/shop.js';

afterEach(() => {
  closeRealms();
  localStorage.clear();
});

async function insecure(): Promise<Frame> {
  const frame = await openFrame();
  await frame.run(() => {
    for (const [of, name] of [
      [Crypto.prototype, 'subtle'],
      [Crypto.prototype, 'randomUUID'],
      [Navigator.prototype, 'locks'],
    ] as const)
      Object.defineProperty(of, name, { value: undefined, configurable: true });
  });
  return frame;
}

const pay = ({ run }: Frame, { url, namespace }: Shop, kind: 'indexeddb' | 'localstorage' = 'indexeddb', ready = true) =>
  run(
    async (lib, url, namespace, kind, ready) => {
      const codes: string[] = [];
      const once = lib.createOnce({
        ...lib.SOON,
        use: ready ? [lib.insecureOrigins()] : [],
        namespace,
        ...(kind === 'localstorage' && { store: lib.localStorageStore({ prefix: namespace }) }),
      });
      lib.subscribe(once, (event) => event.type === 'diagnostic' && codes.push(event.code));
      try {
        const answer = await once.fetch(url, { method: 'POST', body: '{"cart":1}', once: ['pay', 1] });
        return { status: answer.status, outcome: lib.outcomeOf(answer), codes };
      } catch (error) {
        return { code: (error as { code?: string }).code ?? String(error), outcome: lib.outcomeOf(error), codes };
      }
    },
    url,
    namespace,
    kind,
    ready,
  );

describe('an origin without Web Crypto and Web Locks', () => {
  test('rejects a call at once if the client has no insecureOrigins(), and sends nothing', async ({ shop }) => {
    const told = await pay(await insecure(), shop, 'indexeddb', false);
    expect(told).toMatchObject({ code: expect.stringContaining('insecureOrigins()'), outcome: undefined });
    expect((await shop.ledger()).arrivals).toHaveLength(0);
  });

  test('pays, and reports once that tabs do not wait for each other', async ({ shop }) => {
    const told = await pay(await insecure(), shop);
    expect(told).toMatchObject({ status: 201, outcome: { type: 'fresh', storedIn: 'disk' }, codes: ['insecure-origin'] });
    await shop.oneEffect();
  });

  test('finds what a secure page stored, because the digests are the same', async ({ shop }) => {
    const secure = await openFrame();
    expect(await pay(secure, shop)).toMatchObject({ status: 201, codes: [] });
    expect(await pay(await insecure(), shop)).toMatchObject({ code: 'ERR_ONCE_ALREADY_SETTLED', outcome: { effect: 'done' } });
    expect(sends(await shop.oneEffect())).toHaveLength(1);
  });

  test.each(['indexeddb', 'localstorage'] as const)('makes one effect when two tabs pay at once, over %s (A22)', async (kind) => {
    const shop = new Shop();
    const frames = await Promise.all([insecure(), insecure()]);
    const told = await Promise.all(frames.map((frame) => pay(frame, shop, kind)));
    // One of the two calls may end as unknown, but neither as none.
    expect(told.map(({ outcome }) => outcome?.effect)).not.toContain('none');
    expect(told.map(({ outcome }) => outcome?.effect)).toContain('done');
    await shop.oneEffect();
  });

  test('makes one effect in each of ten races between two tabs over localStorage', async () => {
    const frames = await Promise.all([insecure(), insecure()]);
    for (let n = 0; n < 10; n++) {
      const shop = new Shop();
      await Promise.all(frames.map((frame) => pay(frame, shop, 'localstorage')));
      await shop.oneEffect();
    }
  });

  test('does not disturb a client in the secure page beside it', async ({ shop }) => {
    await pay(await insecure(), shop);
    expect(await pending(createOnce({ use: [insecureOrigins()], namespace: shop.namespace }))).toEqual([]);
  });
});
