/**
 * Goal: after a restart no kind of operation waits for the backlog of another kind, each operation is resumed once, and few are held in memory. Method: a page
 * leaves many behind; the next page resumes one at a time, and the order is compared.
 */
import { describe, expect, test } from 'vitest';
import { type OperationName, pending } from '../../src/entries/index.js';
import type { ScanQuery, Store } from '../../src/ports.js';
import { charged, lost, replays } from '../support/server.js';
import { newWorld, pay, resumed } from '../support/world.js';

const LEFT = { limits: { attempts: 1 }, keep: { request: true } } as const;
const many = (kind: string | number, count: number): OperationName[] => Array.from({ length: count }, (_, n) => [kind, n]);

/** The names in the order in which they were resumed, and the scans that this took. */
async function turnsOf(left: readonly OperationName[], prefix?: OperationName) {
  const world = newWorld();
  const options = { namespace: 'ann', ...LEFT };
  const { tab, once } = world.open(options);
  for (const operation of left) await world.end(tab, pay(once, { operation }), charged(lost()));
  world.server.otherwise = replays();
  const next = tab.reload();
  const scans: ScanQuery[] = [];
  const store: Store = {
    ...next.store,
    scan(query) {
      if (!('before' in query)) scans.push(query);
      return next.store.scan(query);
    },
  };
  const again = next.once({ ...options, store });
  const order = (await world.run(resumed(again, { concurrency: 1, prefix }))).map(({ name }) => name);
  const looks = [...scans];
  expect(await world.run(pending(again, prefix ? { prefix } : {}))).toEqual([]);
  return { order, scans: looks };
}

const sorted = (names: readonly OperationName[]): string[] => names.map((name) => JSON.stringify(name)).sort();

describe('resume', () => {
  test('a backlog of one kind does not hold up the others', async () => {
    const left = [...many('import', 130), ...many('pay', 3), ...many('refund', 70)];
    const { order } = await turnsOf(left);
    expect(sorted(order)).toEqual(sorted(left));
    expect(order.slice(0, 9).map(([kind]) => kind)).toEqual(['import', 'pay', 'refund', 'import', 'pay', 'refund', 'import', 'pay', 'refund']);
    expect(order.slice(9, 20).filter(([kind]) => kind === 'refund').length).toBeGreaterThanOrEqual(5);
  });

  test('scans for a few at a time, and no more often than pages are needed', async () => {
    const { order, scans } = await turnsOf([...many('import', 230), ...many('pay', 60)]);
    expect(order).toHaveLength(290);
    expect(Math.max(...scans.map(({ limit }) => limit))).toBe(100);
    expect(scans.length).toBeLessThanOrEqual(7);
  });

  test('if there are more kinds than take turns at once, they come after one another', async () => {
    const left = Array.from({ length: 12 }, (_, kind) => many(`kind ${kind}`, 15)).flat();
    const { order } = await turnsOf(left);
    expect(sorted(order)).toEqual(sorted(left));
    const early = order.slice(0, 64).map(([kind]) => kind);
    expect(Math.max(...early.map((kind) => early.filter((one) => one === kind).length))).toBeLessThanOrEqual(8);
  });

  test('names without a common kind, names of one part, and numbers that begin alike are all resumed, once', async () => {
    const left: OperationName[] = [...many('a', 105), ['a'], ['ab'], [4], [42], ...many(4, 102), ...many(42, 3), [4n, 1], ['\uffff', 1], ['"', 1], ['z']];
    const { order } = await turnsOf(left);
    const text = (names: readonly OperationName[]) => names.map((name) => name.map((part) => `${typeof part} ${part}`).join(', ')).sort();
    expect(text(order)).toEqual(text(left));
  });

  test('below a prefix, the next part of the name takes turns', async () => {
    const left = [...many('a', 2), ...[1, 2].flatMap((shop) => Array.from({ length: 103 }, (_, n) => ['pay', `shop ${shop}`, n])), ['pay']];
    const { order } = await turnsOf(left, ['pay']);
    expect(sorted(order)).toEqual(sorted(left.slice(2)));
    expect(order.slice(0, 4).map((name) => name[1])).toEqual(['shop 1', 'shop 2', undefined, 'shop 1']);
  });
});
