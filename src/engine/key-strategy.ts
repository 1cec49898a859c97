/** Asks the app's key strategy: the option `key` as a function. */
import type { Begun } from '../core/claimant.js';
import type { IdempotencyKey } from '../core/ids.js';
import { rejected, unknown } from '../core/outcome.js';
import { isOnceError } from '../errors.js';
import type { KeyStrategy } from '../option-types.js';
import { isSamePerson } from './address.js';
import { askUser } from './ask-user.js';
import { keyOf } from './claim.js';
import type { OperationRun } from './client.js';
import { beginWithKeys } from './derived-keys.js';
import { failure } from './failure.js';
import { nameOrNone } from './observe.js';
import { nothingSent } from './record-access.js';
import { CallerLeft } from './wait.js';

/** Begins the operation. Asks the strategy only for a new key. */
export const beginByStrategy = (job: OperationRun): Promise<Begun> => beginWithKeys(job, (generation) => strategyKey(job, generation));

/** The strategy's key for this generation. */
async function strategyKey(job: OperationRun, generation: number): Promise<IdempotencyKey> {
  try {
    return keyOf(job.settings.dialect, await askStrategy(job, generation));
  } catch (cause) {
    return noKey(job, cause);
  }
}

/** Asks the key strategy, within a time limit, and for one user only: if two users got the same key, their two operations would become one. */
export async function askStrategy(
  job: Pick<OperationRun, 'client' | 'settings' | 'name' | 'operationKey' | 'namespace' | 'fingerprint' | 'stop' | 'deadline'>,
  generation: number,
): Promise<string> {
  const { client, settings, namespace, fingerprint, name } = job;
  const question = { namespace, operation: nameOrNone(name), fingerprint, generation, now: client.platform.clock.now() };
  const answer = await askUser(job, settings.limits.attemptMs, 'the key strategy', () => (settings.key as KeyStrategy)(question));
  // The strategy may ask a server for the key. If somebody else was logged in meanwhile, the key may have been issued to them.
  if (!answer || !isSamePerson(job)) throw failure(job, unknown('identity'));
  return answer.said;
}

/**
 * Throws what the strategy threw, unless this call has already sent an earlier key that was used up without an effect. Then it throws
 * that nothing took effect, or that the outcome is unknown if another context has gone on with the name while the strategy was asked.
 */
async function noKey(job: OperationRun, cause: unknown): Promise<never> {
  if (!job.again || isOnceError(cause) || cause instanceof CallerLeft) throw cause;
  const none = await nothingSent(job, false).catch(() => false);
  if (none) throw failure(job, rejected(), { cause }, 'ERR_ONCE_KEY_BURNT');
  throw failure(job, unknown('refused-after-ambiguity'), { cause });
}
