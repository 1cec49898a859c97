/** Makes the call of a form, and reads what became of it. */
import { isOnceError, type Once, type OperationName, type Outcome, operation, outcomeOf, type PendingOperation, pending, resumeOne } from 'oncefetch';
import { ignoredIn } from './attributes.js';
import { fingerprintOf } from './fingerprint.js';
import { nextKey, renderedKey, type SpentKeys } from './key.js';
import { type OnceFormElement, type Shared, wrong } from './options.js';
import { bodyOf, fieldsOf, type Submission } from './submission.js';
import type { FormMoment, FormOutcome } from './words.js';

/** What is submitted. */
export interface Asked {
  readonly element: OnceFormElement;
  readonly submission: Submission;
  readonly name: OperationName;
  /** Whether the rendered key belongs to this operation. It does not if the operation is a button's own. */
  readonly keyed: boolean;
}

/** Sends the form as it is now, or goes on with what was sent before. Throws if the page has a mistake. */
export function send(
  { client, settings: { fingerprint, repeat }, options: { call }, spent, repeated }: Shared,
  { element, submission, name, keyed }: Asked,
): Promise<FormOutcome> {
  const fields = fieldsOf(submission);
  // Read the key now: when it is needed, the page may show another operation's key in the same field.
  const key = keyed ? renderedKey(submission.form)?.value : undefined;
  const more: unknown = call?.(element, fields);
  // Refuse a promise: spreading it below would add nothing, and its options would be lost silently.
  if (more instanceof Promise) throw wrong('the option call', 'return the options, and not a promise of them');
  const once = {
    repeat,
    ...(fingerprint ? {} : { fingerprint: () => fingerprintOf(fields, submission.multipart, ignoredIn(element)) }),
    ...(more as ReturnType<NonNullable<typeof call>> | undefined),
    // A function, because an unsettled operation may have begun under another key, and because another tab may use this one up meanwhile.
    ...(!!key && { key: () => spent.keyToSend(key) }),
  };
  if (once.repeat !== 'never') repeated.add(name.join(' '));
  const init = { method: 'POST', headers: { accept: 'application/json' }, body: bodyOf(submission, fields), once };
  return told(operation(client, name).fetch(submission.url, init), spent);
}

/** Finds out what became of an operation that was sent before, perhaps by an earlier page. */
export const ask = ({ client, spent }: Shared, name: OperationName): Promise<FormOutcome> => told(resumeOne(client, name), spent);

/** The outcome for a mistake of the page. */
export const mistake = (error: unknown): FormOutcome => ({ moment: 'failed', outcome: undefined, response: undefined, answer: undefined, error });

/** How often to look again while another tab is sending, ms, because that tab may die without telling. */
export const LOOK_AGAIN_MS = 2000;

/** The unsettled operation of this name, as it is stored. */
export const openOf = async (client: Once, name: OperationName): Promise<PendingOperation | undefined> =>
  (await pending(client, { prefix: name }).catch(() => [])).find((one) => one.name.length === name.length);

/** The moment to show for an outcome. */
export const momentOf = ({ effect, type }: Outcome): FormMoment => (effect !== 'none' ? effect : type === 'unsent' ? type : 'refused');

async function told(call: Promise<Response>, spent: SpentKeys): Promise<FormOutcome> {
  const ended: unknown = await call.catch((error: unknown) => error);
  const outcome = outcomeOf(ended);
  const [response, error] = ended instanceof Response ? [ended] : [isOnceError(ended) ? ended.response : undefined, ended];
  const already = isOnceError(ended, 'ERR_ONCE_ALREADY_SETTLED') && outcome?.effect === 'done';
  const stale = isOnceError(ended, 'ERR_ONCE_KEY_BURNT');
  const moment = already ? 'already' : stale ? 'stale' : outcome ? momentOf(outcome) : 'failed';
  const answer = response && (await jsonOf(response));
  // Do this even if the form has changed or is gone, because the server says that the key is used up.
  const next = moment === 'refused' || moment === 'done' ? nextKey(answer) : undefined;
  if (outcome?.key && next) spent.replace(outcome.key, next, moment === 'refused');
  return { moment, outcome, response, answer, error };
}

/** How long to wait for a body that the client has not read (a stream, or a long one), ms. It may never end. */
const REST_MS = 2000;

/** The body as JSON, read from a copy, so that the app can still read the response. */
async function jsonOf(response: Response): Promise<unknown> {
  if (!/\bjson\b/i.test(response.headers.get('content-type') ?? '')) return undefined;
  const json = response
    .clone()
    .json()
    .catch(() => undefined);
  return Promise.race([json, new Promise<undefined>((resolve) => setTimeout(resolve, REST_MS))]);
}

/** Whether there is nothing to ask about: nothing was sent, or it ended without an effect. If the page has not read the record yet, this reads it. */
export async function isNothing(client: Once, name: OperationName): Promise<boolean> {
  const { state } = operation(client, name);
  if (state.phase === 'loading') return !(await openOf(client, name));
  return state.phase === 'idle' || (state.phase === 'settled' && state.outcome.effect === 'none');
}
