/**
 * What errors and diagnostics say, at length: while developing, and on servers. Pages in production get `lean.ts` in its
 * place, by the build (docs/decisions/0030-texts-and-builds.md). docs/errors.md has the same texts for them.
 */
import type { OnceErrorCode, UnknownReason } from '../core/codes.js';

/** What happened, and what to do next. */
export const CODES: Readonly<Record<OnceErrorCode, string>> = {
  ERR_ONCE_UNKNOWN: 'it may have taken effect, nobody can tell yet. Call again with the same name, resume() it, or settle() it once you know',
  ERR_ONCE_UNSENT: 'nothing was sent and nothing will be. Call again when you like',
  ERR_ONCE_MISMATCH: 'another payload or key is pending under this name, so nothing was sent. Resume that one first',
  ERR_ONCE_ALREADY_SETTLED: 'it has ended already and was not sent again; see outcome. Use another name, or repeat, for another effect',
  ERR_ONCE_KEY_EXPIRED: 'the server may have forgotten the key, so sending again could take effect twice. Give reconcile, or settle() it once you know',
  ERR_ONCE_KEY_BURNT: 'the server repeats its refusal for this key. Use another key',
  ERR_ONCE_ALREADY_DONE: 'it is done, and no answer is left. Fetch what it made',
  ERR_ONCE_BUSY: 'it is being driven right now. Wait for that call',
  ERR_ONCE_CLAIM_LOST: 'another context took it over. Call again with the same name',
  ERR_ONCE_BODY: 'the body cannot be sent more than once. Send text, bytes, a Blob or a FormData',
  ERR_ONCE_STORE: 'the store could not be used, and an earlier key may be in it, so nothing was sent. Call again when it works',
  ERR_ONCE_RECORD: 'what is stored under this name is damaged; nothing was sent. Find out what happened, then forget() it',
};

/** Where the reason says more than the code. */
export const REASONS: { readonly [reason in UnknownReason | 'store-write' | 'nothing-stored']?: string } = {
  mismatch: 'the server holds another payload under this key, and nobody can tell what became of it',
  bytes: 'the server holds other bytes under this key, and nobody can tell what became of them',
  elsewhere:
    'an earlier attempt went to another address and may have taken effect there; this server has never seen its key, so nothing was sent. Call that one again, give reconcile, or settle() it',
  'refused-after-ambiguity':
    "it was refused, but an earlier attempt may have taken effect. Let verdict say 'rejected-for-good' where the server repeats its refusal for the key, or give reconcile",
  'store-write': 'its record could not be stored, so nothing was sent',
  'nothing-stored': 'nothing is stored under this name',
};

/** What an error of this code says. */
export const errorText = (code: OnceErrorCode, _outcome: object): string => CODES[code];

/** Diagnostics whose message is always the same. Each code is a section of docs/diagnostics.md. */
export const DIAGNOSTICS = {
  'retry-after-hidden':
    'a cross-origin answer asks to come back later, and no Retry-After can be read: the server must list it in Access-Control-Expose-Headers',
  'replay-hidden': 'a cross-origin answer may be a replay, and no marker can be read: the server must list it in Access-Control-Expose-Headers',
  'preflight-suspected': 'no attempt was answered, though the device is online: the server may have to list the key header in Access-Control-Allow-Headers',
  'key-ignored': 'the server says that it ignored the key: nothing is sent there twice from now on',
  'reconcile-unproven':
    "what reconcile gave proves nothing, so the operation stays unknown: it must give 'done', 'none', 'unknown', or a Response of 2xx that can be read",
  'insecure-origin': 'an insecure origin has no Web Crypto and no Web Locks: tabs do not wait for one another',
  'unsettled-forgotten': 'an operation that never settled was forgotten 30 days after its last attempt',
  'move-conflict': 'both namespaces have this operation; the older one stays there',
} as const;

export type DiagnosticCode = keyof typeof DIAGNOSTICS;

/** What a diagnostic of this code says; `where`: the place that it is about. */
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

/** What is wrong with what a developer wrote, by the name that docs/errors.md lists it under. */
export const MISTAKES = {
  name: 'must be a non-empty array',
  'name-part': 'must be a non-empty string, a finite number or a bigint',
  'name-given': 'has its name; once.operation must be absent',
  client: 'takes a client from createOnce',
  feature: 'must be a feature, such as polling()',
  durability: 'needs a store that outlives the process',
  dialect: "must be a dialect or 'none'",
  'dialect-given': "must give a dialect or 'none'",
  namespace: 'must give a non-empty string',
  origin: 'must be an origin such as "https://api.shop.example"',
  url: 'must be a URL',
  'url-absolute': 'must be absolute where there is no page',
  'url-credentials': 'must not carry a user name or password',
  'no-crypto': 'is not there, so no random key can be made; give createOnce({ randomUUID })',
  'no-cors': 'would strip the key and hide the answer',
  body: 'must be text, bytes, a Blob, a FormData, URLSearchParams or a stream',
  'body-unread': 'could not be read',
  'form-unread': 'could not be read; hand over the FormData itself, not a Request made of it',
  'no-json': 'got a body that its content-type calls JSON and that is none',
  'no-place': 'is no place of this request, so no key can be put there',
  'dialect-name': 'must be letters, digits and hyphens',
  'dialect-place': 'is a place of which nothing is known',
  'pattern-flags': 'must not have the flags g or y, which make it forget',
  'pattern-holes': 'must refuse line breaks, NUL and an empty text',
  'pattern-uuid': 'matches no UUID; give shape',
  'window-time': 'must be a time in ms',
  'rule-for-all': 'matches every answer',
  'rule-sticky': 'must not be sticky: only what is refused is',
  'rule-burnt': 'must not be sticky for this status, which says nothing certain: it is burnt',
  'rule-means': 'must say what it means, with a word of AnswerRule.means',
  'rule-done': 'must be about a 2xx or 3xx: nothing else can be done',
} as const;

export type Mistake = keyof typeof MISTAKES;

/** The message of a TypeError or RangeError. `where`: the option, field or function; `got`: the type or text that stood there. */
export const wrong = (where: string, mistake: Mistake, got?: string): string => `once: ${where} ${MISTAKES[mistake]}${got === undefined ? '' : `, got ${got}`}`;

/** The message of a TypeError where a client was made without the feature that `what` needs. */
export const needs = (what: string, feature: string): string =>
  `once: ${what} needs ${feature}(): import it from 'oncefetch' and give createOnce({ use: [${feature}()] })`;
