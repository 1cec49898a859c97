/** Evidence, how each dialect reads it, and what oncefetch does then. */
import { decide, type Situation } from '../../src/core/decide.js';
import type { Answer, Dialect, Reading } from '../../src/core/dialect.js';
import { NO_ANSWER, NOT_SENT, readAnswer, readPoll } from '../../src/core/verdict.js';
import { ASKED, answerOf, type Fixture, fixturesOf } from '../dialects/support/fixtures.js';
import { CALM } from '../support/situation.js';
import { says } from './decisions.js';

export interface Evidence {
  readonly shows: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly type?: string;
  readonly redirected?: boolean;
  /** No HTTP answer at all. */
  readonly reading?: Reading;
}

const MARK = { 'idempotent-replayed': 'true' };
const HTML = { 'content-type': 'text/html' };
const statuses = (all: readonly number[], more: Omit<Evidence, 'shows' | 'status'>, says = ''): Evidence[] =>
  all.map((status) => ({ shows: `${status}${says}`, status, ...more }));

/** What any server, or anything in front of one, can answer. In the order of the rows in the table of verdicts. */
export const EVIDENCE: readonly Evidence[] = [
  { shows: 'the transport was never called', reading: NOT_SENT },
  { shows: 'network error, timeout, abort, cut body', reading: NO_ANSWER },
  ...statuses([102], {}, ' and nothing more'),
  { shows: 'opaque response', status: 0, type: 'opaque' },
  { shows: 'a redirect was followed', status: 200, redirected: true },
  ...statuses([301, 302, 303, 307, 308], {}, ', not followed'),
  ...statuses([304], {}),
  { shows: '200 in HTML to a JSON request', status: 200, headers: HTML, body: '<html>log in</html>' },
  ...statuses([200, 201, 303], { headers: MARK }, ', marked'),
  ...statuses([400, 402, 404, 409, 422, 429], { headers: MARK }, ', marked'),
  ...statuses([408, 460, 499, 500, 502, 503], { headers: MARK }, ', marked'),
  { shows: '409 that speaks of work in progress, marked', status: 409, headers: MARK, body: { title: 'A request is outstanding for this Idempotency-Key' } },
  { shows: '423 with Retry-After, marked', status: 423, headers: { ...MARK, 'retry-after': '1' } },
  ...statuses([400, 409, 422], { body: { title: 'The Idempotency-Key was used with a different payload' } }, ' that speaks of another payload under the key'),
  ...statuses([400, 422], { body: { title: 'The Idempotency-Key is already used' } }, ' that says that the key was used'),
  { shows: '409 that speaks of the key and names a resource', status: 409, body: { type: 'idempotency_key_already_used_error', resource_id: 'r_1' } },
  ...statuses([412], {}),
  ...statuses([409, 423], {}, ', empty'),
  {
    shows: '409 whose only code is the address of the status',
    status: 409,
    body: { type: 'https://tools.ietf.org/html/rfc9110#section-15.5.10', title: 'Conflict', status: 409 },
  },
  ...statuses([409, 423], { headers: { 'retry-after': '1' }, body: { code: 'order_locked' } }, ' with Retry-After'),
  ...statuses([409, 423], { body: { title: 'A request is outstanding for this Idempotency-Key' } }, ' that speaks of work in progress'),
  ...statuses([409, 423], { body: { code: 'email_taken' } }, ' with a code of the application'),
  ...statuses([400, 503], { headers: { 'x-should-retry': 'true' } }, ', "should retry: true"'),
  ...statuses([400, 503], { headers: { 'x-should-retry': 'false' } }, ', "should retry: false"'),
  ...statuses([200, 201, 202, 204, 205], {}),
  ...statuses([408, 460, 499, 500, 502, 503, 504, 511, 520, 599], {}),
  ...statuses([421, 425, 429], {}),
  ...statuses([400, 401, 403, 404, 405, 407, 410, 413, 415, 417, 418, 422, 424, 428, 431, 433, 451, 463, 501, 505], {}),
  ...statuses([404], { headers: { 'idempotency-key': ASKED.key } }, ' with the key in a header'),
  {
    shows: '417 with the key in a header that speaks of idempotency',
    status: 417,
    headers: { 'idempotency-key': ASKED.key },
    body: { error: 'Misuse of the idempotency key' },
  },
  ...statuses([402], {}, ', empty'),
  ...statuses([402], { body: { code: 'card_declined' } }, ' with a code'),
  ...statuses([402], { body: { message: 'The quota is exceeded' } }, ' with a message alone'),
  ...statuses([402], { body: { error: 'The quota is exceeded' } }, ' with a message as its error'),
];

