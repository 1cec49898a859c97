/** The words of the `verdict` hook. They have a file of their own, because only pages with that hook load them. */
import type { Reading } from './dialect.js';
import { FRESH, IN_PROGRESS, NO_ANSWER, NOT_SENT, REFUSED, REPLAYED, TRANSIENT } from './verdict.js';

/** What the caller's `verdict` hook may say. */
export type Verdict = 'fresh' | 'replayed' | 'rejected' | 'rejected-for-good' | 'not-sent' | 'ambiguous' | 'in-progress' | 'transient';

/**
 * What each word of the hook means, as a reading. Only this table knows those words that are no {@link AnswerKind}. It has no spread: bundlers
 * keep what has one, because it may call a getter, so all pages would load the table.
 */
export const READING_OF_VERDICT: Readonly<Record<Verdict, Reading>> = {
  fresh: FRESH,
  replayed: REPLAYED,
  rejected: REFUSED,
  'rejected-for-good': /* @__PURE__ */ Object.assign({ sticky: true }, REFUSED),
  'not-sent': NOT_SENT,
  ambiguous: NO_ANSWER,
  'in-progress': IN_PROGRESS,
  transient: TRANSIENT,
};
