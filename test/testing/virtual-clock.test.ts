/** Goal: a test that uses this clock waits for no real time, and runs the same every time. */
import { setTimeout as realWait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { virtualClock } from '../../src/testing/virtual-clock.js';

const START = 1_700_000_000_000;

/** A clock with timers, and a log of which timer fired when. */
function watched(times: readonly number[], start = 0) {
  const clock = virtualClock({ start });
  const fired: [label: number, at: number][] = [];
  for (const [n, ms] of times.entries()) clock.timer(ms, () => fired.push([n, clock.now()]));
  return { clock, fired };
}

describe('the time', () => {
  test('stands still until it is moved', async () => {
    const clock = virtualClock();
    expect(clock.now()).toBe(START);
    await realWait(5);
    expect(clock.now()).toBe(START);
    await clock.advance(1);
    expect(clock.now()).toBe(START + 1);
  });

  test('is that of each timer while it fires, and the end of the move afterwards', async () => {
    const { clock, fired } = watched([30, 10, 20]);
    await clock.advance(25);
    expect(fired).toEqual([
      [1, 10],
      [2, 20],
    ]);
    expect(clock.now()).toBe(25);
  });

  test('can be moved forward to a given time, but not back', async () => {
    const { clock, fired } = watched([10], 100);
    await clock.advanceTo(150);
    expect([fired, clock.now()]).toEqual([[[0, 110]], 150]);
    await expect(clock.advanceTo(149)).rejects.toThrow(RangeError);
    await expect(clock.advance(Number.NaN)).rejects.toThrow(RangeError);
    await expect(clock.advance(Number.POSITIVE_INFINITY)).rejects.toThrow(RangeError);
    expect(clock.now()).toBe(150);
  });
});

describe('timers', () => {
  test('fire in the order of their times, and those of one time in the order in which they were set', async () => {
    const { clock, fired } = watched([5, 1, 5, 0, 1]);
    await clock.advance(5);
    expect(fired.map(([n]) => n)).toEqual([3, 1, 4, 0, 2]);
  });

  test('do not fire early, twice, or when cancelled', async () => {
    const clock = virtualClock();
    let fired = 0;
    const cancel = clock.timer(10, () => fired++);
    clock.timer(10, () => fired++);
    await clock.advance(9);
    expect(fired).toBe(0);
    cancel();
    expect(clock.pending).toBe(1);
    await clock.advance(100);
    expect(fired).toBe(1);
    cancel();
    expect(clock.pending).toBe(0);
  });

  test('that are set by a timer fire in the same move if they are due in it', async () => {
    const clock = virtualClock({ start: 0 });
    const fired: number[] = [];
    clock.timer(10, () => clock.timer(10, () => fired.push(clock.now())));
    clock.timer(25, () => fired.push(clock.now()));
    await clock.advance(25);
    expect(fired).toEqual([20, 25]);
  });

  test.each([0, -5, Number.NaN])('of %s ms fire at once, but only when the clock moves', async (ms) => {
    const clock = virtualClock({ start: 0 });
    let fired = false;
    clock.timer(ms, () => void (fired = true));
    await realWait(1);
    expect(fired).toBe(false);
    await clock.advance(0);
    expect([fired, clock.now()]).toEqual([true, 0]);
  });

  test('that throw reject the move, and the others fire in the next one', async () => {
    const { clock, fired } = watched([2]);
    clock.timer(1, () => {
      throw new Error('thrown');
    });
    await expect(clock.advance(5)).rejects.toThrow('thrown');
    expect(clock.now()).toBe(1);
    await clock.advance(1);
    expect(fired).toEqual([[0, 2]]);
  });
});

describe('between timers', () => {
  test('pending promises finish, so that the timers that they set fire in time', async () => {
    const clock = virtualClock({ start: 0 });
    const log: string[] = [];
    const sleep = (ms: number) => new Promise<void>((done) => clock.timer(ms, done));
    const worker = async (name: string, ms: number) => {
      for (let n = 0; n < 3; n++) {
        await sleep(ms);
        await new Response('real work').text();
        log.push(`${name} ${clock.now()}`);
      }
    };
    void worker('a', 10);
    void worker('b', 15);
    await clock.advance(45);
    expect(log).toEqual(['a 10', 'b 15', 'a 20', 'b 30', 'a 30', 'b 45']);
  });

  test('the clock waits for timers that pending promises are about to set', async () => {
    const clock = virtualClock();
    let fired = false;
    void Promise.resolve().then(() => clock.timer(1, () => void (fired = true)));
    await clock.advance(1);
    expect(fired).toBe(true);
  });

  test('the clock waits for the caller’s own `settle`', async () => {
    let settles = 0;
    const clock = virtualClock({
      settle: async () => {
        settles++;
      },
    });
    clock.timer(1, () => {});
    await clock.next();
    expect(settles).toBe(2);
  });
});

describe('other moves', () => {
  test('next fires one timer and says whether there was one', async () => {
    const { clock, fired } = watched([7, 7]);
    expect(await clock.next()).toBe(true);
    expect(fired).toEqual([[0, 7]]);
    expect(await clock.next()).toBe(true);
    expect(await clock.next()).toBe(false);
    expect(clock.now()).toBe(7);
  });

  test('runAll fires all timers, and rejects if new ones come for ever', async () => {
    const { clock, fired } = watched([1, 1_000_000]);
    await clock.runAll();
    expect([fired.length, clock.now()]).toEqual([2, 1_000_000]);
    const again = (): void => void clock.timer(1, again);
    again();
    await expect(clock.runAll(20)).rejects.toThrow(RangeError);
  });

  test('a jump changes the time of day, and makes no timer fire earlier', async () => {
    const { clock, fired } = watched([10], 1_000);
    clock.jump(86_400_000);
    expect([clock.now(), clock.pending]).toEqual([86_401_000, 1]);
    await clock.advance(9);
    expect(fired).toEqual([]);
    clock.jump(-86_400_000);
    await clock.advance(1);
    expect(fired).toEqual([[0, 1_010]]);
  });

  test('two moves at once come one after the other', async () => {
    const { clock, fired } = watched([5, 15, 25]);
    await Promise.all([clock.advance(10), clock.advance(10)]);
    expect([fired.map(([n]) => n), clock.now()]).toEqual([[0, 1], 20]);
  });
});
