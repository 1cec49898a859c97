/** One call for a form: what is sent, and what became of it. */
import { isOnceError, type Once, type OperationName, type OperationRequestInit, type Outcome, operation, outcomeOf, resumeOne } from 'oncefetch';
import { ignoredIn } from './attributes.js';
import { fingerprintOf } from './fingerprint.js';
import { nextKey, renderedKey, type SpentKeys } from './key.js';
import type { OnceFormElement, Shared } from './options.js';
import { bodyOf, fieldsOf, type Submission } from './submission.js';
import type { FormMoment, FormOutcome } from './words.js';

/** What was sent, so that it can be asked for again. */
export interface Sent {
  readonly name: OperationName;
  readonly url: string;
  readonly init: OperationRequestInit;
}

export interface Asked {
  readonly element: OnceFormElement;
  readonly submission: Submission;
  readonly name: OperationName;
  /** The rendered key belongs to this operation. */
  readonly keyed: boolean;
}

/** Collects the form as it is now. */
export function collect({ element, submission, name, keyed }: Asked, { fingerprints, options: { call }, spent }: Shared): Sent {
  const fields = fieldsOf(submission);
  // As it is now: by the time that it is asked for, the page may show another operation in the same field.
  const key = keyed ? renderedKey(submission.form)?.value : undefined;
  const once = {
    ...(fingerprints ? {} : { fingerprint: () => fingerprintOf(fields, submission.multipart, ignoredIn(element)) }),
    ...call?.(element, fields),
    // A function, because what is open may have begun under another key, and because another tab may use this one up meanwhile.
    ...(key !== undefined && { key: () => spent.keyToSend(key) }),
  };
  return { name, url: submission.url, init: { method: 'POST', headers: { accept: 'application/json' }, body: bodyOf(submission, fields), once } };
}

/** Sends it, or asks what became of it. */
export const send = ({ client, spent }: Shared, { name, url, init }: Sent): Promise<FormOutcome> => told(operation(client, name).fetch(url, init), spent);

/** Asks what became of what an earlier page sent. */
export const ask = ({ client, spent }: Shared, name: OperationName): Promise<FormOutcome> => told(resumeOne(client, name), spent);

/** A mistake of the page's. */
export const mistake = (error: unknown): FormOutcome => ({ moment: 'failed', outcome: undefined, response: undefined, answer: undefined, error });

/** Whether there is nothing to ask after, as far as this page knows. */
export function isNothing(client: Once, name: OperationName): boolean {
  const { state } = operation(client, name);
  return state.phase === 'idle' || (state.phase === 'settled' && state.outcome.effect === 'none');
}

/** What is told of an outcome, whoever's it was. */
export const momentOf = ({ effect, type }: Outcome): FormMoment => (effect !== 'none' ? effect : type === 'unsent' ? type : 'refused');

async function told(call: Promise<Response>, spent: SpentKeys): Promise<FormOutcome> {
  const ended: unknown = await call.catch((error: unknown) => error);
  const outcome = outcomeOf(ended);
  const error = ended instanceof Response ? undefined : ended;
  const response = ended instanceof Response ? ended : isOnceError(ended) ? ended.response : undefined;
  const already = isOnceError(ended, 'ERR_ONCE_ALREADY_SETTLED') && outcome?.effect === 'done';
  const stale = isOnceError(ended, 'ERR_ONCE_KEY_BURNT');
  const moment = already ? 'already' : stale ? 'stale' : outcome ? momentOf(outcome) : 'failed';
  const answer = response && (await jsonOf(response));
  // Whatever has become of the form meanwhile: the key is used up.
  const next = moment === 'refused' || moment === 'done' ? nextKey(answer) : undefined;
  if (outcome?.key !== undefined && next !== undefined) spent.replace(outcome.key, next, moment === 'refused');
  return { moment, outcome, response, answer, error };
}

/** For so long it is waited for the rest of a body that the client has not read: a stream, or a long one. It may never end. */
const REST_MS = 2000;

/** The body stays unread for the app. */
async function jsonOf(response: Response): Promise<unknown> {
  if (!/\bjson\b/i.test(response.headers.get('content-type') ?? '')) return undefined;
  const json = response
    .clone()
    .json()
    .catch(() => undefined);
  return Promise.race([json, new Promise<undefined>((resolve) => setTimeout(resolve, REST_MS))]);
}
