/** What a form tells its user, and when. */
import type { OperationState, Outcome } from 'oncefetch';

/**
 * The state of a form: `sending`; `waiting` (the server is still working on it); `done`; `already` (it was done before, by this form or
 * with other values, and was not sent again); `refused`; `stale` (the page's key is used up, and nothing was sent); `unsent` (nothing was
 * sent); `unknown` (it may have taken effect); `failed` (the page has a mistake).
 */
export type FormMoment = 'sending' | 'waiting' | 'done' | 'already' | 'refused' | 'stale' | 'unsent' | 'unknown' | 'failed';

/** States while a call is under way. */
export const BUSY: ReadonlySet<string> = new Set<FormMoment>(['sending', 'waiting']);

/** States of what is done. */
export const ENDED: ReadonlySet<string> = new Set<FormMoment>(['done', 'already']);

/** States that are about the last submit. They stay until the next one, whatever the store says. */
export const LAST_WORDS: ReadonlySet<string> = new Set<FormMoment>(['refused', 'stale', 'unsent', 'failed']);

/** What became of a submit; the detail of the event `once-outcome`. */
export interface FormOutcome {
  readonly moment: FormMoment;
  /** `undefined` for `failed`. */
  readonly outcome: Outcome | undefined;
  readonly response: Response | undefined;
  /** The body of the response, if it is JSON. */
  readonly answer: unknown;
  /** What was thrown, if anything was. */
  readonly error: unknown;
}

/**
 * Texts by moment; `expired` is for `unknown` when it is too late to send again, `login` for `unknown` after a 401, `unread` for `unsent` when
 * a file can't be read or is too large, `check` is the text of the button that asks again. A function gets what became of the submit, if
 * there was one.
 */
export type FormWords = {
  readonly [moment in FormMoment | 'expired' | 'login' | 'unread' | 'check']?: string | ((told: FormOutcome | undefined) => string) | undefined;
};

export const WORDS: Readonly<Record<keyof FormWords, string>> = {
  sending: 'Sending…',
  waiting: 'The server is still working on it…',
  done: 'Done.',
  already: 'It was done before, and was not sent again.',
  refused: 'It was refused, and nothing was done.',
  stale: 'This page is out of date, and nothing was sent. Load it again.',
  unsent: 'Nothing was sent. Are you online?',
  unread: 'Nothing was sent: a file cannot be read any more, or is too large. Choose it again, or a smaller one.',
  unknown: 'Not sure yet whether it is done. Send it again: it will not be done twice.',
  login: 'Please log in. Send it again: it will not be done twice.',
  expired: 'Nobody can tell whether it is done, and it is too late to send it again. Please ask us.',
  failed: 'This form could not be sent.',
  check: 'Check',
};

/** Reports an error of the app's code as uncaught, while the form goes on. */
export function report(error: unknown): void {
  setTimeout(() => {
    throw error;
  });
}

/** Why nobody knows, or why nothing was sent. */
export const reasonOf = (told: FormOutcome | undefined): string | undefined => (told?.outcome as { readonly reason?: string } | undefined)?.reason;

/** Whether it is too late to send again, because the server may have forgotten the key. `state`: that of the form's operation. */
export const isTooLate = (told: FormOutcome | undefined, state: OperationState | undefined): boolean =>
  told?.outcome ? reasonOf(told) === 'key-expired' : state?.phase === 'unsettled' && state.pending.expiresAt <= Date.now();

/**
 * The closer word for a moment. `expired`: a press would not send it again, also because the form goes to another address by now, or because the
 * record is damaged. `login`: a 401 says only that the log-in has expired, as a copy that the browser sent before may have taken effect. `unread`:
 * nothing was sent because a file has changed on the disk, or is gone, since it was chosen, or is too large.
 */
function closerWord(of: keyof FormWords, told: FormOutcome | undefined, state: OperationState | undefined): keyof FormWords {
  if (of === 'unsent') return reasonOf(told) === 'unreplayable-body' ? 'unread' : of;
  if (of !== 'unknown') return of;
  const isStuck = reasonOf(told) === 'elsewhere' || (told?.error as { readonly code?: string } | undefined)?.code === 'ERR_ONCE_RECORD';
  return isStuck || isTooLate(told, state) ? 'expired' : told?.response?.status === 401 ? 'login' : of;
}

/** The server's own text for a refusal (RFC 9457). */
function problemOf(told: FormOutcome | undefined): string | undefined {
  if (told?.moment !== 'refused') return undefined;
  const { detail, title } = Object(told.answer) as { readonly detail?: unknown; readonly title?: unknown };
  return [detail, title].find((text): text is string => typeof text === 'string' && !!text);
}

/**
 * The text for a moment. In this order: the attribute `says-…`, unless the server gave a text for a refusal; the app's function; the
 * server's text; the app's text; ours. `state`: that of the form's operation. An app that has its own text for `unknown`, but none for
 * `expired` or `login`, gets its own text for all three. The same holds for `unsent` and `unread`.
 */
export function wordsFor(element: Element, words: FormWords, of: keyof FormWords, told?: FormOutcome, state?: OperationState): string {
  const owns = (word: keyof FormWords): boolean => element.hasAttribute(`says-${word}`) || words[word] != null;
  const closer = closerWord(of, told, state);
  const moment = owns(closer) || !owns(of) ? closer : of;
  const attribute = element.getAttribute(`says-${moment}`);
  const problem = problemOf(told);
  if (attribute !== null && !problem) return attribute;
  const own = words[moment];
  try {
    if (typeof own === 'function') return own(told);
  } catch (error) {
    report(error);
  }
  return problem ?? (typeof own === 'string' ? own : WORDS[moment]);
}
