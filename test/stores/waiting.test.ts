/** Goal: a store that waits for its server gives up in time and says why, but not while an answer is there that it has not read yet. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StoreFault } from '../../src/stores/fault.js';
import { type Waiting, within } from '../../src/stores/waiting.js';

const MS = 1000;
beforeEach(() => {
  vi.useFakeTimers();
  // The process has run for a while.
  vi.advanceTimersByTime(MS);
});
afterEach(() => void vi.useRealTimers());

/** Waits for `work`, whose limit is in a second. */
const waits = (work: () => Promise<unknown>, more: Partial<Waiting> = {}): (() => unknown) => {
  let told: unknown = 'waits';
  void within(work, { deadline: performance.now() + MS, broke: false, ...more }, MS).then(
    (value) => {
      told = value;
    },
    (fault) => {
      told = fault;
    },
  );
  return () => told;
};
const later = (ms: number) => () => new Promise((resolve) => setTimeout(resolve, ms, 'answer'));

test('an answer in time counts, and no timer is left', async () => {
  const told = waits(later(MS - 1));
  await vi.advanceTimersByTimeAsync(MS - 1);
  expect(told()).toBe('answer');
  expect(vi.getTimerCount()).toBe(0);
});

test('a server that does not answer: a fault says so, after the limit', async () => {
  const told = waits(() => new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(MS);
  expect(told()).toBe('waits');
  await vi.advanceTimersByTimeAsync(5);
  expect(told()).toBeInstanceOf(StoreFault);
  expect(told()).toMatchObject({ reason: 'timeout', message: expect.stringContaining('did not answer within 1000 ms') });
});

test('a server that refused for now until the end: the fault is its refusal', async () => {
  const blocked = new StoreFault('blocked', 'read only');
  const told = waits(() => new Promise(() => {}), { blocked });
  await vi.advanceTimersByTimeAsync(MS + 5);
  expect(told()).toBe(blocked);
});

test('an answer that came while the process was suspended counts: its timers fire before it is read', async () => {
  const told = waits(later(MS + 4));
  await vi.advanceTimersByTimeAsync(MS + 4);
  expect(told()).toBe('answer');
});

test('a limit that is over already is not waited for longer', async () => {
  const told = waits(() => new Promise(() => {}), { deadline: performance.now() - MS });
  await vi.advanceTimersByTimeAsync(6);
  expect(told()).toBeInstanceOf(StoreFault);
});
