/** Waiting for a server, up to a time limit. */
import { StoreFault } from './fault.js';

/** What is asked of the server, again while there is time. */
export interface Waiting {
  deadline: number;
  /** A connection or the server broke during one of the attempts, so a copy of an update may be committed at any time, unseen. */
  broke: boolean;
  /** The fault of the last attempt, if the server refused it only for now. */
  blocked?: StoreFault | undefined;
}

/** Extra time at the end of a time limit, for an answer that has arrived but was not read yet, ms. */
const LAST_LOOK_MS = 5;

/**
 * Does `work` with a time limit, because clients may wait for a lost server for ever. At the end of the time it says why the server refused, if it
 * did. `timeoutMs`: how long the limit was.
 */
export async function within<T>(work: () => Promise<T>, waiting: Waiting, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const over = (): void =>
      reject(
        waiting.blocked ??
          new StoreFault(
            'timeout',
            `the store did not answer within ${timeoutMs} ms: is its server there, its client connected, a connection of its pool free, and this process not too busy?`,
          ),
      );
    // After a process was suspended, its timers fire before it reads an answer that came meanwhile: give that a moment.
    const look = (): void => {
      timer = setTimeout(over, LAST_LOOK_MS);
    };
    timer = setTimeout(look, Math.max(0, waiting.deadline - performance.now()));
  });
  try {
    return await Promise.race([work(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
