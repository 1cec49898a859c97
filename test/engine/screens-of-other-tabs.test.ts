/**
 * Goal: no screen goes on saying "not paid" while another tab pays. Method: two tabs that hear each other, as pages of one origin do.
 */
import { describe, expect, test } from 'vitest';
import { clear, move, type OnceOptions, operation, pending, watch } from '../../src/entries/index.js';
import type { Once } from '../../src/once.js';
import type { ScanQuery, Tabs } from '../../src/ports.js';
import { answers, charged, delayed, lost } from '../support/server.js';
import { NAME, newWorld, ONE, pay, rest, SECOND } from '../support/world.js';

/** Tabs of one world, each of which hears all the others. */
function scene(options: OnceOptions = {}) {
  const world = newWorld();
  const looks = new Map<object, Set<() => void>>();
  const open = () => {
    const tab = world.tab();
    const own = new Set<() => void>();
    looks.set(tab, own);
    const tabs: Tabs = {
      tell: () => {
        for (const [of, all] of looks) if (of !== tab) for (const look of all) look();
      },
      listen: (look) => {
        own.add(look);
        return () => own.delete(look);
      },
    };
    Object.assign(tab.platform, { tabs });
    return { tab, once: tab.once(options) };
  };
  return { world, one: open(), two: open() };
}

test('a call that ends unknown makes its own screen read the store, and not every other one', async () => {
  const { world, one } = scene();
  const names = ['c1', 'c2', 'c3', 'c4'].map((cart) => ['pay', cart] as const);
  for (const name of names) operation(one.once, name).subscribe(() => {});
  await rest();
  let reads = 0;
  const { read } = one.tab.store;
  Object.assign(one.tab.store, {
    read: (id: never) => {
      reads++;
      return read(id);
    },
  });
  await world.end(one.tab, pay(one.once, ONE), lost());
  await rest();
  expect(reads).toBeLessThanOrEqual(2);
});

describe('while another tab sends', () => {
  test('what this one was refused before is not on its screen any more, and the end comes', async () => {
    const { world, one, two } = scene();
    const screen = operation(one.once, NAME);
    screen.subscribe(() => {});
    await world.end(one.tab, pay(one.once), answers(402, { code: 'card_declined' }));
    expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'none' } });
    world.server.plays(delayed(5 * SECOND, charged(answers(201))));
    const paying = pay(two.once);
    await rest();
    expect(screen.state).toMatchObject({ phase: 'unsettled', pending: { sent: 'maybe' } });
    await world.end(two.tab, paying);
    await rest();
    expect(screen.state).toMatchObject({ phase: 'settled', outcome: { effect: 'done' } });
  });

  test('who watches is called at its begin and at its end, and sees it in between', async () => {
    const { world, one, two } = scene();
    const seen: boolean[][] = [];
    watch(one.once, async () => seen.push((await pending(one.once)).map(({ sent }) => sent === 'maybe')));
    world.server.plays(delayed(5 * SECOND, charged(answers(201))));
    const paying = pay(two.once);
    await rest();
    expect(seen).toEqual([[true]]);
    await world.end(two.tab, paying);
    await rest();
    expect(seen).toEqual([[true], []]);
  });
});

describe('what is stored changes, and its page learns no more of it', () => {
  test("a log-out with unsettled: 'forget' during a call: after its end, the screen shows that nothing is stored", async () => {
    const { world, one } = scene();
    const screen = operation(one.once, NAME);
    screen.subscribe(() => {});
    world.server.plays(delayed(5 * SECOND, charged(lost())));
    const paying = pay(one.once, ONE);
    await rest();
    await world.run(clear(one.once, { unsettled: 'forget' }));
    expect((await world.end(one.tab, paying)).outcome).toMatchObject({ effect: 'unknown' });
    await rest();
    expect(world.records).toEqual([]);
    expect(screen.state).toEqual({ phase: 'idle' });
  });

  test.each([
    ['clear', (once: Once) => clear(once, { unsettled: 'forget' }), 'settled'],
    ['move', (once: Once) => move(once, 'guest'), 'retired'],
  ] as const)('%s that fails in the middle: other tabs look all the same', async (_, change, failing) => {
    const { world, one, two } = scene({ namespace: 'ann' });
    await world.end(one.tab, pay(one.once, ONE), charged(lost()));
    const seen: number[] = [];
    await world.run(pending(two.once));
    watch(two.once, async () => seen.push((await pending(two.once)).length));
    const { scan } = one.tab.store;
    Object.assign(one.tab.store, {
      scan: (query: ScanQuery) => ('state' in query && query.state === failing ? Promise.reject(new Error('down')) : scan(query)),
    });
    await expect(world.run<unknown>(change(one.once))).rejects.toThrow('down');
    await rest();
    expect(seen).toHaveLength(1);
  });
});
