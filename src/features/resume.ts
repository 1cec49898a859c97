/** Resumes stored operations. */

import { check } from '../check.js';
import { encodeName, type OperationName } from '../core/name.js';
import { addressOf, namespaceOf } from '../engine/address.js';
import { operate } from '../engine/operate.js';
import { type Resumed, readNothing, resumeAll } from '../engine/resuming.js';
import { clientOf, type Once } from '../once.js';
import { RESUME_CONCURRENCY } from '../options.js';

/** Which operations to resume, and how many at a time. */
export interface ResumeOptions {
  /** Only operations whose names begin with this. */
  prefix?: OperationName | undefined;
  /** How many are sent at the same time. @default 4 */
  concurrency?: number | undefined;
  /** Ends the iteration: it throws the signal's reason, and nothing more is sent. */
  signal?: AbortSignal | undefined;
}

/**
 * Resumes pending operations, a few at a time, each with its own key. Names that begin differently take turns, so that a backlog of
 * one kind does not hold up the others. Nothing is resumed unless you iterate this: `await resume(once)` alone sends nothing. The client's
 * options count, not those of the original calls: a `verdict` that only a call had is not asked. What was begun with a dialect of another name
 * is not sent. In a page or an app, a call without a name that is still under way is left alone.
 *
 * @throws RangeError if `concurrency` is less than 1; TypeError on a wrong option or an empty namespace
 * @example
 * for await (const { name, outcome } of resume(once, { prefix: ['pay'] })) show(name, outcome.effect);
 */
export function resume(once: Once, options: ResumeOptions = {}): AsyncIterable<Resumed> {
  const client = clientOf(once, 'resume');
  check(options, { prefix: 'array', concurrency: 'count', signal: 'signal' }, 'resume');
  return resumeAll(client, namespaceOf(client), { ...options, concurrency: options.concurrency ?? RESUME_CONCURRENCY });
}

/**
 * Resumes one operation, with its key. If its request is not stored, the client lacks `requests()`, or the call had a dialect of another name,
 * only `reconcile` is asked. If the operation is done already, a client with `answers()` gives its stored answer.
 *
 * @throws TypeError on a wrong name or option
 * @throws ERR_ONCE_UNKNOWN if nobody can tell what became of it, or nothing is known of this name
 * @throws ERR_ONCE_ALREADY_SETTLED if it is done, but its answer was not stored (`keep.response`), or the client lacks `answers()`
 * @throws ERR_ONCE_ALREADY_DONE if `reconcile` says that it is done, but gives no Response
 * @example
 * const response = await resumeOne(once, ['pay', cart.id]);
 */
export async function resumeOne(once: Once, name: OperationName, options: { signal?: AbortSignal | undefined } = {}): Promise<Response> {
  const client = clientOf(once, 'resumeOne');
  check(options, { signal: 'signal' }, 'resumeOne');
  const address = addressOf(client, encodeName(name));
  return operate({ client, settings: client.settings, address, read: readNothing, signal: options.signal }) as Promise<Response>;
}
