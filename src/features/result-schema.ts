/** Parses the result of a `run`, new or remembered. */
import type { Outcome } from '../core/outcome.js';
import type { OperationRun } from '../engine/client.js';
import { StopSource } from '../engine/stop-signal.js';
import { notedReason } from '../engine/unbegun.js';
import { CallerLeft, inTime } from '../engine/wait.js';
import { OnceError } from '../errors.js';
import type { StandardSchema } from '../option-types.js';

/** Parses the value with the schema. If the schema refuses, throws or is too slow, the error's outcome still says that the effect took place. */
export async function parseResult<T>(
  { signal, ...call }: Pick<OperationRun, 'client' | 'deadline'> & { readonly signal: AbortSignal | undefined },
  { '~standard': { validate } }: StandardSchema<T>,
  value: unknown,
  outcome: Outcome,
): Promise<T> {
  const settled = (says: string, cause?: unknown): OnceError => new OnceError('ERR_ONCE_ALREADY_SETTLED', outcome, { cause, says: `it is done, but ${says}` });
  const late = (): OnceError => settled('options.result did not answer in time');
  // What the schema throws is not looked at: it may be anything, such as a Proxy that was revoked, or the error of another operation.
  const failed = (cause: unknown): Promise<never> => Promise.reject(settled('options.result failed', cause));
  const parsing = (async () => validate(value))().catch(failed) as Promise<{ issues?: unknown; value?: unknown }>;
  const parsed = await inTime({ ...call, stop: signal ?? new StopSource() }, Infinity, parsing, late).catch((error: unknown) => {
    if (signal?.aborted) throw notedReason(call.client, signal, outcome);
    throw error instanceof CallerLeft ? late() : error;
  });
  if (parsed.issues) throw settled('does not match options.result', parsed);
  return parsed.value as T;
}
