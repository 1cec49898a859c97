/**
 * Goal: the records in a runtime's store outlive the service, undamaged. Method: runs the store contract inside the
 * runtime; kills a service between the charge and its answer, and starts it again. The tests mostly wait for leases, so
 * the runtimes run concurrently.
 */
import { describe, expect, test } from 'vitest';
import { folder, withStore } from './support/present.js';
import { startShop } from './support/shop.js';

type Ends = (end: () => void | Promise<void>) => void;

function folderOf(ends: Ends): string {
  const { path, remove } = folder();
  ends(remove);
  return path;
}

describe.each(withStore)('$name', { concurrent: true }, ({ start }) => {
  test('the store keeps its contract inside the runtime', async ({ expect, onTestFinished }) => {
    const service = await start(folderOf(onTestFinished));
    onTestFinished(() => service.kill());
    const { ran, failed, left } = await service.contract();
    expect(failed).toEqual([]);
    expect(ran.length).toBeGreaterThan(20);
    expect(left).toEqual([expect.stringContaining('costs the same')]);
  });

  test('after a restart between the charge and its answer, the operation continues under the same key', async ({ expect, onTestFinished }) => {
    const [shop, home] = [await startShop(), folderOf(onTestFinished)];
    onTestFinished(() => shop.close());
    const first = await start(home);
    const cut = first.pay({ at: shop.at('held'), cart: 'c1' }).catch(() => undefined);
    await shop.charged(1);
    await first.kill();
    await cut;
    const second = await start(home);
    onTestFinished(() => second.kill());
    const told = await second.pay({ at: shop.at('held'), cart: 'c1' });
    expect(told).toMatchObject({ outcome: { type: 'replayed', effect: 'done', resumed: true }, status: 201, body: '{"charge":0}' });
    expect(shop.charges).toEqual([told.outcome?.key]);
  });
});

test('on CI, at least one runtime with a store is installed', () => expect(withStore.length > 0 || !process.env['CI']).toBe(true));
