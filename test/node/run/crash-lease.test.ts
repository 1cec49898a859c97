/**
 * Goal: what a killed process drove is free at once for others on its machine, and what a paused one drives is not. Method: real
 * processes on one SQLite file, SIGKILL and SIGSTOP, a real HTTP server that honours keys and counts. Whoever is killed has a lease of an
 * hour, so that no test ends in its time where others wait for that.
 */
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { close, createOnce, pending, run, settle } from '../../../src/entries/index.js';
import type { Store } from '../../../src/ports.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';
import { Consumers } from './consumers.js';

const consumers = new Consumers();
const NAME = ['message', 'm-1'] as const;

async function crashed(): Promise<void> {
  const first = await consumers.charging('crash');
  first.process.kill('SIGKILL');
  await first.ended;
}

test('the next process goes on at once, under the same key', async () => {
  await crashed();
  const second = consumers.start();
  expect(await second.ended).toBe(0);
  expect(second.lines.at(-1)).toBe('receipt ch_1 true');
  expect(consumers.charges.size).toBe(1);
});

test('a process that waits for it already goes on when it dies', async () => {
  const first = await consumers.charging('crash');
  const second = consumers.start();
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect(second.lines).toEqual([]);
  first.process.kill('SIGKILL');
  expect(await second.ended).toBe(0);
  expect(consumers.charges.size).toBe(1);
});

test('it can be settled by hand at once, on a database that is handed in as well', async () => {
  await crashed();
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const database = new DatabaseSync(consumers.path);
  const once = createOnce({ namespace: 'billing', store: sqliteStore({ database }) });
  await settle(once, [...NAME], 'done');
  expect(await pending(once)).toEqual([]);
  await close(once);
  database.close();
});

test('a process that is paused keeps it: nobody settles it, and nobody takes it over before its lease is over', async () => {
  const first = await consumers.charging('slow');
  first.process.kill('SIGSTOP');
  const once = createOnce({ namespace: 'billing', store: sqliteStore({ path: consumers.path }) });
  await expect(settle(once, [...NAME], 'none')).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  await expect(run(once, [...NAME], () => 0, { whenBusy: 'reject' })).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  first.process.kill('SIGCONT');
  expect(await first.line((line) => /^(receipt|end)/.test(line))).toBe('receipt ch_1 true');
  first.process.kill('SIGKILL');
  await close(once);
});

test.runIf(process.platform === 'linux')('a process that has copied the folder of its store, which ends its locks, keeps it as well', async () => {
  const first = await consumers.charging('copy');
  const once = createOnce({ namespace: 'billing', store: sqliteStore({ path: consumers.path }) });
  await expect(settle(once, [...NAME], 'none')).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  await expect(run(once, [...NAME], () => 0, { whenBusy: 'reject' })).rejects.toMatchObject({ code: 'ERR_ONCE_BUSY' });
  first.process.kill('SIGKILL');
  await first.ended;
  await settle(once, [...NAME], 'done');
  await close(once);
});

test('long after it was started, the dead one is still known as such, and then its file goes', async () => {
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
  // It tidies when it starts.
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
