/** The answer to one attempt, and how the rules read it, in the words of docs/verdicts.md. */
import type { Answer, AnswerKind, Reading } from '../core/dialect.js';
import { NO_ANSWER, readAnswer, refusesHtml } from '../core/verdict.js';
import type { Client } from '../engine/client.js';
import type { FaultName } from './faults.js';

/** The result of one attempt, as this page saw it. */
export interface Evidence {
  /** The HTTP status; absent if no answer came. */
  readonly status?: number | undefined;
  /** The result in words: "409 with Retry-After: 1". */
  readonly what: string;
  readonly reading: Reading;
  /** From the call of the transport until its headers or its error, ms. */
  readonly ms: number;
  readonly faults: readonly FaultName[];
}

/** What the reading depends on of an attempt's request. */
export interface Sent {
  readonly url: string;
  readonly init: RequestInit;
  readonly key: string;
  /** An earlier attempt under this key may have had its effect. */
  readonly ambiguous: boolean;
}

/** Longer JSON is not read a second time, bytes. */
const JSON_BYTES_MAX = 65_536;

/** The name of a reading in docs/verdicts.md. */
export function labelOf({ kind, sticky, from, ambiguous }: Reading): string {
  const by = from === 'application' ? ' by the application' : from === 'in-front' ? ', perhaps in front' : '';
  return `${kind.replaceAll('-', ' ')}${sticky ? ', sticky' : by}${/^(transient|refused)$/.test(kind) && ambiguous ? ' (unsure)' : ''}`;
}

/** The reason for each kind of reading, as a sentence. */
const WHY: Readonly<Record<AnswerKind, string>> = {
  'not-sent': 'Nothing left.',
  'no-answer': 'The server may have got it and done it, or not.',
  'not-a-verdict': 'A redirect, or a page for people, says nothing of the operation; nor does a verdict that throws.',
  accepted: 'The work has begun; its link says when it is done.',
  replayed: 'The server marks it as the stored answer to an earlier attempt.',
  burnt: 'The server has stored an answer under this key that decides nothing.',
  mismatch: 'The server holds another payload under this key.',
  'done-elsewhere': 'The server says that it was done already, in another way.',
  open: 'It speaks of an earlier request, and not of how that one ended.',
  'in-progress': 'The server is at work on this key.',
  fresh: 'A 2xx without a replay marker: it took effect, by this attempt or by an earlier one.',
  transient: 'The server is in trouble, and asks to come back.',
  refused: 'The server refused it.',
};

export const isKind = (kind: unknown): kind is AnswerKind => typeof kind === 'string' && Object.hasOwn(WHY, kind);

/** Why this reading, in a sentence or two. */
export function whyOf({ kind, ambiguous, sticky, from }: Reading): string {
  if (kind === 'transient') return ambiguous ? 'The server is in trouble, and the work may be done behind it.' : WHY.transient;
  if (kind !== 'refused') return WHY[kind];
  if (sticky) return 'The server repeats this refusal for this key.';
  if (ambiguous) return 'The server refused it, and the work may be done all the same.';
  if (from === 'application') return 'The application refused it: it has looked the key up.';
  return from === 'in-front' ? 'A login, a proxy or a rate limit may have refused it before the key was looked up.' : WHY.refused;
}

/** Dialects that have their own section in docs/verdicts.md. */
const SECTIONS: readonly string[] = [
  'adyen',
  'aws',
  'braintree',
  'checkout',
  'dwolla',
  'gocardless',
  'google-request-id',
  'ietf',
  'increase',
  'klarna',
  'mangopay',
  'mollie',
  'paypal',
  'razorpay',
  'repeatable-requests',
  'resend',
  'shopify',
  'square',
  'stripe',
  'stripe-v2',
  'telnyx',
  'truelayer',
  'worldline',
];

/** The section of docs/verdicts.md for a dialect. */
export const pageOf = (dialect: string): string => `docs/verdicts.md#${SECTIONS.includes(dialect) ? dialect.replaceAll('-', '') : 'any-server-generic'}`;

/** The evidence if no answer came: after a network error, a timeout, an abort or a fault. */
export const noAnswer = (what: string, ms: number, faults: readonly FaultName[]): Evidence => ({ what, reading: NO_ANSWER, ms, faults });

/** The text of a copy if it is JSON and short enough; otherwise ''. */
async function textOf(copy: Response): Promise<string> {
  const short = Number(copy.headers.get('content-length') ?? 0) <= JSON_BYTES_MAX;
  if (short && /\bjson\b|\+json/i.test(copy.headers.get('content-type') ?? '')) return copy.text();
  await copy.body?.cancel();
  return '';
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * Reads a copy of an answer by the same rules as the engine. The app's `verdict` is not called a second time. Never rejects.
 */
export async function readCopy(client: Client, sent: Sent, copy: Response, ms: number, faults: readonly FaultName[]): Promise<Evidence> {
  const { status, type, redirected, headers } = copy;
  const text = await textOf(copy).catch(() => undefined);
  if (text === undefined) return { status, ...noAnswer(`${status}, and its body was cut`, ms, faults) };
  const method = (sent.init.method ?? 'GET').toUpperCase();
  const { dialect, accepted } = client.parts.hooks?.dialect(client.settings, { method, url: sent.url }) ?? client.settings;
  const answer: Answer = { status, type, redirected, header: (name) => headers.get(name), text, json: jsonOf(text) };
  const own = new Headers(sent.init.headers);
  const sentJson = /json/i.test(own.get('content-type') ?? '');
  const asked = {
    method,
    key: sent.key,
    refusesHtml: refusesHtml(sentJson, own.get('accept')),
    accepted,
    otherPayloads: sent.ambiguous,
  };
  const reading = readAnswer(answer, asked, dialect, sent.ambiguous);
  const after = headers.get('retry-after');
  return {
    status,
    what: `${status}${after === null ? '' : ` with Retry-After: ${after}`}${dialect.replayed(answer) ? ', marked as a replay' : ''}`,
    reading,
    ms,
    faults,
  };
}
