/** Reads an answer: what it means for the operation. docs/verdicts.md has the whole table. */
import type { Answer, AnswerKind, Asked, Dialect, Reading } from './dialect.js';
import { isObject } from './name.js';
import { documentState, type WorkState } from './work-state.js';

const reading = (kind: AnswerKind, ambiguous: boolean): Reading => ({ kind, ambiguous });

export const FRESH = reading('fresh', false);
export const REPLAYED = reading('replayed', false);
export const NOT_SENT = reading('not-sent', false);
export const NO_ANSWER = reading('no-answer', true);
export const REFUSED: Reading = { ...reading('refused', false), from: 'application' };
export const TRANSIENT = reading('transient', true);
export const IN_PROGRESS = reading('in-progress', true);
export const MISMATCH = reading('mismatch', true);
export const NOT_A_VERDICT = reading('not-a-verdict', true);
export const OPEN = reading('open', true);

/** Whether a gateway or a stopping server gives this status, so that the work may still have been done behind it. */
export const mayHideEffect = (status: number): boolean => (status >= 500 && status !== 501 && status !== 505) || /^(408|460|499)$/.test(String(status));

/**
 * Whether an idempotent request without a key may succeed when it is sent again: statuses of gateways and busy servers. This differs
 * from {@link mayHideEffect}, which asks whether a request that must not be sent twice may have had its effect.
 */
export const worthRepeating = (status: number): boolean => /^(408|421|425|429|460|499|500|502|503|504|511|52\d)$/.test(String(status));

/** Whether a page in HTML can't be the answer to a request that sent JSON, or that accepts something else only. */
export const refusesHtml = (sentJson: boolean, accept: string | null): boolean => sentJson || (accept !== null && !/text\/html|text\/\*|\*\/\*/i.test(accept));

/**
 * Whether proxies, logins, routers, firewalls and rate limits give this status before an application looks at the request. Among
 * them are 425 to 499, most of which only they give (433, 463). Such a status never uses up a key: another copy of the request may
 * have passed them and had its effect.
 */
const mayBeInFront = (status: number): boolean => /^(40[13457]|41[3589]|42[015-9]|4[3-9]\d|50[15])$/.test(String(status));

interface Words {
  readonly codes: readonly string[];
  readonly said: string;
  /** The answer names a thing that exists already. */
  readonly resource: boolean;
}

/**
 * Values that are not an error code of an application: a status's own phrase, `true`, the status repeated, the address of its description, as
 * frameworks give it for the `type` of problem details (`https://tools.ietf.org/html/rfc9110#section-15.5.10`, `https://httpstatuses.io/409`).
 */
const NO_CODE = /^(|true|false|conflict|locked|about:blank|.*\/rfc\d.*|(.*\/)?\d{3})$/i;

/** What the members of an answer say went wrong. */
function words(json: unknown): Words {
  const codes: string[] = [];
  const prose: string[] = [];
  let resource = false;
  const visit = (value: unknown, depth: number): void => {
    if (!isObject(value) || depth > 5) return;
    for (const [name, member] of Object.entries(value).slice(0, 50)) {
      const text = typeof member === 'object' ? '' : String(member).slice(0, 500);
      if (/^(errors?|details|links|\d+)$/i.test(name) && text === '') visit(member, depth + 1);
      else if (/^(code|type|name|issue|error(_?code|type)?)$/i.test(name) && !NO_CODE.test(text)) codes.push(text);
      else if (/^(title|detail|(error)?message|(error_)?description)$/i.test(name)) prose.push(text);
      else if (/^(conflicting_)?resource_id$/i.test(name)) resource = true;
    }
  };
  visit(json, 0);
  return { codes, said: `${codes.join(' ')} ${prose.join(' ')}`, resource };
}

const WORKING = /outstanding|in.?progress|being.processed|still.(processing|running|executing|at.work)/i;
/** Means work in progress only if the answer is about the key: an e-mail "in use" or a "concurrent" edit is an ordinary conflict. */
const KEY_BUSY = /in.?use|concurrent|processing|pending|locked|running|executing|in.?flight|not.finished|being.handled/i;
const OTHER_PAYLOAD = /mismatch|different|do(es)? not match|another (payload|body)|same (param|payload|body|request)|reused/i;
const DUPLICATE =
  /duplicate.?(request|submission|transaction|payment|order|charge|operation|message)|already[ _-]?(been[ _-]?)?(processed|submitted|received|executed|completed|paid|charged|accepted|handled|captured|refunded)/i;

/**
 * What an answer says in words about the key or about an earlier request. Words prove nothing and end no operation: they only choose
 * the next step (wait and ask again, find out how another payload ended, ask `reconcile`).
 */
