/** What an outcome means, in sentences: for `explain`, and for the errors of the full build. */
import type { UnknownReason, UnsentReason } from '../core/codes.js';
import type { Outcome } from '../core/outcome.js';

/** An outcome in plain English, for a log, a support tool or a developer. */
export interface Explanation {
  /** What is known of the effect, and why. */
  readonly summary: string;
  /** The facts that led to it, in order of time. */
  readonly steps: readonly string[];
  /** What to do now. */
  readonly next: string;
  /** The part of the guide that says more. The path is the same in the package and in the repository. */
  readonly guide: string;
}

/** Why nobody knows, and what to do, unless that is to call again. */
const UNKNOWN: Readonly<Record<UnknownReason, readonly [why: string, next?: string]>> = {
  'no-answer': ['no attempt was answered within the limits and the retry budget'],
  unavailable: ['the last answers were a 5xx, a 408 or an error inside a 2xx, and the work may be done nevertheless'],
  'in-progress': ['the server was still at work when the call stopped waiting'],
  refused: [
    'it was refused, perhaps by something in front of the application, and the browser or a gateway may have sent another copy unseen',
    'After a 401, log in. Then call again, or ask your server and settle it.',
  ],
  'refused-after-ambiguity': [
    'it was refused, but an earlier attempt was lost and may have taken effect',
    'After a 401, log in. Then call again, or ask your server and settle it.',
  ],
  'not-a-verdict': [
    'the last answer is a redirect, a page in HTML, or a stream whose errors come later, or your verdict threw or gave none of its words, or the request has no place for the key',
  ],
  burnt: ['the server has stored an answer under this key that proves nothing, such as a 500', 'Ask your server, by reconcile or by hand, and settle it.'],
  mismatch: [
    'the server holds another payload under this key',
    'After a resume(), call again with the current payload. Otherwise call again with the first one, or ask your server and settle it.',
  ],
  elsewhere: ['an earlier attempt went to another address, and may have taken effect there', 'Call that address again, or settle it.'],
  bytes: ['the server holds other bytes under this key', 'Ask your server, by reconcile or by hand, and settle it.'],
  'key-expired': [
    'the server may have forgotten the key, so sending again could take effect twice',
    'Ask your server, by reconcile or by hand, and settle it.',
  ],
  identity: ['another user logged in meanwhile, or clear() was called', 'The user who began it can call again, with the same name.'],
  offline: ['the device said that it is offline, after an attempt without an answer'],
  store: ['the store failed, so that what happened could not be read or written'],
  busy: ['it is under way elsewhere, or clear() stopped this call', 'Wait for that call, or call again.'],
  record: [
    'there is nothing to send: no request is stored (keep.request), what is stored is damaged, or this call has no body that can be sent',
    'If the error is ERR_ONCE_RECORD, see there. Otherwise call again with a body that can be sent, or settle it.',
  ],
  aborted: ['the call was aborted, its client closed, or another process took over the function around it'],
};

/** The texts for outcomes without an attempt of this call under their key. */
const SILENT: { readonly [reason in UnknownReason]?: (typeof UNKNOWN)[UnknownReason] } = {
  mismatch: ['an earlier call of this name is pending with another payload or key', 'Resume that one, or ask your server and settle it.'],
  'no-answer': ['an earlier call may have had the effect, and this one sent nothing'],
  // Such an outcome is about none of the keys: each was used up, so that the call tried another one, until it had tried enough.
  unavailable: ['each key that this call sent is used up', 'Call again with the same name: it takes another key.'],
};

/** The texts for the outcome, if it is one of those. */
export const silent = (outcome: Outcome): (typeof UNKNOWN)[UnknownReason] | false | undefined =>
  outcome.type === 'unknown' && !outcome.attempts && (outcome.reason !== 'no-answer' || outcome.resumed) && SILENT[outcome.reason];

const UNSENT: Readonly<Record<UnsentReason, string>> = {
  offline: 'the device said that it is offline',
  unreachable: 'no attempt left the device: its time was over, another user had logged in, or no connection could be made',
  aborted: 'before any attempt left the device, the call was aborted, its client closed, or another process took over the function around it',
  'store-write': 'its record could not be stored',
  'unreplayable-body': 'it has no body that can be sent more than once',
};

