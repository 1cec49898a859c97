/**
 * Goal: what a call costs, as far as it can be counted: one store commit between the call and the first byte, a relaxed commit before the answer, nothing
 * listed, nothing left behind. Method: stores and a transport that note their calls in one list.
 */
import { getEventListeners } from 'node:events';
import fs, { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { registry } from '../../src/engine/registry.js';
import { StopSource } from '../../src/engine/stop-signal.js';
import { close, createOnce, run, unnamed } from '../../src/entries/index.js';
import { createOn } from '../../src/once.js';
import { nodePlatform } from '../../src/platform/node/index.js';
import type { Locks } from '../../src/ports.js';
import { memoryStore } from '../../src/stores/memory.js';
import { canFlush } from '../../src/stores/sqlite/flush.js';
import { type SqliteDatabase, sqliteStore } from '../../src/stores/sqlite/sqlite.js';
import { made } from '../support/made.js';
import { aRecord } from '../support/record.js';
import { answers, lost, replays } from '../support/server.js';
import { pay, test } from '../support/world.js';
import { watchedDatabase, watchedStore } from './watched.js';

const URL_ = 'https://shop.example/api/payments';
const CALLS = 5000;
const MINUTE = 60_000;
const RETRY = { minDelayMs: 0, maxDelayMs: 1 } as const;

/** A client whose transport and store write into one list. */
function client(make: (steps: string[]) => ReturnType<typeof memoryStore>, answer = () => new Response('{"id":"ch_1"}', { status: 201 })) {
  const steps: string[] = [];
  const fetch = async () => {
    steps.push('first byte');
    return answer();
  };
  return { steps, once: createOnce({ use: [unnamed()], namespace: 'ann', store: make(steps), fetch, retry: RETRY }) };
}

const post = (name: readonly [string, number], more: RequestInit = {}) => ({ method: 'POST', body: '{"amount":10}', once: name, ...more }) as const;

/** The steps of one named call, up to its answer. It is not the first call of its client, which opens the store and sweeps. */
async function steps(of: ReturnType<typeof client>): Promise<readonly string[]> {
  await of.once.fetch(URL_, post(['pay', 1]));
  await new Promise((done) => setTimeout(done, 0));
  of.steps.length = 0;
  await of.once.fetch(URL_, post(['pay', 2]));
  return [...of.steps];
}

const inMemory = () => client((noted) => watchedStore(memoryStore(), noted));

function inSqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-cost-'));
  const made = client((noted) => {
    for (const name of ['fdatasync', 'fdatasyncSync'] as const) {
      const flush = fs[name] as (...how: unknown[]) => unknown;
      vi.spyOn(fs, name).mockImplementation((...how: unknown[]) => {
        noted.push('flush');
        return flush(...how);
      });
    }
    return sqliteStore({ path: join(folder, 'once.db'), Database: watchedDatabase(DatabaseSync as unknown as new (path: string) => SqliteDatabase, noted) });
  });
  onTestFinished(async () => {
    await close(made.once);
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true, force: true });
  });
  return made;
}

