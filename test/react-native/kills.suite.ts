/**
 * Goal: an app that is killed at any moment and opened again has charged once, and its customer knows. Method: kills
 * the app before and after every call to the disk and the network, the only things that it awaits besides timers, then
 * launches it again on the disk that is left.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openShop } from './realm/shop.js';
import { type Disk, disk, environments, launch } from './support.js';

let shop: Awaited<ReturnType<typeof openShop>>;
beforeAll(async () => void (shop = await openShop()));
afterAll(() => shop.close());

const STORAGES = ['AsyncStorage', 'kvStore', 'mmkv'] as const;
type What = 'pay' | 'resume' | 'agree' | 'task';

/** Every storage in the newest environments; in the others only AsyncStorage, which promises least. */
const worlds = environments.flatMap((environment) =>
  STORAGES.filter((storage) => storage === 'AsyncStorage' || (environment.os === 'ios' && ['0.88', 'expo-57'].includes(environment.app))).map((storage) => ({
    environment,
    storage,
    name: `${environment.name}, ${storage}`,
  })),
);

describe.each(worlds)('killed in $name', ({ environment, storage, name }) => {
  const prefix = encodeURIComponent(`killed ${name}`);
  /** One launch of the app. Without `killAt` it ends by itself. */
  const live = async (what: What, pairs: Disk, id: string, killAt?: number) => {
    const app = launch(environment, pairs, killAt);
    const end = await Promise.race([app.killed, app.play(app.global.launch[what], { base: shop.base, id, storage })]);
    app.close();
    return { end, steps: app.steps() };
  };
  const expectOne = async (pairs: Disk, id: string, at: number) => {
    const { end } = await live('resume', pairs, id);
    const { charges, keys } = shop.saw(id);
    expect({ at, charges, keys: keys.size, end }).toMatchObject({ at, charges: 1, keys: 1, end: { again: { effect: 'done' }, left: 0 } });
  };

  test('at every step of a payment: one charge, one key, and the customer knows', async () => {
    const { end, steps } = await live('pay', disk(), `${prefix}-whole`);
    expect(end).toMatchObject({ effect: 'done', attempts: 2 });
    // kvStore needs only one call for each update.
    expect(steps).toBeGreaterThan(storage === 'kvStore' ? 8 : 10);
    for (let at = 1; at <= steps; at++) {
      const [pairs, id] = [disk(), `${prefix}-${at}`];
      expect((await live('pay', pairs, id, at)).end).toBe('killed');
      await expectOne(pairs, id, at);
    }
  });

  test('at every step of a payment that may go on by itself: a background task ends it, even after a task that was killed', async () => {
    const { steps } = await live('agree', disk(), `${prefix}-agreed`);
    let ended = 0;
    for (let at = 1; at <= steps; at++) {
      const [pairs, id] = [disk(), `${prefix}-agreed-${at}`];
      expect((await live('agree', pairs, id, at)).end).toBe('killed');
      const stored = pairs.size > 0;
      await live('task', pairs, id, 1 + (at % 6));
      const { end } = await live('task', pairs, id);
      // A payment that was stored with the customer's consent is charged before anybody opens the app again.
      expect({ at, stored, end, charges: shop.saw(id).charges }).toMatchObject({ end: { open: 0 }, charges: stored ? 1 : 0 });
      if (stored) ended++;
      await expectOne(pairs, id, at);
    }
    expect(ended).toBeGreaterThan(3);
  });

  test('and launched again on an empty disk there are two charges, so these tests would see a second charge', async () => {
    const id = `${prefix}-forgotten`;
    const { steps } = await live('pay', disk(), `${prefix}-measured`);
    expect((await live('pay', disk(), id, steps)).end).toBe('killed');
    await live('resume', disk(), id);
    const { charges, keys } = shop.saw(id);
    expect({ charges, keys: keys.size }).toEqual({ charges: 2, keys: 2 });
  });

  test('and again at every step after the relaunch: one charge, one key, and the customer knows', async () => {
    // Kills the app at the first step at which the server has charged. The answer is lost.
    const charged = async (id: string) => {
      for (let at = 1; ; at++) {
        const pairs = disk();
        await live('pay', pairs, `${id}-${at}`, at);
        if (shop.saw(`${id}-${at}`).charges > 0) return { pairs, id: `${id}-${at}` };
      }
    };
    const whole = await charged(`${prefix}-resumed`);
    const { steps } = await live('resume', new Map(whole.pairs), whole.id);
    const left = [...whole.pairs];
    for (let at = 1; at <= steps; at++) {
      const pairs = new Map(left);
      expect((await live('resume', pairs, whole.id, at)).end).toBe('killed');
      await expectOne(pairs, whole.id, at);
    }
  });
});
