/**
 * Goal: a browser may take the Web Lock of a tab away in the middle of an attempt, as WebKit does to a page that enters
 * the back-forward cache. If another tab meanwhile logs out, logs in or resumes, there is still one effect, each
 * outcome is true, and no lock is left over. Method: the test steals the lock while the answer is held.
 */
import { afterEach, expect } from 'vitest';
import { clear, pending, resume } from '../../../src/entries/index.js';
import { createOnce, SOON } from '../realm/lib.js';
import { closeRealms, openFrame, type RealmError } from '../support/realms.js';
import { type Shop, sends, test } from '../support/shop.js';

afterEach(closeRealms);

/**
 * A frame whose request is on its way and whose lock was stolen. `localStorage` holds its namespace, and `told` is the
 * result of its call.
 */
async function stolenFrom(shop: Shop, before: () => Promise<unknown> = async () => {}) {
  localStorage.setItem('who', shop.namespace);
  const frame = await openFrame();
  await shop.hold();
  const told = frame.run(async (lib, url) => {
    const namespace = () => localStorage.getItem('who') ?? 'nobody';
    const once = lib.createOnce({ ...lib.SOON, namespace, keep: { request: true } });
    try {
      const answer = await once.fetch(url, { method: 'POST', body: '{}', once: ['pay', 1] });
      return { status: answer.status, outcome: lib.outcomeOf(answer) };
    } catch (error) {
      return { code: (error as RealmError).code ?? String(error), outcome: lib.outcomeOf(error) };
    }
  }, shop.url);
  const [first] = await shop.arrived(1);
  await before();
  return { told, name: await shop.stealLock(), key: first?.key };
}

const mine = ({ namespace }: Shop) => createOnce({ ...SOON, namespace, keep: { request: true } });

test('another tab logs out: the caller gets the answer, and the next press gets the same effect', async ({ shop }) => {
  const { told, name, key } = await stolenFrom(shop);
  await expect.poll(() => shop.locks()).toContain(name);
  const once = mine(shop);
  expect((await clear(once)).kept).toMatchObject([{ name: ['pay', 1], key }]);
  await shop.release();
  expect(await told).toMatchObject({ status: 201, outcome: { type: 'fresh', key } });
  await expect.poll(() => shop.locks()).toEqual([]);
  expect(await pending(once)).toMatchObject([{ key, inFlight: false }]);
  expect((await once.fetch(shop.url, { method: 'POST', body: '{}', once: ['pay', 1] })).status).toBe(201);
  await shop.oneEffect();
});

test("another user logs in: the next press of the same name is this user's own call, and does not wait for that lock", async ({ shop }) => {
  const { told, name, key } = await stolenFrom(shop);
  await expect.poll(() => shop.locks()).toContain(name);
  localStorage.setItem('who', `${shop.namespace}-2`);
  const theirs = createOnce({ ...SOON, namespace: `${shop.namespace}-2` }).fetch(shop.url, { method: 'POST', body: '{}', once: ['pay', 1] });
  await shop.arrived(2);
  await shop.release();
  expect([(await told).outcome, (await theirs).status]).toMatchObject([{ effect: 'done', key }, 201]);
  await expect.poll(() => shop.locks()).toEqual([]);
  expect((await shop.ledger()).effects).toHaveLength(2);
});

test('resume, which was waiting for that lock, gets it and sends the same key', async ({ shop }) => {
  const told: unknown[] = [];
  let resuming: Promise<void> | undefined;
  const { told: first, key } = await stolenFrom(shop, async () => {
    resuming = (async () => {
      for await (const { outcome } of resume(mine(shop))) told.push(outcome);
    })();
    await expect.poll(() => shop.locks('pending')).toHaveLength(1);
  });
  const arrivals = await shop.arrived(2);
  expect(new Set(arrivals.map((one) => one.key))).toEqual(new Set([key]));
  await shop.release();
  expect((await first).outcome).toMatchObject({ effect: 'done', key });
  await resuming;
  expect(told).toMatchObject([{ effect: 'done', key }]);
  await expect.poll(() => shop.locks()).toEqual([]);
  expect(sends(await shop.oneEffect())).toHaveLength(2);
});
