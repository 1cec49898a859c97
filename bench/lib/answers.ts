/** Answers of pages' stubs: they came over the network, before the clock starts. One that `new Response` makes takes Chromium a millisecond to copy. */
import type { Case } from './turns.ts';

export const ANSWER_PATH = '/answer';

const ready: Response[] = [];

/** The answer that was fetched for this call. */
export function answer(): Response {
  const next = ready.pop();
  if (!next) throw new Error('a call asked for a second answer');
  return next;
}

/** `timed`, with an answer fetched before. */
export const answered =
  (timed: Case): Case =>
  async () => {
    ready.splice(0, ready.length, await fetch(ANSWER_PATH, { method: 'POST' }));
    return timed();
  };
