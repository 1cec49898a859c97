/** Locks within the app's only JavaScript runtime. */
import type { Locks } from '../../ports.js';

const REALM = Symbol.for('oncefetch.locks');

/** Locks that all copies of the package in one realm share. They end with the app, together with the calls that hold them. */
export function realmLocks(): Locks {
  const realm = globalThis as { [REALM]?: Map<string, Promise<void>> };
  realm[REALM] ??= new Map();
  const held = realm[REALM];
  return {
    async acquire(name, signal) {
      for (let holder = held.get(name); holder; holder = held.get(name)) {
        if (!signal) return undefined;
        await unlessAborted(holder, signal);
      }
      let free = (): void => {};
      const mine = new Promise<void>((resolve) => (free = resolve));
      held.set(name, mine);
      return () => {
        if (held.get(name) === mine) held.delete(name);
        free();
      };
    },
  };
}

const unlessAborted = (work: Promise<void>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const aborted = (): void => reject(new Error('once: the wait for a lock was aborted'));
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted);
    void work.then(() => {
      signal.removeEventListener('abort', aborted);
      resolve();
    });
  });
