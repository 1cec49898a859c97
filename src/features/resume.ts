/** Goes on with stored operations. */

import { check } from '../check.js';
import type { Namespace } from '../core/ids.js';
import { decodeName, type OperationName } from '../core/name.js';
import type { Outcome } from '../core/outcome.js';
import { addressOf, isSamePerson, namespaceOf } from '../engine/address.js';
import type { Client, OperationAddress } from '../engine/client.js';
import { abortReason } from '../engine/in-flight.js';
import { NOTHING_TO_READ, operate } from '../engine/operate.js';
import { operationKeyOfRecord } from '../engine/scan.js';
import { OVER } from '../engine/wait.js';
import { isOnceError } from '../errors.js';
import { clientOf, type Once } from '../once.js';
import { pendingInTurns, type Waiting } from './turns.js';

/** How one resumed operation ended this time. */
export interface Resumed {
  readonly name: OperationName;
  readonly outcome: Outcome;
  readonly response: Response | undefined;
}

/** Which operations to go on with, and how many at a time. */
export interface ResumeOptions {
  /** Only operations whose names begin so. */
  prefix?: OperationName | undefined;
  /** How many are sent at the same time. @default 4 */
  concurrency?: number | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Resumes what is pending, a few operations at a time, each with its own key. Names that begin differently take turns, so that
 * a backlog of one kind does not hold up the others. Nothing is resumed by itself.
 *
 * @throws RangeError where `concurrency` is less than 1; TypeError on a wrong option or an empty namespace
 * @example
 * for await (const { name, outcome } of resume(once, { prefix: ['pay'] })) show(name, outcome.effect);
 */
export function resume(once: Once, options: ResumeOptions = {}): AsyncIterable<Resumed> {
  const client = clientOf(once, 'resume');
  check(options, { prefix: 'array', concurrency: 'count', signal: 'object' }, 'resume');
  return resumeAll(client, namespaceOf(client), options);
}

/**
 * Resumes one operation, with its key. Without a stored request it asks `reconcile`. Of one that is done already it gives the
 * stored answer.
 *
 * @throws TypeError on a wrong name or option
 * @throws ERR_ONCE_UNKNOWN if nobody can tell what became of it, or nothing is known of this name
 * @throws ERR_ONCE_ALREADY_SETTLED if it is done, and its answer was not stored (`keep.response`)
 * @throws ERR_ONCE_ALREADY_DONE if `reconcile` says that it is done, and gives no Response
 * @example
 * const response = await resumeOne(once, ['pay', cart.id]);
 */
export async function resumeOne(once: Once, name: OperationName, options: { signal?: AbortSignal | undefined } = {}): Promise<Response> {
  const client = clientOf(once, 'resumeOne');
  check(options, { signal: 'object' }, 'resumeOne');
  const address = addressOf(client, name);
  const settings = { ...client.settings, operation: address.name };
  return operate({ client, settings, address, read: NOTHING_TO_READ, signal: options.signal, request: undefined }) as Promise<Response>;
}

/** Yields operations in the order in which they end. */
async function* resumeAll(client: Client, namespace: Namespace, options: ResumeOptions): AsyncGenerator<Resumed> {
  const { prefix, concurrency = client.settings.tuning.resumeConcurrency, signal } = options;
  const running = new Set<Promise<Resumed | undefined>>();
  const over = new AbortController();
  const cut = (): void => over.abort(signal && abortReason(signal));
  const next = async (): Promise<Resumed | undefined> => {
    const [done, end] = await Promise.race([...running].map((one) => one.then((value) => [one, value] as const)));
    running.delete(done);
    return end;
  };
  // The next user is shown nothing of the one who asked.
  const goesOn = (): boolean => isSamePerson(client, namespace) && !client.closing.aborted;
  signal?.addEventListener('abort', cut);
  try {
    for await (const record of pendingInTurns(client, namespace, prefix)) {
      if (signal?.aborted) throw abortReason(signal);
      if (!goesOn()) return;
      running.add(resumeRecord(client, namespace, record, over.signal));
      const end = running.size >= concurrency ? await next() : undefined;
      if (end && goesOn()) yield end;
    }
    while (running.size) {
      const end = await next();
      if (end && isSamePerson(client, namespace)) yield end;
    }
  } finally {
    // Whoever stops listening, or cannot read on, has nothing sent behind their back.
    signal?.removeEventListener('abort', cut);
    over.abort(OVER);
  }
}

async function resumeRecord(client: Client, namespace: Namespace, record: Waiting, signal: AbortSignal | undefined): Promise<Resumed | undefined> {
  const name = decodeName(record.label);
  const address: OperationAddress = {
    name,
    label: record.label,
    namespace,
    operationKey: operationKeyOfRecord(client, namespace, record),
    id: name.length ? undefined : record.id,
  };
  let outcome: Outcome | undefined;
  const settings = {
    ...client.settings,
    operation: name,
    onOutcome: (told: Outcome) => {
      outcome = told;
      client.settings.onOutcome?.(told);
    },
  };
  try {
    const response = (await operate({ client, settings, address, read: NOTHING_TO_READ, signal, request: undefined })) as Response;
    return outcome && { name, outcome, response };
  } catch (error) {
    const known = outcome ?? (isOnceError(error) ? error.outcome : undefined);
    // An abort, or a bug: it is still pending.
    return known && { name, outcome: known, response: isOnceError(error) ? error.response : undefined };
  }
}
