/** Goal: attempts that share a request each get their own answer, and a slow or failed one holds up none of the others. Method: requests that the test ends. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Batches, type Ends } from '../../src/stores/batches.js';
import type { Answer, Attempt } from '../../src/stores/compare-and-set.js';

const attempt = (id: string, text = ''): Attempt => ({ id, text, expected: undefined, now: 0, offMs: 0, next: undefined, rev: '', durability: 'strict' });
const answer = (now: number): Answer => ({ done: true, now, seen: undefined });

interface Request {
  readonly ids: readonly string[];
  end(ends: Ends): void;
  fail(error: Error): void;
}

function setup() {
  const requests: Request[] = [];
  const batches = new Batches((attempts) => new Promise<Ends>((end, fail) => void requests.push({ ids: attempts.map(({ id }) => id), end, fail })));
  const ask = (...ids: string[]) => ids.map((id) => batches.attempt(attempt(id)));
  const turn = () => new Promise((done) => setImmediate(done));
  return { requests, batches, ask, turn };
}
// Fake timers, so that no request takes long enough to let others pass, however slow the machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('the attempts of one turn go out in one request, in their order, and each gets its own answer', async () => {
  const { requests, ask, turn } = setup();
  const asked = ask('c', 'a', 'b');
  await turn();
  expect(requests.map(({ ids }) => ids)).toEqual([['c', 'a', 'b']]);
  requests[0]?.end([answer(1), Promise.reject(new Error('its own')), answer(3)]);
  expect(await Promise.allSettled(asked)).toEqual([
    { status: 'fulfilled', value: answer(1) },
    { status: 'rejected', reason: new Error('its own') },
    { status: 'fulfilled', value: answer(3) },
  ]);
});

test('at most two requests are in flight, and attempts that come meanwhile go with the next one', async () => {
  const { requests, ask, turn } = setup();
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    void ask(id);
    await turn();
  }
  expect(requests.map(({ ids }) => ids)).toEqual([['a'], ['b']]);
  requests[1]?.end([answer(0)]);
  await turn();
  expect(requests.map(({ ids }) => ids)).toEqual([['a'], ['b'], ['c', 'd', 'e']]);
});

test('unanswered requests hold up later ones for a tenth of a second, and the late end of such a request counts only once', async () => {
  const { requests, ask, turn } = setup();
  for (const id of ['a', 'b', 'c']) {
    void ask(id);
    await turn();
  }
  await vi.advanceTimersByTimeAsync(99);
  expect(requests).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(requests.map(({ ids }) => ids)).toEqual([['a'], ['b'], ['c']]);
  for (const request of requests) request.end([answer(0)]);
  await turn();
  for (const id of ['d', 'e', 'f']) {
    void ask(id);
    await turn();
  }
  expect(requests.slice(3).map(({ ids }) => ids)).toEqual([['d'], ['e']]);
});

test('an attempt whose end takes longer holds up neither the others of its request nor the next request', async () => {
  const { requests, ask, turn } = setup();
  const [, quick] = ask('slow', 'quick');
  await turn();
  void ask('second');
  await turn();
  requests[0]?.end([new Promise<Answer>(() => {}), answer(2)]);
  expect(await quick).toEqual(answer(2));
  void ask('next');
  await turn();
  expect(requests.at(-1)?.ids).toEqual(['next']);
});

test('a request that fails rejects each of its attempts, and no other attempt', async () => {
  const { requests, ask, turn } = setup();
  const first = ask('a', 'b');
  await turn();
  const second = ask('c');
  await turn();
  requests[0]?.fail(new Error('broken'));
  requests[1]?.end([answer(0)]);
  expect((await Promise.allSettled([...first, ...second])).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

test('an attempt about which the answer says nothing rejects', async () => {
  const { requests, ask, turn } = setup();
  const asked = ask('a', 'b');
  await turn();
  requests[0]?.end([answer(0)]);
  expect(await asked[0]).toEqual(answer(0));
  await expect(asked[1]).rejects.toThrow('gave no result');
});

test('a request has at most one attempt for a record, and the attempts of a record keep their order', async () => {
  const { requests, ask, turn } = setup();
  void ask('a', 'b', 'a', 'a', 'c');
  await turn();
  expect(requests.map(({ ids }) => ids)).toEqual([['a', 'b', 'c'], ['a']]);
  requests[0]?.end([answer(0), answer(0), answer(0)]);
  await turn();
  expect(requests.at(-1)?.ids).toEqual(['a']);
});

test('a request has a bounded size: 512 records, or a quarter of a million characters, or one record', async () => {
  const many = setup();
  void many.ask(...Array.from({ length: 600 }, (_, n) => `r${n}`));
  await many.turn();
  expect(many.requests.map(({ ids }) => ids.length)).toEqual([512, 88]);
  const long = setup();
  for (const [id, length] of Object.entries({ a: 200_000, b: 60_000, c: 10_000, d: 1_000_000 })) void long.batches.attempt(attempt(id, 'x'.repeat(length)));
  await long.turn();
  expect(long.requests.map(({ ids }) => ids)).toEqual([['a', 'b'], ['c']]);
  long.requests[0]?.end([answer(0), answer(0)]);
  await long.turn();
  expect(long.requests.at(-1)?.ids).toEqual(['d']);
});
