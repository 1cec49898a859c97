/**
 * Goal: processes that share a file lose none of each other's updates, and a kill loses no record that its process was told is stored.
 * Method: real processes, started at one signal and killed with SIGKILL.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';
import { script } from '../../support/child.js';

const folder = mkdtempSync(join(tmpdir(), 'oncefetch-processes-'));
let worker: ReturnType<typeof script>;
beforeAll(() => void (worker = script(join(import.meta.dirname, 'sqlite-worker.ts'))));
afterAll(() => {
  worker.remove();
  rmSync(folder, { recursive: true, force: true });
});

const PROCESSES = 4;
const KILLS = 20;

/** Starts several processes, and sends them to work at once when all are ready. */
async function together(path: string, task: string, count: number) {
  const children = Array.from({ length: PROCESSES }, (_, n) => worker.start([path, task, `p${n}`, String(count)]));
  await Promise.all(children.map((child) => child.line((line) => line === 'ready')));
  for (const child of children) child.say('go');
  return children;
}

test('A22: four processes that update one record at once, in a file that does not exist yet, lose no update', { timeout: 60_000 }, async () => {
  const path = join(folder, 'raise.db');
  const children = await together(path, 'raise', 150);
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
  const store = sqliteStore({ path });
  expect(await store.read('counter')).toMatchObject({ count: 150 * PROCESSES });
  await store.close();
});

test('A22: if four processes claim the same names at once, one process gets each name, and its key is stored', { timeout: 60_000 }, async () => {
  const path = join(folder, 'claim.db');
  const children = await together(path, 'claim', 300);
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
  const won = children.map(({ lines }) => JSON.parse(lines[1] ?? '[]') as string[]);
  expect(won.flat().sort()).toEqual(Array.from({ length: 300 }, (_, n) => `op-${n}`).sort());
  const store = sqliteStore({ path });
  for (const [n, ids] of won.entries()) for (const id of ids) expect(await store.read(id)).toMatchObject({ key: `p${n}-${id.slice(3)}` });
  await store.close();
});

test(`A34: every record that a process was told is stored is there after a kill in the middle of writes, ${KILLS} times`, { timeout: 120_000 }, async () => {
  const path = join(folder, 'kill.db');
  let told = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const child = worker.start([path, 'write', `k${kill}`]);
    await child.line((line) => line === 'ready');
    child.say('go');
    await child.line((line) => line === `stored k${kill}-${kill % 3}`);
    await new Promise((done) => setTimeout(done, (kill * 7) % 40));
    child.process.kill('SIGKILL');
    expect(await child.ended).toBe('SIGKILL');
    const store = sqliteStore({ path });
    for (const line of child.lines.slice(1)) {
      told++;
      expect(await store.read(line.slice('stored '.length)), line).toBeDefined();
    }
    await store.close();
  }
  expect(told).toBeGreaterThan(KILLS);
  const database = new DatabaseSync(path);
  expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  database.close();
});
