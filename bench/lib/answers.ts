/**
 * Answers for the stubs in pages. Each is fetched over the network before the clock starts, because in Chromium the
 * copy of a `new Response` takes a millisecond.
 */
import type { Case } from './turns.ts';

export const ANSWER_PATH = '/answer';

const ready: Response[] = [];

/** The answer that was fetched for this call. */
export function answer(): Response {
  const next = ready.pop();
  if (!next) throw new Error('a call asked for a second answer');
  return next;
}

/** Fetches an answer, then runs `timed` with it. */
export const answered =
  (timed: Case): Case =>
  async () => {
    ready.splice(0, ready.length, await fetch(ANSWER_PATH, { method: 'POST' }));
    return timed();
  };
