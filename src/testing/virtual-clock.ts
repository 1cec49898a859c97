/** A clock that stands still until a test moves it. */
import type { Clock } from '../ports.js';

/** Options of `virtualClock`. */
export interface VirtualClockOptions {
  /** The wall clock at the beginning, ms since 1970. @default 1_700_000_000_000 */
  readonly start?: number | undefined;
  /**
   * Waits until everything that a timer has started is done, before the next timer fires. Give your own if promises wait for something
   * slow (a disk, a thread). @default four turns of the event loop
   */
  readonly settle?: (() => Promise<void>) | undefined;
}

/** A clock that only a test moves. */
export interface VirtualClock extends Clock {
  /** Moves the clock on by `ms`. Every timer that becomes due fires at its own time, in the order of these times. */
  advance(ms: number): Promise<void>;
  /** Like {@link VirtualClock.advance}, until the wall clock shows `time`, ms since 1970. */
  advanceTo(time: number): Promise<void>;
  /** Moves the clock on to the next timer and fires it; `false` if there is none. */
  next(): Promise<boolean>;
  /** Fires timers until none is left. @throws RangeError after `limit` timers, because something sets timers for ever */
  runAll(limit?: number): Promise<void>;
  /** Changes the wall clock by `ms`, as a user, a time server or the sleep of a laptop does. Timers do not become due earlier by this. */
  jump(ms: number): void;
  /** The number of timers that have not fired yet. */
  readonly pending: number;
  /** The time that the test has let pass, ms. {@link VirtualClock.jump} does not change it. */
  monotonic(): number;
}

interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

const TIMERS_MAX = 10_000;
const TURNS = 4;

/**
 * A clock for tests, with which no test really waits, and every run is the same. Timers that are due at the same time fire in the order in
 * which they were set. If a timer's `fire` throws, the call that moved the clock rejects.
 *
 * @example
 * const clock = virtualClock();
 * clock.timer(1_000, () => console.log(clock.now()));
 * await clock.advance(5_000);
 */
export function virtualClock({ start = 1_700_000_000_000, settle = someTurns }: VirtualClockOptions = {}): VirtualClock {
  const timers = new Set<Timer>();
  let wall = start;
  let elapsed = 0;
  let moving: Promise<unknown> = Promise.resolve();

  const moveTo = (time: number): void => {
    wall += time - elapsed;
    elapsed = time;
  };
  const fireNext = async (untilMs: number): Promise<boolean> => {
    let timer: Timer | undefined;
    // A Set keeps the order of insertion, so of timers that are due at the same time this finds the one that was set first.
    for (const one of timers) if (!timer || one.dueMs < timer.dueMs) timer = one;
    if (!timer || timer.dueMs > untilMs) return false;
    timers.delete(timer);
    moveTo(Math.max(elapsed, timer.dueMs));
    timer.fire();
    await settle();
    return true;
  };
  /** Runs calls that move the clock one after the other. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    // Settle first, because something that has begun already may be about to set a timer.
    const done = moving.then(settle).then(work);
    moving = done.catch(() => {});
    return done;
  };
  const advance = async (ms: number): Promise<void> => {
    if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) throw new RangeError(`virtualClock: can only move on by a finite time, got ${ms} ms`);
    const until = elapsed + ms;
    while (await fireNext(until));
    moveTo(until);
  };

  return {
    now: () => wall,
    monotonic: () => elapsed,
    timer(ms, fire) {
      const timer = { dueMs: elapsed + (ms > 0 ? ms : 0), fire };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    advance: (ms) => inTurn(() => advance(ms)),
    advanceTo: (time) => inTurn(() => advance(time - wall)),
    next: () => inTurn(() => fireNext(Number.POSITIVE_INFINITY)),
    runAll: (limit = TIMERS_MAX) =>
      inTurn(async () => {
        for (let fired = 0; await fireNext(Number.POSITIVE_INFINITY); fired++) {
          if (fired >= limit) throw new RangeError(`virtualClock: still ${timers.size} timers after ${limit} have fired`);
        }
      }),
    jump(ms) {
      wall += ms;
    },
    get pending() {
      return timers.size;
    },
  };
}

/** Waits for some turns of the event loop, each of which ends when all microtasks have run. By a channel, because browsers delay nested timers by 4 ms. */
async function someTurns(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  for (let turn = 0; turn < TURNS; turn++) {
    await new Promise<unknown>((next) => {
      port1.onmessage = next;
      port2.postMessage(0);
    });
  }
  port1.close();
}
