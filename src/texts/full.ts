/**
 * The full texts of errors and diagnostics, for development and for servers. In builds for production pages, `lean.ts` replaces this file
 * (docs/decisions/0030-texts-and-builds.md); docs/errors.md has the same texts for those.
 */
import type { OnceErrorCode, UnknownReason } from '../core/codes.js';
import type { Outcome } from '../core/outcome.js';
import { explained, silent } from './explained.js';

/** What happened, and what to do next. Of the codes that are not here, the outcome itself says more: its reason, and what to do. */
export const CODES: { readonly [code in OnceErrorCode]?: string } = {
  ERR_ONCE_MISMATCH: 'another payload or key is pending under this name, so nothing was sent. Resume that one first',
  ERR_ONCE_ALREADY_SETTLED: 'it ended earlier, for this or another payload. For another effect, use another name, or repeat',
  ERR_ONCE_KEY_EXPIRED: 'the server may have forgotten the key, so sending again could take effect twice. Give reconcile, or settle() it once you know',
  ERR_ONCE_KEY_BURNT: 'this key is used up: the server repeats what it answered before. Use another key',
  ERR_ONCE_ALREADY_DONE: 'it is done, and no answer is left. Fetch what it made',
  ERR_ONCE_BUSY: 'it is under way right now. Wait for that call',
  ERR_ONCE_CLAIM_LOST:
    'another tab or process took it over, clear() stopped it, or its record is gone. Call again with the same name; if the storage was emptied, first find out what happened',
  ERR_ONCE_BODY: 'the body cannot be sent more than once. Send text, bytes, a Blob or a FormData',
  ERR_ONCE_STORE: 'the store could not be used, and an earlier key may be in it, so nothing more is sent. Call again when it works',
  ERR_ONCE_RECORD: 'what is stored under this name is damaged; nothing was sent. Find out what happened, then forget() it with evenIfUnknown: true',
};

/** Texts for reasons that say more than the code of the error. */
export const REASONS: { readonly [reason in UnknownReason | 'store-write' | 'nothing-stored']?: string } = {
  mismatch:
    'the server holds another payload under this key. After a resume(), call again with the present one; otherwise call again with the first one, or settle() it once you know',
  bytes: 'the server holds other bytes under this key, and nobody can tell what became of them',
  elsewhere:
    'an earlier attempt went to another address, where it may have taken effect. This server has never seen its key, so nothing was sent. Call the earlier address again, give reconcile, or settle() it',
  'refused-after-ambiguity':
    "it was refused, but an earlier attempt may have taken effect. If the server repeats its refusal for this key, let verdict return 'rejected-for-good'; else give reconcile",
  'store-write': 'its record could not be stored, so nothing was sent',
  'nothing-stored': 'nothing is stored under this name',
};

/** The text of a store's fault, without "once: ", if nothing of a platform or a database is in it. */
function ownText(cause: unknown): string {
  try {
    const { name, message, cause: below } = cause as Error;
    return name === 'StoreFault' && below === undefined ? ` ${message.slice(6)}.` : '';
  } catch {
    return '';
  }
}

/**
 * The message of an error: what is wrong, what to do, and how it came about. `says`: a more precise text than that of the code, if there is
 * one. Of the cause it says only that there is one, because its text may have something in it that no log should,
 * unless all of that text is our own, as where a store refuses a server with the wrong settings.
 */
