/**
 * Goal: if the SQLite file is removed or replaced while a function given to `run` is running, the caller is told what the function did, and this
 * process runs nothing a second time, although the new file has none of its records. Method: a real file; the function itself removes or replaces it.
 */
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, test as anyTest, describe, expect } from 'vitest';
import { clear, outcomeOf, pending, run } from '../../../src/entries/index.js';
import { createOnce } from '../../../src/entries/node.js';
import { sqliteStore } from '../../../src/entries/sqlite.js';

const folder = mkdtempSync(join(tmpdir(), 'oncefetch-replaced-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const test = anyTest
  .extend('path', () => join(folder, `${files++}.db`))
  .extend('store', async ({ path }, { onCleanup }) => {
    const store = sqliteStore({ path });
    onCleanup(() => store.close());
    return store;
  })
  .extend('once', ({ store }) => createOnce({ store, retry: { minDelayMs: 1, maxDelayMs: 2 } }));

/** What an operator may do to the file. */
const WAYS: Readonly<Record<string, (path: string) => void>> = {
  removed: (path) => {
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
  },
  'replaced by a copy of before': (path) => {
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
  },
};

describe.each(Object.entries(WAYS))('the file is %s', (_, replaces) => {
  test('the caller gets the result of the function, and later calls run nothing', async ({ path, once }) => {
    let runs = 0;
    const pays = () => {
      replaces(path);
      return ++runs;
    };
    expect(await run(once, ['pay', 1], pays)).toBe(1);
    for (const name of [1, 2])
      await expect(run(once, ['pay', name], pays)).rejects.toMatchObject({ code: 'ERR_ONCE_STORE', outcome: { effect: 'unknown', reason: 'store' } });
    expect(runs).toBe(1);
  });

  test('a function that throws, and may have paid, is not called again, and its outcome is unknown', async ({ path, once }) => {
    let runs = 0;
    const pays = () => {
      runs++;
      replaces(path);
      throw new Error('socket hang up');
    };
    const error = await run(once, ['pay', 1], pays).catch((thrown: unknown) => thrown);
    expect(outcomeOf(error)).toMatchObject({ effect: 'unknown', reason: 'store', attempts: 1 });
    expect(runs).toBe(1);
    for (const looks of [pending(once), clear(once)]) await expect(looks).rejects.toMatchObject({ reason: 'io' });
  });
});