function spoken(answer: Answer, asked: Asked): Reading | undefined {
  const { status, text } = answer;
  if (!/^(40[09]|42[239])$/.test(String(status))) return undefined;
  const locked = status === 409 || status === 423;
  // With `Retry-After` the server wants to be asked again, whatever else it says.
  if (locked && answer.header('retry-after') !== null) return IN_PROGRESS;
  const { codes, said, resource } = words(answer.json);
  const duplicate = DUPLICATE.test(said);
  // An answer that speaks of a duplicate proves that there was a request, and says nothing of how it ended.
  if (status === 429) return duplicate ? IN_PROGRESS : undefined;
  const aboutKey = /idempoten/i.test(said) || (asked.key.length > 7 && text.includes(asked.key));
  const working = WORKING.test(said) || (aboutKey && KEY_BUSY.test(said));
  const otherPayload = !working && aboutKey && (OTHER_PAYLOAD.test(said) || (status === 422 && /already.used/i.test(said)));
  if (otherPayload && asked.otherPayloads) return MISMATCH;
  // A new key that was used already: a gateway may have sent a copy of this request before, and the answer does not say how that ended.
  const used = !locked && !asked.otherPayloads && /idempoten.*already|duplicate.idempoten/i.test(said);
  if (!working && (duplicate || used || (status === 409 && aboutKey && resource))) return OPEN;
  // The key is new, so the server can know no other payload under it: it has met a copy of this very request.
  if (otherPayload && !locked) return { ...REFUSED, from: 'in-front' };
  // A code of the application's own, such as "email_taken", speaks against work in progress.
  return locked && (aboutKey || working || !codes.length) ? IN_PROGRESS : undefined;
}

/**
 * Whether an answer with the replay marker says "still at work", and is not a stored refusal. A server may mark every answer to a key that
 * it knows. The key in the body is not a sign of work: a refusal may repeat it, too, in a member such as `idempotencyKey`.
 */
