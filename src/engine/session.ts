/** Questions to the app that are about one user. */
import { isSamePerson, sessionOf } from './address.js';
import type { OperationRun } from './client.js';
import { inTime } from './wait.js';

/**
 * Asks a hook of the app, in time, and for one user only: it would get one user's request and answer with what is the next one's.
 * `undefined` where somebody else is here, or was in between. Whether somebody else has come meanwhile, the caller looks itself.
 */
export async function askUser<T>(
  job: Pick<OperationRun, 'client' | 'namespace' | 'stop' | 'deadline'>,
  ms: number,
  hook: string,
  ask: () => T | PromiseLike<T>,
): Promise<{ readonly said: T } | undefined> {
  const { client, namespace } = job;
  if (!isSamePerson(client, namespace)) return undefined;
  const session = sessionOf(client);
  const said = await inTime(job, ms, Promise.resolve(ask()), () => new Error(`${hook} did not answer in time`));
  return sessionOf(client) === session || !isSamePerson(client, namespace) ? { said } : undefined;
}