describe('a named call', () => {
  test('commits once before the first byte and once, relaxed, before the answer', async () => {
    expect(await steps(inMemory())).toEqual(['commit strict', 'first byte', 'commit relaxed']);
  });

  test('is two transactions of one read and one write in SQLite, only the first of them flushed', async () => {
    const transaction = ['BEGIN IMMEDIATE', 'get', 'write', 'COMMIT'];
    // The store itself flushes, or SQLite does.
    const flushed = canFlush() ? [...transaction, 'flush'] : ['PRAGMA synchronous = 2', ...transaction];
    const relaxed = canFlush() ? transaction : ['PRAGMA synchronous = 1', ...transaction];
    expect(await steps(inSqlite())).toEqual([...flushed, 'first byte', ...relaxed]);
  });

  test('that is one of many at once in SQLite shares its two transactions with them', async () => {
    const { steps: noted, once } = inSqlite();
    await once.fetch(URL_, post(['pay', 1]));
    await new Promise((done) => setTimeout(done, 0));
    noted.length = 0;
    await Promise.all(Array.from({ length: 64 }, (_, n) => once.fetch(URL_, post(['pay', n + 2]))));
    expect(noted.filter((step) => step === 'COMMIT').length).toBeLessThanOrEqual(4);
    expect(noted.filter((step) => step === 'write')).toHaveLength(128);
  });

  test('that is joined by another click commits once for both', async () => {
    const { steps: noted, once } = inMemory();
    await once.fetch(URL_, post(['pay', 1]));
    noted.length = 0;
    await Promise.all([once.fetch(URL_, post(['pay', 2])), once.fetch(URL_, post(['pay', 2]))]);
    expect(noted).toEqual(['commit strict', 'first byte', 'commit relaxed']);
  });

  test('writes nothing more for a second attempt: it reads the record once, during the wait', async () => {
    let attempt = 0;
    const of = client(
      (noted) => watchedStore(memoryStore(), noted),
      () => new Response('', { status: attempt++ ? 201 : 503 }),
    );
    await of.once.fetch(URL_, post(['pay', 1]));
    expect(of.steps).toEqual(['commit strict', 'first byte', 'read', 'first byte', 'commit relaxed', 'sweep']);
  });

  test('inside of a function of `run` asks the store nothing about that run, as long as nobody can have taken it over', async () => {
    const { steps: noted, once } = inMemory();
    await once.fetch(URL_, post(['pay', 1]));
    await run(once, ['message', 1], async () => {
      noted.length = 0;
      await once.fetch(URL_, post(['pay', 2]));
      expect(noted).toEqual(['commit strict', 'first byte', 'commit relaxed']);
    });
  });

  test('of a name that is done already costs one commit that writes nothing', async () => {
    const { steps: noted, once } = inMemory();
    await once.fetch(URL_, post(['pay', 1]));
    noted.length = 0;
    await once.fetch(URL_, post(['pay', 1]));
    expect(noted).toEqual(['commit strict']);
  });
});

/** A client whose platform notes locks and digests, in the order of their ends. */
function lockedClient() {
  const steps: string[] = [];
  const node = nodePlatform();
  const locks: Locks = {
    async acquire() {
      steps.push('lock asked for');
      return () => void steps.push('lock given back');
    },
  };
  const digest = async (data: string | Uint8Array) => {
    const made = await node.digest(data);
    await new Promise((done) => setTimeout(done, 0));
    steps.push('digest');
    return made;
  };
  const fetch = async () => {
    steps.push('first byte');
    return new Response('{"id":"ch_1"}', { status: 201 });
  };
  return {
    steps,
    once: createOn({ ...node, locks, digest, server: false }, { namespace: 'ann', store: memoryStore(), fetch, origins: ['https://shop.example'] }),
  };
}

describe('a named call where contexts share locks', () => {
  test('asks for its lock while it digests, and digests a namespace once', async () => {
    const { steps: noted, once } = lockedClient();
    await once.fetch(URL_, post(['pay', 1]));
    expect(noted).toEqual(['lock asked for', 'digest', 'digest', 'digest', 'digest', 'first byte', 'lock given back']);
    noted.length = 0;
    await once.fetch(URL_, post(['pay', 2]));
    expect(noted).toEqual(['lock asked for', 'digest', 'digest', 'digest', 'first byte', 'lock given back']);
  });

  test('releases the lock if its body cannot be read', async () => {
    const { steps: noted, once } = lockedClient();
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('cut')) });
    await expect(once.fetch(URL_, post(['pay', 1], { body }))).rejects.toThrow();
    await new Promise((done) => setTimeout(done, 5));
    expect(noted.filter((step) => /lock/.test(step))).toEqual(['lock asked for', 'lock given back']);
  });
});

