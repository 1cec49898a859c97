/** Reads stripe-node's results and errors, for `run`. */
import type { Answer, Reading } from '../core/dialect.js';
import { readAnswer } from '../core/verdict.js';
import type { Verdict } from '../core/verdict-words.js';
import { stripe } from './stripe.js';

/** The members of a StripeError that are used (stripe-node, src/Error.ts). */
interface StripeErrorLike {
  readonly statusCode?: unknown;
  readonly headers?: unknown;
  readonly rawType?: unknown;
  readonly code?: unknown;
}

const headersOf = (of: unknown): Record<string, unknown> => (typeof of === 'object' && of !== null ? (of as Record<string, unknown>) : {});

function answerOf(status: number, headers: unknown, error: StripeErrorLike | undefined): Answer {
  const known = headersOf(headers);
  // stripe-node's fetch client gives a Headers, its Node client a plain object.
  const header = (name: string): unknown => (typeof known['get'] === 'function' ? known['get'](name) : known[name]);
  return {
    status,
    type: 'default',
    redirected: false,
    header: (name) => (header(name) == null ? null : String(header(name))),
    text: '',
    json: error && { error: { type: error.rawType, code: error.code } },
  };
}

function verdictOf({ kind, sticky, ambiguous }: Reading): Verdict {
  if (kind === 'refused') return sticky ? 'rejected-for-good' : ambiguous ? 'ambiguous' : 'rejected';
  if (kind === 'fresh' || kind === 'replayed' || kind === 'in-progress') return kind;
  // `not-sent` says only that this attempt had no effect: if an earlier one was ambiguous, the operation stays ambiguous.
  if (kind === 'transient') return ambiguous ? 'transient' : 'not-sent';
  return 'ambiguous';
}

/**
 * Reads what stripe-node returned or threw, for the `verdict` of `run`. Errors are recognised by their fields, whatever version or
 * copy of the library they come from; any other error is ambiguous. Keep stripe-node from sending again unseen: use
 * `maxNetworkRetries: 0`, and `httpClient: Stripe.createFetchHttpClient()`, because with its Node client it sends once more even then
 * if a connection is closed. If the function has used several keys, the refusal of its last call is ambiguous: what came before may be
 * done, and the next run would do it again under a new key.
 *
 * @see https://github.com/stripe/stripe-node src/Error.ts (663942164)
 * @example
 * await run(once, ['charge', id], ({ key }) => stripe.paymentIntents.create(params, { idempotencyKey: key }), { verdict: stripeVerdict });
 */
export function stripeVerdict(end: ({ readonly value: unknown } | { readonly error: unknown }) & { readonly keys?: number }): Verdict | undefined {
  const said = verdictOn(end);
  return (end.keys ?? 1) > 1 && /^(rejected|not-sent)/.test(said) ? 'ambiguous' : said;
}

function verdictOn(end: { readonly value: unknown } | { readonly error: unknown }): Verdict {
  const dialect = stripe();
  const asked = { method: 'POST', key: '', refusesHtml: false, otherPayloads: true };
  if ('value' in end) {
    const { headers } = headersOf(headersOf(end.value)['lastResponse']);
    return verdictOf(readAnswer(answerOf(200, headers, undefined), asked, dialect, false));
  }
  const error = headersOf(end.error) as StripeErrorLike;
  const { statusCode } = error;
  if (typeof statusCode !== 'number') return 'ambiguous';
  return verdictOf(readAnswer(answerOf(statusCode, error.headers, error), asked, dialect, false));
}
