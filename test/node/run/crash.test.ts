/**
 * Goal: an effect whose process dies in the middle runs again under the same keys. A process that is asked to exit lets its effect end, within
 * a time limit. Method: real processes, SIGKILL and SIGTERM, a real HTTP server that honours keys and counts charges.
 */
import { expect, test } from 'vitest';
import { close, createOnce, pending } from '../../../src/entries/node.js';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite.js';
import { Consumers } from './consumers.js';

const consumers = new Consumers();

const running = (line: string) => line.startsWith('running');
const facts = (line: string) => JSON.parse(line.slice('running '.length)) as { key: string; resumed: boolean; ambiguous: boolean };

test('A24: an effect whose process is killed runs again in another process under the same keys, and learns that it is resumed', async () => {
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
  // A third process runs nothing, and gets the stored result, parsed by the schema.
  const third = consumers.start();
  expect(await third.ended).toBe(0);
  expect(third.lines).toEqual(['receipt ch_1 true']);
});

test('A32: a paused process that wakes after another one took over does not overwrite the stored end, and its caller still gets its own result', async () => {
  const first = await consumers.charging('brief');
  consumers.pause(first);
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

test('a process that is paused before it charges by name, until another one was told that the card was declined: it charges no more, and the next delivery does', async () => {
  consumers.declines = true;
  const first = consumers.start('card');
  await first.line((line) => line === 'ready');
  consumers.pause(first);
  const second = consumers.start('card');
  expect(await second.ended).toBe(0);
  expect(second.lines.at(-1)).toBe('end rejected');
  consumers.declines = false;
  first.process.kill('SIGCONT');
  expect(await first.ended).toBe(0);
  expect(first.lines.at(-1)).toBe('end unknown');
  expect([consumers.charges.size, consumers.asked.length]).toEqual([0, 1]);
  const third = consumers.start('card');
  expect(await third.ended).toBe(0);
  expect(third.lines.at(-1)).toBe('end fresh');
  expect(consumers.charges.size).toBe(1);
});

test('SIGTERM: the running effect ends, its end is stored, and then the process exits', async () => {
  const child = await consumers.charging('slow');
  child.process.kill('SIGTERM');
  expect(await child.ended).toBe(0);
  expect(child.lines.find((line) => line.startsWith('closed'))).toBeDefined();
  const again = consumers.start();
  expect(await again.ended).toBe(0);
  expect(again.lines).toEqual(['receipt ch_1 true']);
  expect(consumers.asked).toHaveLength(1);
});

test('SIGTERM: an effect that does not end is aborted when its attempt times out, stays pending, and can be resumed at once', async () => {
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
  // At once, because the first process has released its lease.
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(again.lines.at(-1)).toBe('receipt ch_1 true');
  expect([consumers.charges.size, new Set(consumers.asked).size]).toEqual([1, 1]);
  expect(await pending(once)).toEqual([]);
  await close(once);
});
