/**
 * Goal: a call inside the function of its own name rejects at once, instead of waiting for itself until its time limit. Method: the real
 * Node, whose async context tells where a call was made.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createOnce, type Once, run } from '../../src/entries/index.js';
import { memoryStore } from '../../src/stores/memory.js';

const NAME = ['charge', 'o-1'] as const;
const open = () => createOnce({ namespace: `nesting-${Math.random()}`, store: memoryStore(), limits: { attempts: 1 } });
const turn = () => new Promise((done) => setTimeout(done, 5));
const codeOf = (work: Promise<unknown>) => work.then(String, (error: { code?: string }) => error.code);

test.each([
  ['24.0.0', true],
  ['22.21.1', false],
])('Node %s tells where a call was made: %s; in older versions, finding out would slow every promise down', async (node, tells) => {
  vi.stubGlobal('process', Object.create(process, { versions: { value: { ...process.versions, node } } }));
  vi.resetModules();
  onTestFinished(() => void vi.unstubAllGlobals());
  const { nesting } = await import('../../src/platform/node/nesting.js');
  expect(nesting !== undefined).toBe(tells);
});

test('an edge function of Next.js, whose process has no versions, can load the package', async () => {
  vi.stubGlobal('process', Object.create(process, { versions: { value: undefined } }));
  vi.resetModules();
  onTestFinished(() => void vi.unstubAllGlobals());
  await expect(import('../../src/entries/index.js')).resolves.toHaveProperty('createOnce');
});

test.each<[string, (once: Once) => Promise<unknown>]>([
  ['run', (once) => run(once, NAME, () => 'inner')],
  ['fetch', (once) => once.fetch('http://shop.example/', { method: 'POST', once: [...NAME] })],
  [
    'run in the function of another name',
    (once) => run(once, ['other'], () => run(once, NAME, () => 'inner'), { verdict: (end) => ('error' in end ? 'rejected' : undefined) }),
  ],
])('%s under the name of the running function: ERR_ONCE_BUSY, and the function goes on', async (_, inner) => {
  const once = open();
  let code: unknown;
  const outer = await run(once, NAME, async () => {
    await turn();
    code = await codeOf(inner(once));
    return 'outer';
  });
  expect([outer, code]).toEqual(['outer', 'ERR_ONCE_BUSY']);
});

test('a nested call through another copy of the package, such as CommonJS beside ES modules, is rejected in the same way', async () => {
  const options = { namespace: 'two copies', store: memoryStore(), limits: { attempts: 1 } };
  const once = createOnce(options);
  vi.resetModules();
  const copy = await import('../../src/entries/index.js');
  const other = copy.createOnce(options);
  const codes: unknown[] = [];
  expect(await run(once, NAME, async () => codes.push(await codeOf(copy.run(other, NAME, () => 'inner'))))).toBe(1);
  expect(await copy.run(other, ['other'], async () => codes.push(await codeOf(run(once, ['other'], () => 'inner'))))).toBe(2);
  expect(codes).toEqual(['ERR_ONCE_BUSY', 'ERR_ONCE_BUSY']);
});

test('a call outside the function waits for its end, also a call inside the function of another name', async () => {
  const once = open();
  const outer = run(once, NAME, () => turn().then(() => 'outer'));
  const again = () => run(once, NAME, () => 'again');
  expect(await Promise.all([outer, again(), run(once, ['other'], again)])).toEqual(['outer', 'outer', 'outer']);
});

test('a call that the function has left running gets the stored result', async () => {
  const once = open();
  let later: Promise<unknown> = Promise.resolve();
  await run(once, NAME, () => {
    later = turn().then(() => run(once, NAME, () => 'again'));
    return 'outer';
  });
  expect(await later).toBe('outer');
});

test('a call that the function has left running waits for another call of the name, as any call does', async () => {
  const once = open();
  let later: Promise<unknown> = Promise.resolve();
  const always = { repeat: 'always' } as const;
  await run(once, NAME, () => void (later = turn().then(() => run(once, NAME, () => 'left behind', always))), always);
  const second = run(
    once,
    NAME,
    () =>
      turn()
        .then(turn)
        .then(() => 'second'),
    always,
  );
  expect(await Promise.all([second, later])).toEqual(['second', 'second']);
});

test('what a function has left open, such as a connection, does not keep its call in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const connect = () => setInterval(() => {}, 60_000);
  let connection: ReturnType<typeof connect> | undefined;
  const charge = async () => {
    const order = { id: 'o-1' };
    await run(open(), NAME, () => {
      connection = connect();
      return order.id;
    });
    return new WeakRef(order);
  };
  const held = await charge();
  onTestFinished(() => clearInterval(connection));
  for (let round = 0; round < 5; round++) {
    await turn();
    collect();
  }
  expect(held.deref()).toBeUndefined();
});

test('a job that starts itself again before it ends does not keep its earlier runs', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { nesting } = await import('../../src/platform/node/nesting.js');
  const earlier: WeakRef<object>[] = [];
  const storage = (globalThis as unknown as Record<symbol, { getStore(): object }>)[Symbol.for('oncefetch.nesting')] as { getStore(): object };
  let end = () => {};
  const start = (round: number): Promise<void> =>
    nesting?.run({ operation: `job-${round}`, calls: new Map(), overtaken: async () => false }, async () => {
      earlier.push(new WeakRef(storage.getStore()));
      await turn();
      if (round === 4) return new Promise<void>((done) => void (end = done));
      void start(round + 1);
    }) as Promise<void>;
  await start(0);
  for (let round = 0; round < 6; round++) {
    await turn();
    collect();
  }
  // The one that started the last one had not ended then.
  expect(earlier.map((ref) => ref.deref() !== undefined)).toEqual([false, false, false, true, true]);
  end();
});
