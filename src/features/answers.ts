/** Gives the next call of a name its answer, also in another page load or process. */

import { refuseArguments } from '../arguments.js';
import { isElsewhere } from '../core/begin.js';
import { replayed } from '../core/outcome.js';
import { isOwn } from '../core/payloads.js';
import type { OnceRecord } from '../core/record.js';
import { sessionOf } from '../engine/address.js';
import type { OperationRun, Parts } from '../engine/client.js';
import { remember } from '../engine/end-record.js';
import { endOf, withFacts } from '../engine/failure.js';
import type { Ended } from '../engine/in-flight.js';
import { reasonToStop } from '../engine/reason-to-stop.js';
import { logOutsOf } from '../engine/registry.js';
import { storedAnswers } from '../http/stored-answer.js';
import type { Feature } from '../option-types.js';

/**
 * Gives a call whose operation is done its answer, also after a reload: the stored one with `keep: { response: 'disk' }`, otherwise the
 * server's replay, if its dialect says that it replays. Without this feature, answers are kept in memory, and after a reload such a call
 * rejects with ERR_ONCE_ALREADY_SETTLED, whose outcome says that it is done. `run` stores what its function returned even without it.
 *
 * @example
 * const once = createOnce({ use: [answers()], namespace: () => session.userId, keep: { response: 'disk' } });
 */
export const answers: () => Feature = (...given: unknown[]) => {
  refuseArguments('answers', given);
  return { parts: { answers: { ...storedAnswers, readAgain } } satisfies Partial<Parts> };
};

/** Asks the server for a replay of a settled operation whose answer is not kept here, if the server is known to replay and still to know the key. */
async function readAgain(job: OperationRun, record: OnceRecord): Promise<Ended | undefined> {
  const { client, settings, payload } = job;
  const mayLeave = (): boolean => reasonToStop(job, record, true) === undefined;
  // If the app or another operation's answer said that it is done, or if it was done at another address, this server may never
  // have seen the key, and would execute the request.
  const from = (record.ending as { from?: unknown } | undefined)?.from;
  if (
    // The user has logged out since this call began.
    job.logOuts !== logOutsOf(client, job.namespace) ||
    // A function given to `run` would be called again, and a server that ignores the key would execute the request.
    !payload?.keyed?.(job, record.carrier) ||
    // An earlier release of the app put the key elsewhere in the request, where this server may not look for it.
    record.carrier !== settings.dialect.carrier ||
    (from && from !== 'server') ||
    isElsewhere(record, { ...payload, scope: settings.dialect.scope, dialect: settings.dialect.name }) ||
    record.state !== 'settled' ||
    !settings.dialect.replays ||
    !isOwn(job, record) ||
    !mayLeave()
  )
    return undefined;
  const session = sessionOf(job);
  const ms = Math.min(settings.limits.attemptMs, job.deadline - client.platform.clock.now());
  const sent = await payload.send({
    job,
    key: record.key,
    carrier: record.carrier,
    firstSentAt: record.firstSentAt ?? record.createdAt,
    number: 1,
    ambiguous: true,
    resumed: true,
    otherPayloads: false,
    ms,
    leaves: mayLeave,
  });
  if (!sent.result || !/^(replayed|fresh)$/.test(sent.reading.kind)) return undefined;
  // After a log-out, the answer goes to the caller only.
  if (sessionOf(job) === session) remember(job, record, sent.result);
  return {
    outcome: withFacts(job, { ...endOf(record, replayed('server'), true), attempts: 1 }),
    result: sent.result,
  };
}
