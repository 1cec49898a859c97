/**
 * Goal: other processes on the machine can take over the operation of a killed process at once, but not that of a
 * paused process. Method: real processes on one SQLite file, SIGKILL and SIGSTOP, a real HTTP server that honours keys
 * and counts charges. A process that will be killed has a lease of an hour, so a test in which another process waited
 * for that lease would time out.
 */
import { readdirSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { close, createOnce, pending, run, settle } from '../../../src/entries/index.js';
import type { Store } from '../../../src/ports.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';
import { Consumers } from './consumers.js';

const consumers = new Consumers();
const NAME = ['message', 'm-1'] as const;

async function crashed(task: 'crash' | 'cut' = 'crash'): Promise<void> {
  const first = await consumers.charging(task);
  first.process.kill('SIGKILL');
  await first.ended;
}

test('after a kill, the next process continues at once, under the same key', async () => {
  await crashed();
  const second = consumers.start();
  expect(await second.ended).toBe(0);
  expect(second.lines.at(-1)).toBe('receipt ch_1 true');
  expect(consumers.charges.size).toBe(1);
});

test('a process that is already waiting for the operation continues when the driver dies', async () => {
  const first = await consumers.charging('crash');
  const second = consumers.start();
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect(second.lines).toEqual([]);
  first.process.kill('SIGKILL');
  expect(await second.ended).toBe(0);
  expect(consumers.charges.size).toBe(1);
});

test.each<[string, (folder: string) => readonly string[]]>([
  ['everything', () => ['--allow-fs-read=*', '--allow-fs-write=*']],
  // Then /proc tells nothing about other processes, and only the locks of their files do.
  ['the folder of the file', (folder) => [`--allow-fs-read=${tmpdir()}`, `--allow-fs-write=${folder}`]],
])('with --permission for %s: one process is killed, and the one that waits continues at once, under the same key', async (_, allowed) => {
  consumers.flags = ['--permission', ...allowed(dirname(consumers.path))];
  const first = await consumers.charging('crash');
  const second = consumers.start();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(second.lines).toEqual([]);
  first.process.kill('SIGKILL');
  expect(await second.ended).toBe(0);
  expect(second.lines.at(-1)).toBe('receipt ch_1 true');
  const third = consumers.start();
  expect(await third.ended).toBe(0);
  expect(third.lines).toEqual(['receipt ch_1 true']);
  expect([consumers.charges.size, consumers.asked.length, new Set(consumers.asked).size]).toEqual([1, 2, 1]);
});

test('the operation of a killed process can be settled by hand at once, also through a database that the app hands in', async () => {
  await crashed();
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const database = new DatabaseSync(consumers.path);
  const once = createOnce({ namespace: 'billing', store: sqliteStore({ database }) });
  await settle(once, [...NAME], 'done');
  expect(await pending(once)).toEqual([]);
  await close(once);
  database.close();
});

test('the last attempt of a killed process may still be on its way: for a while nobody can settle it as none, however often they try', async () => {
  await crashed('cut');
  const once = createOnce({ namespace: 'billing', store: sqliteStore({ path: consumers.path }), limits: { attemptMs: 3000 } });
  const none = () => settle(once, [...NAME], 'none').then(() => 'settled');
  for (let turn = 0; turn < 2; turn++) await expect(none()).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  // The time counts from the moment when the process was found to be gone.
  await vi.waitFor(async () => expect(await none()).toBe('settled'), { timeout: 10_000, interval: 500 });
  await close(once);
});

test('a paused process keeps its operation: nobody can settle it or take it over while the lease lasts', async () => {
  const first = await consumers.charging('slow');
  consumers.pause(first);
  const once = createOnce({ namespace: 'billing', store: sqliteStore({ path: consumers.path }) });
  await expect(settle(once, [...NAME], 'none')).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  await expect(run(once, [...NAME], () => 0, { whenBusy: 'reject' })).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  first.process.kill('SIGCONT');
  expect(await first.line((line) => /^(receipt|end)/.test(line))).toBe('receipt ch_1 true');
  first.process.kill('SIGKILL');
  await close(once);
});

test.runIf(process.platform === 'linux')('a process that has copied its store’s folder, which releases its file locks, still keeps its operation', async () => {
  const first = await consumers.charging('copy');
  const once = createOnce({ namespace: 'billing', store: sqliteStore({ path: consumers.path }) });
  await expect(settle(once, [...NAME], 'none')).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  await expect(run(once, [...NAME], () => 0, { whenBusy: 'reject' })).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  first.process.kill('SIGKILL');
  await first.ended;
  await settle(once, [...NAME], 'done');
  await close(once);
});

test('a process that died days after its start is still recognised as dead, and its file is removed later', async () => {
  await crashed();
  const holders = `${consumers.path}-holders`;
  const [file = ''] = readdirSync(holders);
  const hours = (n: number) => new Date(Date.now() - n * 3_600_000);
  utimesSync(join(holders, file), hours(100), hours(100));
  const stores: Store[] = [];
  const open = async () => {
    const store = sqliteStore({ path: consumers.path });
    await store.holder?.();
    stores.push(store);
    return store;
  };
  // A store tidies the folder when it opens.
  await open();
  expect(readdirSync(holders)).toContain(`${file}.gone`);
  const store = await open();
  expect(await store.isGone?.(file)).toBe(true);
  for (const [name, gone] of [
    [(await store.holder?.()) ?? '', false],
    ['../../etc/passwd', false],
    ['00000000-0000-4000-8000-000000000000', false],
  ] as const)
    expect(await store.isGone?.(name), name).toBe(gone);
  utimesSync(join(holders, `${file}.gone`), hours(2), hours(2));
  await open();
  expect(readdirSync(holders)).toHaveLength(3);
  for (const one of stores) await one.close();
  expect(readdirSync(holders)).toEqual([]);
});
