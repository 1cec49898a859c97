/**
 * Goal: two versions of the package drive each other's operations on one store, forwards in a deployment and backwards in a roll-back, and keep
 * what the newer one has stored. Method: the newer version is this one with a higher version of records and one more field in each; real
 * processes, killed before and after the charge, on a real SQLite file, against a real HTTP server that honours keys.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';
import { type Child, script } from '../../support/child.js';

const ROOT = join(import.meta.dirname, '../../..');
const NOVEL = { deep: [1] };
type Build = 'present' | 'newer';

const folder = mkdtempSync(join(tmpdir(), 'oncefetch-builds-'));
const path = join(folder, 'once.db');
const builds = {} as Record<Build, ReturnType<typeof script>>;

/** Charges each key once. Of each cart, the first request gets no answer: it arrives before the charge, or after it. */
const charges: string[] = [];
const arrived: string[] = [];
let heard = (): void => {};
const server = createServer(async (request, response) => {
  const key = String(request.headers['idempotency-key']);
  const { cart } = JSON.parse((await request.toArray()).join('')) as { cart: string };
  const isFirst = !arrived.includes(cart);
  arrived.push(cart);
  if (isFirst && cart.startsWith('before')) return heard();
  const replayed = charges.includes(key);
  if (!replayed) charges.push(key);
  if (isFirst) return heard();
  response.writeHead(201, { 'content-type': 'application/json', 'idempotent-replayed': String(replayed) }).end('{}');
});

/** The sources with a change that a later version may make. */
function newerSources(): string {
  const root = join(folder, 'newer');
  const worker = 'test/node/run/two-builds-worker.ts';
  mkdirSync(join(root, 'test/node/run'), { recursive: true });
  for (const part of ['src', worker]) cpSync(join(ROOT, part), join(root, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const file = join(root, 'src/core/record.ts');
  const text = readFileSync(file, 'utf8');
  const changed = text
    .replace('RECORD_VERSION = 1;', 'RECORD_VERSION = 2;')
    .replace('Object.freeze({ ...record, sum', `Object.freeze({ novel: ${JSON.stringify(NOVEL)}, ...record, sum`);
  expect([changed.includes('= 2;'), changed.includes('novel')]).toEqual([true, true]);
  writeFileSync(file, changed);
  return join(root, worker);
}

const start = (build: Build, cart: string): Child => builds[build].start([path, `http://127.0.0.1:${(server.address() as AddressInfo).port}/payments`, cart]);

/** A process that is killed while it waits for the answer. */
async function killed(build: Build, cart: string): Promise<void> {
  const request = new Promise<void>((resolve) => void (heard = resolve));
  const child = start(build, cart);
  await request;
  child.process.kill('SIGKILL');
  await child.ended;
}

async function pressed(build: Build, cart: string): Promise<unknown> {
  const child = start(build, cart);
  const told = await child.line((line) => line.startsWith('{'));
  await child.ended;
  return JSON.parse(told);
}

beforeAll(async () => {
  builds.present = script(join(import.meta.dirname, 'two-builds-worker.ts'));
  builds.newer = script(newerSources());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  for (const build of Object.values(builds)) build.remove();
  rmSync(folder, { recursive: true });
});

test.each<[Build, Build]>([
  ['present', 'newer'],
  ['newer', 'present'],
])('what the %s version has left open, the %s one ends under its key, and the first one remembers that', async (first, second) => {
  for (const when of ['before', 'after']) {
    const cart = `${when} ${first}`;
    const made = charges.length;
    await killed(first, cart);
    const ended = await pressed(second, cart);
    expect(ended).toMatchObject({ effect: 'done', resumed: true });
    expect(await pressed(first, cart)).toMatchObject({ effect: 'done', key: (ended as { key: string }).key });
    expect([charges.length - made, arrived.filter((one) => one === cart).length]).toEqual([1, 2]);
  }
  const store = sqliteStore({ path });
  const { records } = await store.scan({ before: Number.MAX_SAFE_INTEGER, limit: 10 });
  await store.close();
  const ofFirst = (records as { label: string; v: number; novel?: unknown }[]).filter(({ label }) => label.includes(first));
  const kept = { v: first === 'newer' ? 2 : 1, novel: NOVEL };
  expect(ofFirst.map(({ v, novel }) => ({ v, novel }))).toEqual([kept, kept]);
});
