/** Waits by the platform's clock; each can be cut short. */
import type { Clock, Connectivity } from '../ports.js';
import type { Client, OperationRun } from './client.js';
import type { StopSignal } from './stop-signal.js';

/** Calls `end` once: after `ms`, when a signal aborts (at once if one has already), or when `connectivity` wakes. The result cancels it. */
export function after(clock: Clock, ms: number, signals: readonly StopSignal[], end: () => void, connectivity?: Connectivity): () => void {
  if (signals.some((signal) => signal.aborted)) {
    end();
    return () => {};
  }
  let off = (): void => {};
  let ended = false;
  const over = (): void => {
    ended = true;
    end();
    off();
  };
  const cancel = clock.timer(ms, over);
  const unsubscribe = connectivity?.subscribe(over);
  for (const signal of signals) signal.addEventListener('abort', over);
  off = () => {
    cancel();
    unsubscribe?.();
    for (const signal of signals) signal.removeEventListener('abort', over);
  };
  // An app's own `subscribe` may wake before it returns.
  if (ended) off();
  return off;
}

/** A time limit: `over` resolves after `ms`, or at once when a signal aborts or `connectivity` wakes. After `off()` it never resolves. */
export function limit(
  clock: Clock,
  ms: number,
  signals: readonly StopSignal[],
  connectivity?: Connectivity,
): { readonly over: Promise<void>; readonly off: () => void } {
  let off = (): void => {};
  const over = new Promise<void>((resolve) => {
    off = after(clock, ms, signals, resolve, connectivity);
  });
  return { over, off };
}

/**
 * What `work` gives; `undefined` if it takes longer than `ms`, or when one of the signals aborts. Then the signal that `work` got aborts, too: it
 * is for a function of the app, which may be slow.
 */
export async function withSignal<T>(
  clock: Clock,
  ms: number,
  signals: readonly StopSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const controller = new AbortController();
  const { over, off } = limit(clock, ms, signals);
  const late = over.then((): undefined => {
    controller.abort();
  });
  try {
    return await Promise.race([work(controller.signal), late]);
  } finally {
    off();
  }
}

/** The largest share of its remaining time that a call spends on waiting for work in progress. */
const WAIT_SHARE = 0.9;

/** Until when a call waits for work in progress, ms since 1970. The rest of its time is left to ask `reconcile`. */
export const waitsUntil = ({ settings: { limits }, deadline }: Pick<OperationRun, 'settings' | 'deadline'>, now: number): number =>
  now + Math.min(limits.inProgressMs, (deadline - now) * WAIT_SHARE);

/** If a timer fires this much too late, the device slept. What arrived meanwhile gets as much time to be noticed. */
export const THAW_MS = 1000;

/** Whether so much time has passed since `at` (wall clock, ms), or the clock was set, that what was read then may be outdated: the device may have slept. */
export const sleptSince = ({ platform }: Pick<Client, 'platform'>, at: number): boolean => Math.abs(platform.clock.now() - at) > THAW_MS;

/** The abort reason for a wait that is no longer needed. Without a reason the platform would create an error with a stack that nobody reads. */
export const OVER = 'over';

/** Work took too long; it may or may not have been done. */
export class Late extends Error {}

/** Rejects with `late` if `work` takes longer than `ms`, or when a signal aborts. If `work` ends at the same moment, its result counts. */
export function within<T>(clock: Clock, ms: number, work: Promise<T>, late: () => Error, signals: readonly StopSignal[] = []): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => Promise.reject(late());
    // Reject a moment later, so that work that ends at the same moment comes first.
    const off = after(clock, ms, signals, () => void Promise.resolve().then(end).catch(reject));
    void Promise.resolve(work).then(resolve, reject).then(off);
  });
}

/** What `work` gives; `undefined` if it fails, takes longer than `ms`, or a signal aborts before it ends. */
export const unlessLate = <T>(clock: Clock, ms: number, work: Promise<T>, signals?: readonly StopSignal[]): Promise<T | undefined> =>
  within(clock, ms, work, () => new Late(), signals).catch(() => undefined);

/** Whether nobody waits for the call any more: its last caller has left, or the client is closed. */
export const isAbandoned = ({ client, stop }: Pick<OperationRun, 'client' | 'stop'>): boolean => stop.aborted || client.closing.aborted;

/** Nobody waits for the call any more. To find out whether a call failed for that, ask {@link isAbandoned}: another copy of the package has its own class. */
export class CallerLeft extends Error {}

/**
 * Rejects with `late` if `work` takes longer than `ms` or goes beyond the deadline of the call, and with {@link CallerLeft} when nobody
 * waits for the call any more.
 */
export function inTime<T>(call: Pick<OperationRun, 'client' | 'stop' | 'deadline'>, ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  const { client, stop, deadline } = call;
  const { clock } = client.platform;
  const end = () => (isAbandoned(call) ? new CallerLeft() : late());
  return within(clock, Math.min(ms, Math.max(0, deadline - clock.now())), work, end, [stop, client.closing]);
}
