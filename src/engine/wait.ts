/** Waits on the clock port; each can be cut short. */
import type { Clock, Connectivity } from '../ports.js';
import type { OperationRun } from './client.js';
import type { Stop } from './closing.js';

/** A time limit: `over` resolves after `ms`, or at once when a signal aborts or `connectivity` wakes. After `off()` it never resolves. */
export function limit(
  clock: Clock,
  ms: number,
  signals: readonly Stop[],
  connectivity?: Connectivity,
): { readonly over: Promise<void>; readonly off: () => void } {
  let off = (): void => {};
  const over = new Promise<void>((resolve) => {
    if (signals.some((signal) => signal.aborted)) return resolve();
    const end = (): void => {
      off();
      resolve();
    };
    const cancel = clock.timer(ms, end);
    const unsubscribe = connectivity?.subscribe(end);
    for (const signal of signals) signal.addEventListener('abort', end);
    off = () => {
      cancel();
      unsubscribe?.();
      for (const signal of signals) signal.removeEventListener('abort', end);
    };
  });
  return { over, off };
}

/** Resolves after `ms`, or at once when one of the signals aborts, or when `connectivity` wakes. */
export const wait = (...how: Parameters<typeof limit>): Promise<void> => limit(...how).over;

/** The abort reason of a wait that is no longer needed. Without one the platform would make an error with a stack, which nobody reads. */
export const OVER = 'over';

/** Work took too long; it may have been done or not. */
export class Late extends Error {}

/** Rejects with `late` when `work` takes longer than `ms`. */
export function within<T>(clock: Clock, ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(ms, () => reject(late()));
    work.finally(cancel).then(resolve, reject);
  });
}

/** The call is not wanted any more: its last caller has left, or the client is closed. */
export class CallerLeft extends Error {}

/** Rejects with `late` when `work` takes longer than `ms` or beyond the deadline of the call, with {@link CallerLeft} when the call is not wanted any more. */
export async function inTime<T>(
  { client, stop, deadline }: Pick<OperationRun, 'client' | 'stop' | 'deadline'>,
  ms: number,
  work: Promise<T>,
  late: () => Error,
): Promise<T> {
  const { clock } = client.platform;
  const signals = [stop, client.closing];
  const { over, off } = limit(clock, Math.min(ms, Math.max(0, deadline - clock.now())), signals);
  const ended = over.then((): never => {
    throw signals.some(({ aborted }) => aborted) ? new CallerLeft() : late();
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    off();
  }
}
