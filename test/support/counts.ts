/** Counters that are raised in a store while something is done to its server, and what must be in them afterwards. */
import { expect, vi } from 'vitest';
import type { Store } from '../../src/ports.js';
import { countOf, record } from './stored.js';

const COUNTERS = 24;

/**
 * Raises counters before, while and after `restart`: what resolved was counted once, what was rejected at most once. `mayLose`: the server may
 * lose what it has acknowledged; then nothing is counted twice all the same.
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
