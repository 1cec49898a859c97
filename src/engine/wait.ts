/** Waits on the clock port; each can be cut short. */
import type { Clock, Connectivity } from '../ports.js';
import type { OperationRun } from './client.js';
import type { Stop } from './closing.js';

/** Calls `end` once: after `ms`, when a signal aborts (at once if it has), or when `connectivity` wakes. After the function that it gives was called, never. */
function after(clock: Clock, ms: number, signals: readonly Stop[], end: () => void, connectivity?: Connectivity): () => void {
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
  signals: readonly Stop[],
  connectivity?: Connectivity,
): { readonly over: Promise<void>; readonly off: () => void } {
  let off = (): void => {};
  const over = new Promise<void>((resolve) => {
    off = after(clock, ms, signals, resolve, connectivity);
  });
  return { over, off };
}

/** Resolves after `ms`, or at once when one of the signals aborts, or when `connectivity` wakes. */
export const wait = (...how: Parameters<typeof limit>): Promise<void> => limit(...how).over;

/** The abort reason of a wait that is no longer needed. Without one the platform would make an error with a stack, which nobody reads. */
export const OVER = 'over';

/** Work took too long; it may have been done or not. */
export class Late extends Error {}

/** Rejects with `late` when `work` takes longer than `ms`, or when a signal aborts. Work that has ended wins. */
export function within<T>(clock: Clock, ms: number, work: Promise<T>, late: () => Error, signals: readonly Stop[] = []): Promise<T> {
  return new Promise((resolve, reject) => {
    let off = (): void => {};
    work.then(
      (value) => {
        off();
        resolve(value);
      },
      (error) => {
        off();
        reject(error);
      },
    );
    off = after(clock, ms, signals, () => void Promise.resolve().then(() => reject(late())));
  });
}

/** The call is not wanted any more: its last caller has left, or the client is closed. */
export class CallerLeft extends Error {}

/** Rejects with `late` when `work` takes longer than `ms` or beyond the deadline of the call, with {@link CallerLeft} when the call is not wanted any more. */
export function inTime<T>(
  { client, stop, deadline }: Pick<OperationRun, 'client' | 'stop' | 'deadline'>,
  ms: number,
  work: Promise<T>,
  late: () => Error,
): Promise<T> {
  const { clock } = client.platform;
  const signals = [stop, client.closing];
  const end = () => (signals.some(({ aborted }) => aborted) ? new CallerLeft() : late());
  return within(clock, Math.min(ms, Math.max(0, deadline - clock.now())), work, end, signals);
}
