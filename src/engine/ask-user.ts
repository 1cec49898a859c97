/** Calls hooks of the app whose answer is valid for one user only. */
import { isSamePerson, sessionOf } from './address.js';
import type { OperationRun } from './client.js';
import { inTime } from './wait.js';

/**
 * Asks a hook of the app, within a time limit, and for one user only: otherwise it could get one user's request and answer with the
 * next user's credentials. `undefined` if another user is logged in before the call, or was in between. The caller must check
 * whether the user is still the same afterwards.
 */
export async function askUser<T>(
  job: Pick<OperationRun, 'client' | 'namespace' | 'stop' | 'deadline'>,
  ms: number,
  hook: string,
  ask: () => T | PromiseLike<T>,
): Promise<{ readonly said: T } | undefined> {
  if (!isSamePerson(job)) return undefined;
  const session = sessionOf(job);
  const answer = await inTime(job, ms, Promise.resolve(ask()), () => new Error(`${hook} did not answer in time`));
  return sessionOf(job) === session || !isSamePerson(job) ? { said: answer } : undefined;
}