describe('the sweep', () => {
  test('comes with one settled operation in a hundred while there is something to remove, and never before the first byte', async () => {
    const store = memoryStore();
    const due = (n: number) => aRecord({ state: 'retired', id: made(`old ${n}`), label: made(`["old",${n}]`), forgetAt: n });
    for (let n = 0; n < 400; n++) await store.update(`old ${n}`, () => ({ next: due(n), value: undefined }));
    const { steps: noted, once } = client((steps) => watchedStore(store, steps));
    for (let n = 0; n < 201; n++) await once.fetch(URL_, post(['pay', n]));
    expect(noted.filter((step) => step === 'sweep')).toHaveLength(2);
    expect((await store.scan({ before: 1000, limit: 1 })).records).toEqual([]);
    expect(noted.filter((step) => step === 'list')).toEqual([]);
    for (const [at, step] of noted.entries()) if (step === 'sweep') expect(noted[at - 1]).toBe('commit relaxed');
  });

  test('with nothing to remove rests for a minute, even if the clock is set back', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { steps: noted, once } = inMemory();
    const sweepsOf = async (calls: number) => {
      noted.length = 0;
      for (let n = 0; n < calls; n++) await once.fetch(URL_, post(['pay', Math.random()]));
      return noted.filter((step) => step === 'sweep').length;
    };
    expect(await sweepsOf(150)).toBe(1);
    vi.setSystemTime(Date.now() + MINUTE);
    expect(await sweepsOf(200)).toBe(1);
    vi.setSystemTime(Date.now() - 2 * MINUTE);
    expect(await sweepsOf(200)).toBe(1);
  });
});

describe('a call without a name', () => {
  test('also commits twice, and on a server does not search for a lost call', async () => {
    const { steps: noted, once } = inMemory();
    await once.fetch(URL_, post(['pay', 1]));
    noted.length = 0;
    await once.fetch(URL_, { method: 'POST', body: '{}' });
    expect(noted).toEqual(['commit relaxed', 'first byte', 'commit relaxed']);
  });

  test('whose method is idempotent touches no store', async () => {
    const { steps: noted, once } = inMemory();
    await once.fetch(URL_);
    await once.fetch(URL_, { method: 'PUT', body: '{}' });
    expect(noted).toEqual(['first byte', 'first byte']);
  });
});

/** How many listeners were added to the end of a client or a call, and how many of these are still there. */
function watchedEnds() {
  const began = vi.spyOn(StopSource.prototype, 'addEventListener');
  const ended = vi.spyOn(StopSource.prototype, 'removeEventListener');
  onTestFinished(() => void vi.restoreAllMocks());
  const endOf = ([, end]: readonly [string, () => void]) => end;
  return {
    began: () => began.mock.calls.length,
    left: () => {
      const over = new Set(ended.mock.calls.map(endOf));
      return began.mock.calls.map(endOf).filter((end) => !over.has(end)).length;
    },
  };
}

describe('what is left behind', () => {
  test('by a tab, after answers of every kind: no timer and no lock', async ({ world, tab, once }) => {
    await world.end(tab, pay(once), answers(201), answers(402), lost(), replays());
    await world.end(tab, once.fetch(URL_, post(['pay', 2])));
    await world.end(tab, once.fetch(URL_, post(['pay', 3])));
    expect(world.clock.pending).toBe(0);
    expect(world.locks.names).toEqual([]);
  });

  test('on the signal of a caller that keeps it: no listener', async () => {
    const { once } = inMemory();
    const { signal } = new AbortController();
    for (let n = 0; n < 10; n++) await once.fetch(URL_, post(['pay', n], { signal }));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test(
    `after ${CALLS} operations: no timer, no handle, and tables within their limits`,
    async () => {
      const { steps: noted, once } = inMemory();
      const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout' || kind === 'Immediate').length;
      const before = timers();
      const ends = watchedEnds();
      for (let n = 0; n < CALLS; n += 100) {
        await Promise.all(Array.from({ length: 100 }, (_, more) => once.fetch(URL_, post(['pay', n + more])).then((answer) => answer.text())));
        noted.length = 0;
      }
      await new Promise((done) => setTimeout(done, 0));
      expect(timers()).toBeLessThanOrEqual(before);
      expect(ends.began()).toBeGreaterThanOrEqual(CALLS);
      expect(ends.left()).toBe(0);
      const { flights, payloads, degraded, latest, answers: kept, states, budgets, noticed, ignored } = registry();
      expect({ flights: flights.size, payloads: payloads.size, degraded: degraded.size, latest: latest.size }).toEqual({
        flights: 0,
        payloads: 0,
        degraded: 0,
        latest: 0,
      });
      expect(kept.size).toBeLessThanOrEqual(32);
      expect(states.size).toBeLessThanOrEqual(500);
      expect(budgets.size + noticed.size + ignored.size).toBeLessThanOrEqual(10);
    },
    MINUTE,
  );
});