function speaksOfWork({ header, json, text }: Answer, { key }: Asked): boolean {
  const { said } = words(json);
  const about = json === undefined ? text : said;
  // As in "The first request is still being processed". A stored refusal would speak of an order, not of a request.
  if (/request/i.test(about) && WORKING.test(about)) return true;
  const rest = text.split(`"${key}"`).map((part) => part.replace(/"[^"]*"\s*:\s*$/, ''));
  return header('retry-after') !== null || /idempoten/i.test(String(rest)) || (/idempoten/i.test(text) && (WORKING.test(said) || KEY_BUSY.test(said)));
}

/**
 * Whether a 402 means that the payment was declined. A 402 whose body has no code, or only prose or the phrase of the status as its
 * code, may come from a hosting company whose bill was not paid.
 */
const isDecline = ({ status, text, json, unread }: Answer): boolean =>
  status === 402 && ((text === '' && !unread) || words(json).codes.some((code) => /^(?!payment.required$)\S+$/i.test(code)));

/**
 * A refusal that no earlier rule explains, with who made it. An answer that speaks of idempotency may refuse the key, not the operation: then
 * a key in its headers proves nothing (express-idempotency gives it with its 417, which means another payload).
 *
 * @see https://github.com/VilledeMontreal/express-idempotency src/services/idempotencyService.ts
 */
function refusal(answer: Answer, asked: Asked, dialect: Dialect): Reading {
  const { status, text } = answer;
  const signed = (asked.key.length > 7 && answer.header('idempotency-key')?.includes(asked.key)) || dialect.keyLayer?.(answer);
  if (isDecline(answer) || (signed && !/idempoten/i.test(text))) return REFUSED;
  return { ...REFUSED, from: mayBeInFront(status) || (asked.refusesHtml && isHtml(answer)) ? 'in-front' : undefined };
}

/** What the server itself says, in a header or in the member `retryable`, on whether to send again. */
function serverRetryHint(answer: Answer, asked: Asked, dialect: Dialect): Reading | undefined {
  const { status } = answer;
  if (status < 400) return undefined;
  const [retry = String((answer.json as { retryable?: unknown } | undefined)?.retryable)] = [
    'stripe-should-retry',
    'x-should-retry',
    'should-retry',
    'transient-error',
  ].flatMap((name) => answer.header(name) ?? []);
  if (retry === 'true') return reading('transient', status >= 500 || mayHideEffect(status));
  if (retry === 'false') return status >= 500 ? reading('burnt', true) : { ...refusal(answer, asked, dialect), ambiguous: mayHideEffect(status) };
  return undefined;
}

/** Whether the answer is a page in HTML. A captive portal may leave the type out, or call its page plain text. */
export const isHtml = ({ header, text }: Answer): boolean => /html/i.test(header('content-type') ?? '') || /^\s*<(!doctype html|html)\b/i.test(text);

/**
 * Whether the answer claims to be JSON, but its body is empty without a `Content-Length: 0`. Then the body was most likely lost. A gateway may
 * properly end a message that its server broke off: if PHP dies right after it has sent the headers, nginx by default takes the end of the
 * connection for the end of the body. And Firefox reports an empty body if compressed bytes over HTTP/1.1 never came, whatever length was announced.
 */
export const isEmptyJson = ({ text, header, unread }: Answer): boolean =>
  text === '' && !unread && /json/i.test(header('content-type') ?? '') && header('content-length') !== '0';

/**
 * Whether this is not the server's answer to this request: after a redirect, an opaque answer (its status is 0), a login page where JSON was expected.
 * Or its status says nothing: gRPC-web and the streams of Connect and tRPC tell of errors in later parts of the body, which nobody reads here.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md
 * @see https://connectrpc.com/docs/protocol#streaming-rpcs
 * @see https://trpc.io/docs/client/links/httpBatchStreamLink
 */
function isForeign(answer: Answer, asked: Asked, marked: boolean): boolean {
  const { status, redirected, header, text } = answer;
  const streamed = /^application\/(grpc|connect\+)/i.test(header('content-type') ?? '') || /^\{.*\}\n\s*[[{]/.test(text);
  const page = status < 300 && (streamed || (asked.refusesHtml && isHtml(answer)));
  return status < 200 || redirected || page || status === 304 || (status > 299 && status < 400 && !marked);
}

/**
 * Reads one HTTP answer; the first rule that fits counts. `ambiguous`: an earlier attempt under this key may have had an effect.
 */
export function readAnswer(answer: Answer, asked: Asked, dialect: Dialect, ambiguous: boolean): Reading {
  const { status } = answer;
  const polls = status === 202 && asked.accepted === 'poll';
  const byDialect = dialect.read?.(answer, asked, ambiguous);
  // With `poll`, only the link of a 202 says how the work ends, so the dialect's "done" does not count.
  if (byDialect && !(polls && ENDED.test(byDialect.kind))) return byDialect;
  const marked = dialect.replayed(answer);
  if (status > 99 && status < 200) return NO_ANSWER;
  if (isForeign(answer, asked, marked)) return NOT_A_VERDICT;
  if (polls) return reading('accepted', true);
  if (marked && status < 400) return REPLAYED;
  const said = spoken(answer, asked);
  const isAtWork = marked && said === IN_PROGRESS && speaksOfWork(answer, asked);
  // A replayed 5xx is as ambiguous as the original one.
  if (marked && !isAtWork) return status > 499 || mayHideEffect(status) ? reading('burnt', true) : { ...REFUSED, sticky: true, replayed: true };
  // After a lost answer, a 202 means "already being processed": that work may still fail.
  if (status === 202 && ambiguous && asked.accepted !== 'settle') return IN_PROGRESS;
  if (said) return said;
  // The thing may be gone because of the earlier attempt, or may never have been there. Also, a 404 may come from in front of the application.
  if (ambiguous && (status === 412 || (asked.method === 'DELETE' && (status === 404 || status === 410)))) return OPEN;
  const hint = serverRetryHint(answer, asked, dialect);
  if (hint) return hint;
  if (status < 300) return FRESH;
  if (mayHideEffect(status)) return TRANSIENT;
  return status === 425 || status === 429 || status === 421 ? reading('transient', false) : refusal(answer, asked, dialect);
}

/** The kinds of readings that say that the operation is done. */
const ENDED = /^(fresh|replayed|done-elsewhere)$/;

/**
 * Whether the body was not read (JSON that is too long, an event stream), so that the state of the work may be in it. After a redirect that
 * does not matter: a link redirects to the result when the work is done (RFC 9110, section 15.4.4).
 */
const isUnreadState = ({ unread, redirected, header }: Answer): boolean =>
  unread === true && !redirected && /event-?stream|\bjson\b/i.test(header('content-type') ?? '');

/**
 * Reads the answer to a poll of a 202's link. `hooked`: the reading by the app's `verdict` hook, if it gave one. A refusal of the poll (not
 * logged in, not found yet, too many requests) says nothing about the work itself, and neither does a login page or a captive portal.
 */
export function readPoll(answer: Answer, asked: Asked, dialect: Dialect, hooked?: Reading): WorkState {
  const { status } = answer;
  const ok = status > 199 && status < 300 && status !== 202 && !isHtml(answer) && !isEmptyJson(answer) && !isUnreadState(answer);
  // Some services answer with a bare word, as JSON or as text. A bare "error" may be about the poll and not about the work. The empty `message`
  // makes it count like JSend's "error", which is about the poll.
  const state = documentState(isObject(answer.json) ? answer.json : { status: answer.text, message: '' });
  const runs = !ok || state === 'running';
  // A hook that ignores `polled` may call every answer without a payment in it a refusal, even one that says "running".
  if (hooked) return hooked.kind === 'refused' && (hooked.sticky || !runs) ? 'failed' : ENDED.test(hooked.kind) ? 'done' : 'running';
  const byDialect = dialect.polled?.(answer);
  if (byDialect) return byDialect;
  if (!ok) return 'running';
  const kind = dialect.read?.(answer, asked, true)?.kind;
  // A rule of the dialect counts more than the state that is guessed from the document, unless the rule says "done" and the document "failed".
  if (kind === undefined || (ENDED.test(kind) && state === 'failed'))
    return state === 'doubtful' || (!state && answer.header('retry-after') !== null) ? 'running' : (state ?? 'done');
  return kind === 'refused' ? 'failed' : ENDED.test(kind) ? 'done' : 'running';
}
