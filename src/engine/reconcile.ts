/** Asks the caller's `reconcile` what became of an operation. */
import type { UnknownReason } from '../core/outcome.js';
import type { Drive } from './drive.js';
import type { Result } from './payload.js';
import { isSamePerson } from './place.js';
import { limit } from './wait.js';

/** What `reconcile` said; `undefined` when there is no such hook, it does not know either, or it could not be asked in the session of this user. */
export async function reconciled(
  drive: Drive,
  reason: UnknownReason | 'done-elsewhere',
  result: Result | undefined,
): Promise<Response | 'done' | 'none' | undefined> {
  const { job, record } = drive;
  const { client, namespace, settings } = job;
  const { reconcile, limits } = settings;
  // It would ask with the credentials of the user who is logged in now, and be told what that user may see.
  if (!reconcile || !isSamePerson(client, namespace)) return undefined;
  const controller = new AbortController();
  const { over, off } = limit(client.platform.clock, limits.attemptMs, [job.stop]);
  const late = over.then((): undefined => {
    controller.abort();
  });
  try {
    const question = {
      operation: job.name,
      key: record.key,
      firstSentAt: record.firstSentAt ?? record.createdAt,
      reason,
      response: result?.response?.clone(),
      signal: controller.signal,
    };
    const said = await Promise.race([reconcile(question), late]);
    return said === 'unknown' || !isSamePerson(client, namespace) ? undefined : said;
  } catch (error) {
    client.platform.report(error);
    return undefined;
  } finally {
    off();
  }
}
