/** Goal: a wait ends once, for whichever of its reasons comes first, and leaves nothing behind that would keep a process or a signal busy. */
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Late, limit, within } from '../../src/engine/wait.js';
import type { Connectivity } from '../../src/ports.js';
import { virtualClock } from '../../src/testing/virtual-clock.js';
import { rest } from '../support/world.js';

const MS = 1000;

function scene() {
  const clock = virtualClock({ settle: rest });
  const controllers = [new AbortController(), new AbortController()] as const;
  const wakers = new Set<() => void>();
  const connectivity: Connectivity = {
    online: () => true,
    subscribe(wake) {
      wakers.add(wake);
      return () => wakers.delete(wake);
    },
  };
  const signals = controllers.map(({ signal }) => signal);
  let ended = false;
  void limit(clock, MS, signals, connectivity).over.then(() => void (ended = true));
  const isOver = async (): Promise<boolean> => {
    await rest();
    return ended;
  };
  const left = () => [clock.pending, wakers.size, ...signals.map((signal) => getEventListeners(signal, 'abort').length)];
  return { clock, controllers, wakers, isOver, left };
}

describe('a wait ends', () => {
  test('when its time is over, and no sooner', async () => {
    const { clock, isOver, left } = scene();
    expect(left()).toEqual([1, 1, 1, 1]);
    await clock.advance(MS - 1);
    expect(await isOver()).toBe(false);
    await clock.advance(1);
    expect(await isOver()).toBe(true);
    expect(left()).toEqual([0, 0, 0, 0]);
  });

  test.each([0, 1] as const)('when signal %i aborts', async (which) => {
    const { controllers, isOver, left } = scene();
    controllers[which].abort();
    expect(await isOver()).toBe(true);
    expect(left()).toEqual([0, 0, 0, 0]);
  });

  test('when the network wakes it', async () => {
    const { wakers, isOver, left } = scene();
    for (const wake of wakers) wake();
    expect(await isOver()).toBe(true);
    expect(left()).toEqual([0, 0, 0, 0]);
  });

  test('when a subscription wakes it before `subscribe` returns, as one does that reports the present state first', async () => {
    const clock = virtualClock({ settle: rest });
    const { signal } = new AbortController();
    let subscribed = 0;
    const subscribe = (wake: () => void) => {
      subscribed++;
      wake();
      return () => void subscribed--;
    };
    await limit(clock, MS, [signal], { online: () => true, subscribe }).over;
    expect([clock.pending, subscribed, getEventListeners(signal, 'abort').length]).toEqual([0, 0, 0]);
  });

  test('at once, if one of its signals has aborted before', async () => {
    const clock = virtualClock({ settle: rest });
    const calm = new AbortController().signal;
    await limit(clock, MS, [calm, AbortSignal.abort()]).over;
    expect([clock.pending, getEventListeners(calm, 'abort').length]).toEqual([0, 0]);
  });
});

describe('work with a time limit', () => {
  const late = () => new Late('too late');

  test('resolves or rejects as the work does, and leaves no timer', async () => {
    const clock = virtualClock({ settle: rest });
    expect(await within(clock, MS, Promise.resolve(5), late)).toBe(5);
    await expect(within(clock, MS, Promise.reject(new Error('broken')), late)).rejects.toThrow('broken');
    await rest();
    expect(clock.pending).toBe(0);
  });

  test('rejects when the time is over', async () => {
    const clock = virtualClock({ settle: rest });
    const work = within(clock, MS, new Promise(() => {}), late);
    work.catch(() => {});
    await clock.advance(MS);
    await expect(work).rejects.toBeInstanceOf(Late);
  });
});

test('work that has ended wins over a signal that has aborted: what took effect is told, even after the caller has left', async () => {
  const { clock } = scene();
  const late = () => new Error('late');
  expect(await within(clock, MS, Promise.resolve('done'), late, [AbortSignal.abort()])).toBe('done');
  await expect(within(clock, MS, new Promise(() => {}), late, [AbortSignal.abort()])).rejects.toThrow('late');
});
