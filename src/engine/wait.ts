/** Waits on the clock port; every one of them can be cut. */
import type { Clock, Connectivity } from '../ports.js';

/** Calls `fire` once: after `ms`, when one of the signals aborts, or when `connectivity` wakes. The result calls it off. */
export function whenOver(clock: Clock, ms: number, signals: readonly AbortSignal[], fire: () => void, connectivity?: Connectivity): () => void {
  if (signals.some((signal) => signal.aborted)) {
    fire();
    return () => {};
  }
  const off = (): void => {
    cancel();
    unsubscribe?.();
    for (const signal of signals) signal.removeEventListener('abort', end);
  };
  const end = (): void => {
    off();
    fire();
  };
  const cancel = clock.timer(ms, end);
  const unsubscribe = connectivity?.subscribe(end);
  for (const signal of signals) signal.addEventListener('abort', end);
  return off;
}

/** Resolves after `ms`, or at once when one of the signals aborts, or when `connectivity` wakes. */
export function wait(clock: Clock, ms: number, signals: readonly AbortSignal[], connectivity?: Connectivity): Promise<void> {
  return new Promise((resolve) => void whenOver(clock, ms, signals, resolve, connectivity));
}

/** Says that a wait is not wanted any more. Without a reason the platform makes an error and its stack, which nobody reads. */
export const OVER = 'over';

/** Work took longer than it may; nobody knows whether it was done. */
export class Late extends Error {}

/** Rejects with `late` when `work` takes longer than `ms`. */
export function within<T>(clock: Clock, ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(ms, () => reject(late()));
    work.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error) => {
        cancel();
        reject(error);
      },
    );
  });
}
