/** Answers for stubs in pages. They come over the network before the clock starts, because Chromium takes a millisecond to copy a `new Response`. */
import type { Case } from './turns.ts';

export const ANSWER_PATH = '/answer';

const ready: Response[] = [];

/** The answer that was fetched for this call. */
export function answer(): Response {
  const next = ready.pop();
  if (!next) throw new Error('a call asked for a second answer');
  return next;
}

/** `timed`, preceded by fetching an answer for it. */
export const answered =
  (timed: Case): Case =>
  async () => {
    ready.splice(0, ready.length, await fetch(ANSWER_PATH, { method: 'POST' }));
    return timed();
  };
