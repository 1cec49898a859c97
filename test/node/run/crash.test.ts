/**
 * Goal: an effect whose process dies in the middle runs again with the same keys, and a process that is asked to end lets
 * it end, within a bound. Method: real processes, SIGKILL and SIGTERM, a real HTTP server that honours keys and counts.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { close, createOnce, pending } from '../../../src/entries/node.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';
import { script } from '../../support/child.js';

const folder = mkdtempSync(join(tmpdir(), 'oncefetch-run-'));
const charges = new Map<string, string>();
/** Keys as they came, repeats included. */
let asked: string[] = [];
let provider: Server;
let url = '';
let worker: ReturnType<typeof script>;
let files = 0;
let path = '';

beforeAll(async () => {
  provider = createServer((request, response) => {
    const key = String(request.headers['idempotency-key']);
    asked.push(key);
    if (!charges.has(key)) charges.set(key, `ch_${charges.size + 1}`);
    response.end(JSON.stringify({ id: charges.get(key) }));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  worker = script(join(import.meta.dirname, 'consumer.ts'));
});
beforeEach(() => {
  charges.clear();
  asked = [];
  path = join(folder, `${files++}.db`);
});
afterAll(() => {
  provider.close();
  worker.remove();
  rmSync(folder, { recursive: true, force: true });
});

const running = (line: string) => line.startsWith('running');
const facts = (line: string) => JSON.parse(line.slice('running '.length)) as { key: string; resumed: boolean; ambiguous: boolean };

test('A24: killed in mid-effect, it runs again elsewhere under the same keys, and knows that it is the second time', async () => {
  const first = worker.start([path, url, 'crash']);
  await first.line((line) => line === 'charged');
  first.process.kill('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  const second = worker.start([path, url]);
  expect(await second.ended).toBe(0);
  const [before, after] = [facts(first.lines.find(running) as string), facts(second.lines.find(running) as string)];
  expect(before).toMatchObject({ resumed: false, ambiguous: false });
  expect(after).toMatchObject({ key: before.key, resumed: true, ambiguous: true });
  expect(second.lines.at(-1)).toBe('receipt ch_1 true');
  expect([charges.size, asked.length, new Set(asked).size]).toEqual([1, 2, 1]);
  // A third one has nothing to run; what it is told is parsed.
  const third = worker.start([path, url]);
  expect(await third.ended).toBe(0);
  expect(third.lines).toEqual(['receipt ch_1 true']);
});

test('A32: paused until another one took over, and woken, it settles nothing over that one, and its caller still gets what is in its hand', async () => {
  const first = worker.start([path, url, 'slow']);
  await first.line((line) => line === 'charged');
  first.process.kill('SIGSTOP');
  const second = worker.start([path, url]);
  expect(await second.ended).toBe(0);
  expect(second.lines.at(-1)).toBe('receipt ch_1 true');
  const store = sqliteStore({ path });
  const settled = (await store.scan({ before: Number.MAX_SAFE_INTEGER, limit: 10 })).records;
  first.process.kill('SIGCONT');
  expect(await first.line((line) => /^(receipt|end)/.test(line))).toBe('receipt ch_1 true');
  expect(settled).toMatchObject([{ state: 'settled', key: facts(second.lines.find(running) as string).key }]);
  expect((await store.scan({ before: Number.MAX_SAFE_INTEGER, limit: 10 })).records).toEqual(settled);
  await store.close();
  expect([charges.size, new Set(asked).size]).toEqual([1, 1]);
  first.process.kill('SIGKILL');
});

test('SIGTERM: the effect under way ends, its end is stored, and then the process ends', async () => {
  const child = worker.start([path, url, 'slow']);
  await child.line((line) => line === 'charged');
  child.process.kill('SIGTERM');
  expect(await child.ended).toBe(0);
  expect(child.lines.find((line) => line.startsWith('closed'))).toBeDefined();
  const again = worker.start([path, url]);
  expect(await again.ended).toBe(0);
  expect(again.lines).toEqual(['receipt ch_1 true']);
  expect(asked).toHaveLength(1);
});

test('SIGTERM: an effect that does not end is given up at the bound of its attempt, stays pending, and can be taken up at once', async () => {
  const child = worker.start([path, url, 'deaf']);
  await child.line((line) => line === 'charged');
  child.process.kill('SIGTERM');
  expect(await child.ended).toBe(0);
  const closed = child.lines.find((line) => line.startsWith('closed')) as string;
  expect(Number(closed.slice('closed '.length))).toBeLessThan(3000);
  const store = sqliteStore({ path });
  const once = createOnce({ namespace: 'billing', store });
  expect(await pending(once)).toMatchObject([{ name: ['message', 'm-1'], sent: 'maybe' }]);
  const start = performance.now();
  const again = worker.start([path, url]);
  expect(await again.ended).toBe(0);
  // Its lease was given back.
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(again.lines.at(-1)).toBe('receipt ch_1 true');
  expect([charges.size, new Set(asked).size]).toEqual([1, 1]);
  expect(await pending(once)).toEqual([]);
  await close(once);
});