const REPLAYED: Readonly<Record<Extract<Outcome, { type: 'replayed' }>['from'], string>> = {
  server: 'The server said so: it repeated a stored answer, or the effect of an earlier attempt',
  store: 'The store had the result',
  memory: 'This page or process had the result in memory',
  reconcile: 'reconcile or settle said so',
  elsewhere: 'The server says that it was done already, under another key or in another way',
};

/** Explains an outcome, which must be a valid one: `explain` checks what the app gives. */
export function explained(outcome: Outcome): Explanation {
  const [summary, next] = ended(outcome);
  return { summary, steps: [...stepsOf(outcome)], next, guide: `docs/outcomes.md#${GUIDES[outcome.type] ?? GUIDES.fresh}` };
}

/** The sections of docs/outcomes.md, by the type of an outcome. */
export const GUIDES: Readonly<Record<Outcome['type'], string>> = {
  fresh: 'what-the-words-rest-on',
  replayed: 'what-the-words-rest-on',
  rejected: 'what-the-words-rest-on',
  unsent: 'why-nothing-was-sent',
  unknown: 'why-nobody-knows',
};

function ended(outcome: Outcome): readonly [summary: string, next: string] {
  const done = 'Show the receipt. For another effect, use another name.';
  switch (outcome.type) {
    case 'fresh':
      return [outcome.certain ? 'It took effect now.' : 'It took effect: now, or by an earlier attempt.', done];
    case 'replayed':
      return [`It took effect earlier. ${REPLAYED[outcome.from]}.`, done];
    case 'rejected':
      return [
        `It did not take effect: the server refused it${outcome.replayed ? ', and repeated an earlier refusal' : ''}.`,
        'Correct the form, and call again.',
      ];
    case 'unsent':
      return [`It did not take effect, and will not: ${UNSENT[outcome.reason]}, so nothing was sent.`, 'Call again when you like.'];
    case 'unknown': {
      const { reason } = outcome;
      // A record that a newer version has ended may have a reason that this version does not know.
      // An outcome does not say with which dialect it came about.
      const again = "Call again with the same name: it goes on with the same key. With dialect 'none', ask your server and settle it.";
      const [why, next = again] = silent(outcome) || UNKNOWN[reason] || [reason];
      const { retryAt } = outcome;
      return [`It may have taken effect: ${why}.`, retryAt === undefined ? next : `${next} Wait until ${time(retryAt)} before that.`];
    }
    default: {
      // A newer version has ended the record in a way that this version does not know.
      const { type, effect } = outcome as Outcome;
      return [`It ended as ${type}: its effect is ${effect}.`, 'Use the newer version.'];
    }
  }
}

function* stepsOf(outcome: Outcome): Generator<string> {
  const { attempts, firstSentAt, resumed, joined, storedIn, sent, reason } = outcome as Outcome & { readonly reason?: string };
  // The facts are about none of the keys that were used up.
  if (reason === 'unavailable' && !attempts) return;
  // As read from the reason of an abort: what the call itself has sent is not in the outcome.
  const left = outcome.key === undefined && sent === 'maybe' && reason === 'aborted';
  if (left) yield 'The call was left before its end.';
  else if (outcome.key === undefined) yield 'This call made no key.';
  else {
    if (firstSentAt !== undefined && sent !== 'no') yield `The first attempt under this key left at ${time(firstSentAt)}.`;
    if (resumed) yield 'This call went on with a key that an earlier call had stored.';
    yield joined ? 'This call joined another one, and shared its answer.' : `This call made ${count(attempts, 'attempt')} under this key.`;
  }
  if (sent === 'maybe')
    yield attempts || left ? 'An attempt may have reached the server, but no answer says so.' : 'An attempt of an earlier call may have reached the server.';
  if (sent === 'yes') yield attempts ? 'An attempt reached the server.' : 'An attempt of an earlier call reached the server.';
  if (outcome.type === 'fresh' && outcome.changed) yield 'More than one payload was sent under this key, and one of them took effect.';
  if (outcome.key !== undefined && storedIn !== 'disk')
    yield `Its record is ${storedIn === 'memory' ? 'in memory: a reload or a restart forgets it' : 'in the session: a crash of the browser, or of the server that holds it, may lose it'}.`;
}

/** A time as text. The number from a record or a server may not be a valid time. */
const time = (ms: number): string => {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
};
/** "no attempts", "1 attempt", "3 attempts". */
export const count = (n: number, what: string): string => `${n === 0 ? 'no' : n} ${what}${n === 1 ? '' : 's'}`;
