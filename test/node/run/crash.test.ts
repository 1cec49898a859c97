/**
 * Goal: an effect whose process dies in the middle runs again with the same keys, and a process that is asked to end lets
 * it end, within a bound. Method: real processes, SIGKILL and SIGTERM, a real HTTP server that honours keys and counts.
 */
import { expect, test } from 'vitest';
import { close, createOnce, pending } from '../../../src/entries/node.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';
import { Consumers } from './consumers.js';

const consumers = new Consumers();

const running = (line: string) => line.startsWith('running');
const facts = (line: string) => JSON.parse(line.slice('running '.length)) as { key: string; resumed: boolean; ambiguous: boolean };

test('A24: killed in mid-effect, it runs again elsewhere under the same keys, and knows that it is the second time', async () => {
  const first = await consumers.charging('crash');
  first.process.kill('SIGKILL');
  expect(await first.ended).toBe('SIGKILL');
  const second = consumers.start();
  expect(await second.ended).toBe(0);
  const [before, after] = [facts(first.lines.find(running) as string), facts(second.lines.find(running) as string)];
  expect(before).toMatchObject({ resumed: false, ambiguous: false });
  expect(after).toMatchObject({ key: before.key, resumed: true, ambiguous: true });
  expect(second.lines.at(-1)).toBe('receipt ch_1 true');
  expect([consumers.charges.size, consumers.asked.length, new Set(consumers.asked).size]).toEqual([1, 2, 1]);
  // A third one has nothing to run; what it is told is parsed.
  const third = consumers.start();
  expect(await third.ended).toBe(0);
  expect(third.lines).toEqual(['receipt ch_1 true']);
});

test('A32: paused until another one took over, and woken, it settles nothing over that one, and its caller still gets what is in its hand', async () => {
  const first = await consumers.charging('brief');
  first.process.kill('SIGSTOP');
  const second = consumers.start();
  expect(await second.ended).toBe(0);
  expect(second.lines.at(-1)).toBe('receipt ch_1 true');
  const store = sqliteStore({ path: consumers.path });
  const settled = (await store.scan({ before: Number.MAX_SAFE_INTEGER, limit: 10 })).records;
  first.process.kill('SIGCONT');
  expect(await first.line((line) => /^(receipt|end)/.test(line))).toBe('receipt ch_1 true');
  expect(settled).toMatchObject([{ state: 'settled', key: facts(second.lines.find(running) as string).key }]);
  expect((await store.scan({ before: Number.MAX_SAFE_INTEGER, limit: 10 })).records).toEqual(settled);
  await store.close();
  expect([consumers.charges.size, new Set(consumers.asked).size]).toEqual([1, 1]);
  first.process.kill('SIGKILL');
});

test('SIGTERM: the effect under way ends, its end is stored, and then the process ends', async () => {
  const child = await consumers.charging('slow');
  child.process.kill('SIGTERM');
  expect(await child.ended).toBe(0);
  expect(child.lines.find((line) => line.startsWith('closed'))).toBeDefined();
  const again = consumers.start();
  expect(await again.ended).toBe(0);
  expect(again.lines).toEqual(['receipt ch_1 true']);
  expect(consumers.asked).toHaveLength(1);
});

test('SIGTERM: an effect that does not end is given up at the bound of its attempt, stays pending, and can be taken up at once', async () => {
  const child = await consumers.charging('deaf');
  child.process.kill('SIGTERM');
  expect(await child.ended).toBe(0);
  const closed = child.lines.find((line) => line.startsWith('closed')) as string;
  expect(Number(closed.slice('closed '.length))).toBeLessThan(3000);
  const store = sqliteStore({ path: consumers.path });
  const once = createOnce({ namespace: 'billing', store });
  expect(await pending(once)).toMatchObject([{ name: ['message', 'm-1'], sent: 'maybe' }]);
  const start = performance.now();
  const again = consumers.start();
  expect(await again.ended).toBe(0);
  // Its lease was given back.
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(again.lines.at(-1)).toBe('receipt ch_1 true');
  expect([consumers.charges.size, new Set(consumers.asked).size]).toEqual([1, 1]);
  expect(await pending(once)).toEqual([]);
  await close(once);
});
