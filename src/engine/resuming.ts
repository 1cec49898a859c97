/** Resumes stored operations, a few at a time. */
import { beginResumed } from '../core/begin-resumed.js';
import type { Namespace } from '../core/ids.js';
import { isUnnamed, type OperationName } from '../core/name.js';
import type { Outcome } from '../core/outcome.js';
import type { OnceRecord } from '../core/record.js';
import { isOnceError } from '../errors.js';
import { isResponse } from '../http/foreign-response.js';
import type { Settings } from '../options.js';
import { wrong } from '../texts/full.js';
import { addressOf, isSamePerson } from './address.js';
import { whileResumed } from './being-resumed.js';
import type { Call, Client, OperationRun, Payload, PreparedCall } from './client.js';
import { abortReason } from './in-flight.js';
import { guarded } from './observe.js';
import { operate } from './operate.js';
import { type Listed, pendingInTurns } from './turns.js';
import { OVER } from './wait.js';

/** How one resumed operation ended this time. */
export interface Resumed {
  readonly name: OperationName;
  readonly outcome: Outcome;
  readonly response: Response | undefined;
}

/** Which operations to resume, and how. */
interface Resuming {
  readonly prefix?: OperationName | undefined;
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
  /** Resumes one of them; `undefined` if it was left alone. */
  readonly one?: (record: Listed, signal: AbortSignal) => Promise<Resumed | undefined>;
}

/** Resumes the pending operations of a namespace, and yields them in the order in which they end. */
export async function* resumeAll(client: Client, namespace: Namespace, how: Resuming): AsyncGenerator<Resumed> {
  const { prefix, concurrency, signal, one = (record, stop) => resumeListed(client, namespace, record, stop) } = how;
  const running = new Set<Promise<Resumed | undefined>>();
  const over = new AbortController();
  const cut = (): void => over.abort(signal && abortReason(signal));
  const next = async (): Promise<Resumed | undefined> => {
    const [done, end] = await Promise.race([...running].map((each) => each.then((value) => [each, value] as const)));
    running.delete(done);
    // The call ended without an outcome because of the abort, so the operation is still pending.
    if (!end && signal?.aborted) throw abortReason(signal);
    return end;
  };
  // If another user has logged in, do not show them the operations of the user who asked.
  const goesOn = (): boolean => isSamePerson({ client, namespace }) && !client.closing.aborted;
  signal?.addEventListener('abort', cut);
  try {
    for await (const record of pendingInTurns(client, namespace, prefix)) {
      if (signal?.aborted) throw abortReason(signal);
      if (!goesOn()) return;
      running.add(one(record, over.signal));
      const end = running.size >= concurrency ? await next() : undefined;
      if (end && goesOn()) yield end;
    }
    while (running.size) {
      const end = await next();
      if (end && isSamePerson({ client, namespace })) yield end;
    }
  } finally {
    // If the caller stops iterating, or the listing fails, nothing more is sent.
    signal?.removeEventListener('abort', cut);
    over.abort(OVER);
  }
}

/**
 * What a call without a request sends: the one that was found, or, if the record has the link of a 202, a payload that polls the link and is never sent as
 * the request. Only now the call knows which dialect it needs. With another one than the call had, nothing is sent: that might take a refusal inside a
 * 200 for a success.
 */
function sends(job: OperationRun, record: OnceRecord, earlier?: Payload) {
  const { client, settings } = job;
  const { hooks, linked } = client.parts;
  const payload = earlier ?? linked?.(record);
  const choose = (): Settings => {
    const own = payload?.prepared && hooks ? hooks.dialect(settings, payload.prepared) : settings;
    if (own.dialect.name !== record.dialect) throw new TypeError(wrong('dialect', 'dialect-other', `${own.dialect.name}; the call had ${record.dialect}`));
    return own;
  };
  return { payload, settings: payload ? guarded(client, choose) : settings };
}

/** The request of a call that brings none: it only goes on with what is stored. */
export const readNothing = async (): Promise<PreparedCall> => ({
  payload: undefined,
  fingerprint: '',
  raw: '',
  resumes: { begin: beginResumed, sends },
});

/** What the call of a resumed operation may have in addition. */
export type Extra = Pick<Call, 'held'> & Pick<PreparedCall, 'agreed'> & Partial<Pick<Settings, 'limits'>>;

/** Resumes a listed operation. One without a name is left to the press that drives it, because an equal press must tell a resume from a press. */
function resumeListed(client: Client, namespace: Namespace, record: Listed, stop: AbortSignal): Promise<Resumed | undefined> {
  const resumeIt = (held?: () => void) => resumeRecord(client, namespace, record, stop, { held });
  if (client.platform.server || !isUnnamed(record.label)) return resumeIt();
  return whileResumed(client, addressOf(client, record.label, namespace, record), stop, resumeIt);
}

export async function resumeRecord(
  client: Client,
  namespace: Namespace,
  record: Listed,
  signal: AbortSignal | undefined,
  { held, agreed, limits = client.settings.limits }: Extra = {},
): Promise<Resumed | undefined> {
  const address = addressOf(client, record.label, namespace, record);
  const { name } = address;
  let outcome: Outcome | undefined;
  const settings = {
    ...client.settings,
    limits,
    onOutcome: (told: Outcome) => {
      // The operation that the customer agreed to is gone. The call that removed it has told its own caller.
      if (agreed && told.effect === 'unknown' && told.reason === 'record') return undefined;
      outcome = told;
      // If the app's hook rejects, the caller of this function reports it.
      return client.settings.onOutcome?.(told);
    },
  };
  const read = async (): Promise<PreparedCall> => ({ ...(await readNothing()), agreed, found: record });
  try {
    const value = await operate({ client, settings, address, read, signal, held });
    // Of a `run`, the value may be anything, also an object with members like those of a Response.
    return outcome && { name, outcome, response: isResponse(value) ? value : undefined };
  } catch (error) {
    const ending = outcome ?? (isOnceError(error) ? error.outcome : undefined);
    // Without an outcome this was an abort or a bug, and the operation is still pending.
    return ending && { name, outcome: ending, response: isOnceError(error) ? error.response : undefined };
  }
}