const answerFor = ({ status = 0, headers = {}, body, type, redirected }: Evidence): Answer =>
  answerOf({ status, headers, body, ...(type !== undefined && { type }), ...(redirected !== undefined && { redirected }) });

export const readEvidence = (evidence: Evidence, dialect: Dialect, ambiguous: boolean): Reading =>
  evidence.reading ?? readAnswer(answerFor(evidence), { ...ASKED, otherPayloads: ambiguous }, dialect, ambiguous);

const BY = { application: ' by the application', 'in-front': ', perhaps in front' } as const;

const kindSays = ({ kind, sticky, ambiguous, resource, from }: Reading): string =>
  `${kind.replaceAll('-', ' ')}${sticky ? ', sticky' : from ? BY[from] : ''}${/^(transient|refused)$/.test(kind) && ambiguous ? ' (unsure)' : ''}${resource === undefined ? '' : ` (${resource})`}`;

/** A situation within the limits. */
const situation = (dialect: Dialect, ambiguous: boolean, answered: boolean): Situation => ({
  ...CALM,
  ambiguous,
  answered,
  sameAmbiguous: ambiguous,
  answersMismatch: dialect.answersMismatch === true,
  keyed: dialect.carrier !== '',
});

/** Reading and decision, once clean and once after ambiguity. */
export function cells(evidence: Evidence, dialect: Dialect): readonly string[] {
  return [false, true].flatMap((ambiguous) => {
    const reading = readEvidence(evidence, dialect, ambiguous);
    return [kindSays(reading), says(decide(reading, situation(dialect, ambiguous, evidence.reading === undefined)))];
  });
}

/** Merges rows that differ only in the evidence. */
export function answerRows(all: readonly Evidence[], dialect: Dialect): readonly (readonly string[])[] {
  const rows = new Map<string, { shows: string[]; told: readonly string[] }>();
  for (const one of all) {
    const told = cells(one, dialect);
    const row = rows.get(told.join('|')) ?? { shows: [], told };
    row.shows.push(one.shows);
    rows.set(told.join('|'), row);
  }
  return [...rows.values()].map(({ shows, told }) => [shows.join('; '), ...told]);
}

/** The documented answers of one dialect. */
export const documentedRows = (folder: string, dialect: Dialect): readonly (readonly string[])[] =>
  fixturesOf(folder).map((fixture: Fixture, at, all) => [
    `${fixture.status}: ${fixture.shows}`,
    ...cells(fixture, dialect),
    fixture.source === all[at - 1]?.source ? 'the same' : sourceOf(fixture.source),
  ]);

const sourceOf = (source: string): string => (/^https:\/\/\S+$/.test(source) ? `[source](${source})` : source);

/** The rows of answers that this dialect reads differently from the generic one. */
export const differingRows = (dialect: Dialect, generic: Dialect): readonly (readonly string[])[] =>
  answerRows(
    EVIDENCE.filter((one) => cells(one, dialect).join('|') !== cells(one, generic).join('|')),
    dialect,
  );

/** The rows of what the link of a 202 can answer, and what each answer says of the work. */
export function polledRows(dialect: Dialect): readonly (readonly string[])[] {
  const says = {
    running: 'ask again, until the budget of waiting is spent; then `reconcile` or unknown: in-progress',
    done: '**done: fresh**',
    failed: '**none: rejected**',
  };
  const rows = new Map<keyof typeof says, string[]>();
  for (const one of EVIDENCE) {
    if (one.reading) continue;
    const work = readPoll(answerFor(one), { method: 'GET', key: 'k', refusesHtml: true, otherPayloads: false }, dialect);
    rows.set(work, [...(rows.get(work) ?? []), one.shows]);
  }
  return [...rows].map(([work, shows]) => [shows.join('; '), work, says[work]]);
}