export function errorText(code: OnceErrorCode, outcome: Outcome, says?: string, cause?: unknown): string {
  const { summary, steps, next, guide } = explained(outcome);
  const known = [summary, ...steps];
  const reason = !silent(outcome) && 'reason' in outcome && outcome.reason;
  const more = says ?? REASONS[reason as keyof typeof REASONS] ?? CODES[code];
  const said = more === undefined ? [...known, next] : [`${more}.`, ...known];
  const text = said.join(' ');
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}${ownText(cause)} See ${cause === undefined ? '' : 'its cause for what failed last, and '}${guide}.`;
}

/** Diagnostics whose message is always the same. Each code is a section of docs/diagnostics.md. */
export const DIAGNOSTICS = {
  'retry-after-hidden':
    'a server on another origin asks to wait, and the page cannot read its Retry-After: the server must list it in Access-Control-Expose-Headers',
  'replay-hidden': 'an answer of another origin may be a replay, and the page cannot read its marker: the server must list it in Access-Control-Expose-Headers',
  'preflight-suspected':
    "no attempt was answered, although the device is online: perhaps the server does not list the key header in Access-Control-Allow-Headers, or the page's Content-Security-Policy does not list the server in connect-src",
  'key-ignored': 'the server says that it ignored the key: nothing is sent there twice from now on',
  'reconcile-unproven':
    "what reconcile returned proves nothing, so the operation stays unknown: it must return 'done', 'none', 'unknown', or a 2xx Response whose body has not been read",
  'poll-link': 'a 202 has no link on its own origin that can be read, so nobody asks whether its work has ended: see Access-Control-Expose-Headers',
  'insecure-origin': 'an insecure origin has no Web Crypto and no Web Locks: tabs meet by leases in the store',
  'unsettled-forgotten': 'an operation that never settled was forgotten 30 days, or keep.forMs, after its last call',
  'record-damaged': 'a stored record is damaged: pending and resume leave it out, and a call of its name rejects with ERR_ONCE_RECORD',
  'move-conflict': 'there are two operations of this name; one of them stays in the old namespace',
} as const;

export type DiagnosticCode = keyof typeof DIAGNOSTICS;

/** The message of a diagnostic. `where`: the place that it is about. */
export const diagnosticText = (code: DiagnosticCode, where?: string): string =>
  `${DIAGNOSTICS[code]} (docs/diagnostics.md#${code}${where === undefined ? '' : `; ${where}`})`;

/** `object|function`: "an object or a function". */
const listed = (types: string): string =>
  types
    .split('|')
    .map((type) => `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`)
    .join(' or ');

/** What an option must be, from its specification. */
export const wanted = (spec: string | readonly unknown[]): string =>
  typeof spec === 'string' ? listed(spec) : spec.map((one) => JSON.stringify(one)).join(' or ');

/** Texts for mistakes of the developer, by the names under which docs/errors.md lists them. */
export const MISTAKES = {
  name: 'must be a non-empty array',
  'name-part': 'must be a non-empty string, a number that is exact (below 2^53) or a bigint',
  'name-given': 'has a name already; leave once.operation out',
  key: "must be text that fits the dialect's pattern",
  client: 'takes a client from createOnce',
  feature: 'must be a feature, such as polling()',
  argument: 'takes no such argument: options are given to createOnce or to a call',
  given: 'must be given without a call: key: derived',
  'no-name': "needs a name, such as once: { operation: ['pay', cart.id] }",
  'name-length': 'is longer than 2048 characters as JSON',
  'meta-length': 'is longer than 1024 bytes as JSON',
  'no-json-value': 'must be JSON',
  'total-time': 'must be at most 2147483647 ms, what a timer holds',
  'lease-time': 'must be from 1000 to 3600000 ms',
  'key-window': 'must be longer than limits.attemptMs',
  durability: 'needs a store that outlives the process',
  dialect: "must be 'none' or a dialect, such as stripe() of 'oncefetch/dialects'",
  store: 'must be a store, such as memoryStore()',
  connectivity: 'must have the functions online and subscribe',
  signal: 'must be an AbortSignal',
  schema: 'must be a schema with a ~standard.validate (standardschema.dev)',
  cursor: 'must be the cursor of a pending operation',
  'dialect-other': 'must be the one that the call was made with, or nothing is sent until a press',
  'dialect-given': "must return a dialect or 'none'",
  namespace: 'must be or return the id of a user or service: non-empty text, and no promise',
  'no-namespace': 'needs the option namespace: without one no request is stored',
  'no-request': 'cannot store this body; send text or bytes',
  'wall-time': 'must be a time in ms since 1970',
  'sent-already': 'called send for an attempt that was sent, or is over',
  'other-response': 'must return the Response that send gave',
  steady: 'must return the same text until another user logs in',
  verdict: "must return a word such as 'rejected', or undefined",
  origin: 'must be an origin such as "https://api.shop.example"',
  url: 'must be a URL of a server',
  'url-absolute': 'must be absolute where there is no page',
  'url-credentials': 'must not carry a user name or password',
  'no-crypto': 'is not there, so no random key can be made; give createOnce({ randomUUID })',
  uuid: 'must give a UUID',
  'no-cors': 'would strip the key and hide the answer',
  body: 'must be text (JSON.stringify an object), bytes, a Blob, a FormData, URLSearchParams or a stream',
  'body-used': 'was read already',
  'body-length': 'must have no more bytes than limits.bodyBytes',
  'no-body': "can't have a body",
  'body-unread': 'could not be read',
  'form-unread': 'could not be read; pass the FormData itself, not a Request made of it',
  'no-json': 'got a body whose content-type says JSON, but it cannot be parsed',
  'no-place': 'does not exist in this request, so the key cannot go there: body: needs a JSON object or a form, graphql: a mutation',
  'dialect-object': 'must be an object',
  'dialect-answers': 'must be an array of rules',
  'dialect-name': 'must be letters, digits and hyphens',
  'dialect-place': 'is not a known place for a key',
  'pattern-flags': 'must not have the flags g or y: it would match every other time',
  'pattern-holes': 'must refuse line breaks, NUL and an empty text',
  'pattern-uuid': 'matches no UUID; give shape',
  'window-time': 'must be a time in ms',
  'rule-for-all': 'matches every answer',
  'rule-status': 'must be a number',
  'rule-value': "must be text or a pattern: values are compared as text, such as 'false' for false",
  'rule-sticky': 'must not be sticky: only a refusal can be',
  'rule-burnt': 'must not be sticky: this status says nothing certain, it is burnt',
  'rule-means': 'must say what it means: in-progress, mismatch, done-elsewhere, refused, transient, burnt, open or fresh',
  'rule-done': 'must be about a 2xx or 3xx: no other answer can mean done',
} as const;

export type Mistake = keyof typeof MISTAKES;

/** The message of a TypeError or RangeError. `where`: the option, field or function; `got`: the type or text that was given. */
export const wrong = (where: string, mistake: Mistake, got?: string): string => `once: ${where} ${MISTAKES[mistake]}${got === undefined ? '' : `, got ${got}`}`;

const NAMES_FIRST = "one, such as once: ['pay', cart.id] or from createOnce({ operation }); once: false sends it without a key; or it needs ";

/**
 * The message of the TypeError if the client was made without the feature that `what` needs. axios takes a TypeError whose message has the
 * word "fetch" for a broken network, and throws its "Network Error" instead. So the message must not have the name of this package either.
 */
export const needs = (what: string, feature: string): string =>
  `once: ${what} needs ${feature === 'unnamed' ? NAMES_FIRST : what === 'dialect' ? 'a call, such as stripe(), or ' : ''}${feature}(): import it for createOnce({ use: [${feature}()] })`;
