/** From evidence to a verdict: a table, whose first match wins. `docs/verdicts.md` is generated from it. */
import type { Answer, Asked, Dialect, Kind, Reading } from './dialect.js';

/** What the caller's `verdict` hook may say. */
export type Verdict = 'fresh' | 'replayed' | 'rejected' | 'rejected-for-good' | 'not-sent' | 'ambiguous' | 'in-progress' | 'transient';

const reading = (kind: Kind, ambiguous: boolean, sticky?: boolean, replayed?: boolean): Reading => ({ kind, ambiguous, sticky, replayed });

export const NOT_SENT = reading('not-sent', false);
export const NO_ANSWER = reading('no-answer', true);
export const REFUSED = reading('refused', false);
export const TRANSIENT = reading('transient', true);
export const IN_PROGRESS = reading('in-progress', true);
export const MISMATCH = reading('mismatch', true);
export const NOT_A_VERDICT = reading('not-a-verdict', true);

/** A hook's word, as a row of the table. */
export const HOOKED: Readonly<Record<Verdict, Reading>> = {
  fresh: reading('fresh', false),
  replayed: reading('replayed', false),
  rejected: REFUSED,
  'rejected-for-good': reading('refused', false, true),
  'not-sent': NOT_SENT,
  ambiguous: NO_ANSWER,
  'in-progress': IN_PROGRESS,
  transient: TRANSIENT,
};

/** A gateway's or a stopped server's answers: the work may be done behind them. */
export const unsure = (status: number): boolean => (status >= 500 && status !== 501 && status !== 505) || status === 408 || status === 460 || status === 499;

interface Words {
  readonly codes: readonly string[];
  readonly prose: string;
  /** What the server calls the thing that is there already. */
  readonly resource: string | undefined;
}

/** A status's own phrase, `true` or the status again are no codes of the application's. */
const NO_CODE = /^(|true|false|conflict|locked|about:blank|\d{3})$/i;

/** The members of an answer that name what went wrong. */
function words(json: unknown): Words {
  const codes: string[] = [];
  const prose: string[] = [];
  let resource: string | undefined;
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > 5) return;
    for (const [name, member] of Object.entries(value).slice(0, 50)) {
      const text = typeof member === 'object' ? '' : String(member).slice(0, 500);
      if (/^(errors?|details|links|\d+)$/.test(name) && text === '') visit(member, depth + 1);
      else if (/^(code|error|type|name|errorCode|errorType|error_code|issue)$/.test(name) && !NO_CODE.test(text)) codes.push(text);
      else if (/^(title|detail|message|errorMessage|description|error_description)$/.test(name)) prose.push(text);
      else if (/^(conflicting_)?resource_id$/.test(name)) resource = text;
    }
  };
  visit(json, 0);
  return { codes, prose: prose.join(' '), resource };
}

const WORKING = /outstanding|in.?progress|being.processed|still.processing/i;
/** Said of a key only: an e-mail "in use" or a "concurrent" edit is an ordinary conflict. */
const KEY_BUSY = /in.?use|concurrent|processing|pending|locked/i;
const OTHER_PAYLOAD = /mismatch|different|do(es)? not match|another (request|payload|body)|same (param|payload|body|request)|reused/i;

/** The statuses that servers refuse a key with; the words of any other answer are not looked at. */
const OF_KEYS: readonly number[] = [400, 409, 422, 423];

/** Work in progress or another payload, by the words of problem details (IETF draft-07, section 2.7) and of codes in common use. */
function conflict(answer: Answer, asked: Asked): Reading | undefined {
  const { status } = answer;
  if (!OF_KEYS.includes(status)) return undefined;
  const { json, text } = answer;
  const { codes, prose, resource } = words(json);
  const said = `${codes.join(' ')} ${prose}`;
  const aboutKey = /idempoten/i.test(said) || (asked.key.length > 7 && text.includes(asked.key));
  const working = WORKING.test(said) || (aboutKey && KEY_BUSY.test(said));
  const locked = status === 409 || status === 423;
  const reused = OTHER_PAYLOAD.test(said) || (status === 422 && /already.used/i.test(said));
  if (aboutKey && !working && reused && (status === 422 || status === 400 || locked)) return MISMATCH;
  if (status === 409 && aboutKey && !WORKING.test(said) && resource) return { ...reading('done-elsewhere', false), resource };
  // A code of the application's own, such as "email_taken", speaks against work in progress.
  const foreign = codes.length > 0 && !aboutKey && !working;
  return locked && (answer.header('retry-after') !== null || !foreign) ? IN_PROGRESS : undefined;
}

/** Row 11: a server's own word on whether to come back. */
function told(answer: Answer): Reading | undefined {
  if (answer.status < 400) return undefined;
  const header = ['stripe-should-retry', 'x-should-retry', 'should-retry', 'transient-error']
    .map((name) => answer.header(name))
    .find((value) => value !== null);
  const retry = header ?? String((answer.json as { retryable?: unknown } | undefined)?.retryable);
  if (retry === 'true') return reading('transient', answer.status >= 500 || unsure(answer.status));
  if (retry === 'false') return answer.status >= 500 ? reading('burnt', true) : reading('refused', unsure(answer.status));
  return undefined;
}

/**
 * Reads one HTTP answer. `ambiguous`: an earlier attempt under this key may have had an effect.
 * `poll`: a 202 is work that goes on.
 */
export function readAnswer(answer: Answer, asked: Asked, dialect: Dialect, ambiguous: boolean, poll: boolean): Reading {
  const { status } = answer;
  const ok = status < 300;
  const own = dialect.read?.(answer, asked, ambiguous);
  if (own) return own;
  const marked = dialect.replayed(answer);
  const html = ok && asked.refusesHtml && /html/i.test(answer.header('content-type') ?? '');
  if (status > 99 && status < 200) return NO_ANSWER;
  if (status < 200 || /^opaque/.test(answer.type) || answer.redirected || html || status === 304 || (status > 299 && status < 400 && !marked))
    return NOT_A_VERDICT;
  if (status === 202 && poll) return reading('accepted', true);
  if (marked && status < 400) return HOOKED.replayed;
  // What says nothing certain says no more when it is said again.
  if (marked) return status > 499 || unsure(status) ? reading('burnt', true) : reading('refused', false, true, true);
  const busy = conflict(answer, asked);
  if (busy) return busy;
  if (ambiguous && asked.method === 'DELETE' && (status === 404 || status === 410)) return reading('done-elsewhere', false);
  if (ambiguous && status === 412) return reading('open', true);
  const word = told(answer);
  if (word) return word;
  if (ok) return HOOKED.fresh;
  if (unsure(status)) return TRANSIENT;
  return status === 425 || status === 429 || status === 421 ? reading('transient', false) : REFUSED;
}

/**
 * Reads an answer behind the link of a 202. A refusal there (not logged in, not found yet, too many) says nothing of the
 * work itself, and neither does a page for people: a login, a captive portal.
 */
export function readPoll(answer: Answer, dialect: Dialect): 'running' | 'done' | 'failed' {
  const { status } = answer;
  const said = dialect.polled?.(answer);
  if (said) return said;
  const page = /html/i.test(answer.header('content-type') ?? '');
  return page || status === 202 || status < 200 || status > 303 || (status > 299 && status < 303) ? 'running' : 'done';
}
