/** Checks of a store whose server is restarted, cut off or killed during writes: no acknowledged write is lost, none happens twice. */
import { expect, vi } from 'vitest';
import type { Store } from '../../src/ports.js';
import { countOf, put, raise, record } from './stored.js';

const COUNTERS = 24;

/**
 * Raises counters before, during and after `restart`: an update that resolved counted once, one that rejected at most once. `mayLose`: the
 * server may lose acknowledged updates, but still counts none twice.
 */
export async function counts(store: Store, restart: () => Promise<unknown>, { mayLose = false } = {}): Promise<void> {
  const tally = Array.from({ length: COUNTERS }, () => ({ resolved: 0, rejected: 0, after: 0 }));
  let phase: 'before' | 'after' | 'over' = 'before';
  const lanes = tally.map(async (mine, n) => {
    while (phase !== 'over') {
      const began = phase;
      await store
        .update(`c${n}`, (now) => ({ next: record(`c${n}`, { count: countOf(now) + 1 }), value: 0 }))
        .then(
          () => {
            mine.resolved++;
            if (began === 'after') mine.after++;
          },
          () => mine.rejected++,
        );
    }
  });
  await vi.waitFor(() => expect(Math.min(...tally.map(({ resolved }) => resolved))).toBeGreaterThan(5), { timeout: 20_000 });
  await restart();
  phase = 'after';
  await vi.waitFor(() => expect(Math.min(...tally.map(({ after }) => after))).toBeGreaterThan(5), { timeout: 20_000 });
  phase = 'over';
  await Promise.all(lanes);
  for (const [n, { resolved, rejected }] of tally.entries()) {
    const count = countOf(await store.read(`c${n}`));
    if (!mayLose) expect(count).toBeGreaterThanOrEqual(resolved);
    expect(count).toBeLessThanOrEqual(resolved + rejected);
  }
}

/**
 * Raises one counter through all `stores` while `cut` breaks their connections again and again: an update that resolved counted once, one
 * that rejected at most once.
 */
export async function countsWhileCut(stores: readonly Store[], updates: number, cut: () => Promise<unknown>, pauseMs: (n: number) => number): Promise<void> {
  const [store] = stores as readonly [Store];
  await put(store, 'n');
  let [resolved, rejected] = [0, 0];
  let cutting = true;
  const cuts = (async () => {
    for (let n = 0; cutting; n++) {
      await cut();
      // Waits until at least one update gets through between two cuts, however busy the machine is.
      const before = resolved;
      do await new Promise((done) => setTimeout(done, pauseMs(n)));
      while (cutting && resolved === before);
    }
  })();
  const write = async (one: Store): Promise<void> => {
    for (let n = 0; n < updates / stores.length; n++) {
      await raise(one).then(
        () => resolved++,
        () => rejected++,
      );
    }
  };
  await Promise.all(stores.map(write));
  cutting = false;
  await cuts;
  const count = countOf(await vi.waitFor(() => store.read('n'), { timeout: 20_000 }));
  expect(resolved).toBeGreaterThan(20);
  expect(count).toBeGreaterThanOrEqual(resolved);
  expect(count).toBeLessThanOrEqual(resolved + rejected);
}

/** Stores one record after the other until `kill` stops the server. Returns the ids of the acknowledged records, and the error that ended the writes. */
export async function storesUntilKilled(store: Store, kill: () => unknown): Promise<{ readonly stored: readonly string[]; readonly fault: unknown }> {
  const stored: string[] = [];
  const writing = (async () => {
    for (let n = 0; ; n++) {
      await put(store, `k${n}`);
      stored.push(`k${n}`);
    }
  })().catch((fault: unknown) => fault);
  await vi.waitFor(() => expect(stored.length).toBeGreaterThan(50), { timeout: 20_000 });
  await kill();
  return { fault: await writing, stored };
}
