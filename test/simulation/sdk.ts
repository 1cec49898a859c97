/** A payment provider's SDK, as an app uses it in `run`: it sends by itself, under the key that it is given. */
import type { OperationOptions, RunOptions } from '../../src/option-types.js';
import type { Context } from './context.js';
import type { Call } from './facts.js';
import { URL, type World } from './world.js';

/** What the SDK throws. */
class ProviderError extends Error {
  readonly status: number;
  readonly replayed: boolean;

  constructor(status: number, replayed: boolean) {
    super(`the provider said ${status}`);
    this.status = status;
    this.replayed = replayed;
  }
}

/** What the app makes of it: only a refusal that can't be anything else is one. */
const verdict: NonNullable<RunOptions<unknown>['verdict']> = (end) => {
  if (!('error' in end) || !(end.error instanceof ProviderError)) return undefined;
  const { status, replayed } = end.error;
  if (status === 409) return 'in-progress';
  if (status === 422 || status === 400 || status >= 500 || status < 400) return 'ambiguous';
  return replayed ? 'rejected-for-good' : 'rejected';
};

export function runSdk(
  world: World,
  context: Context,
  { op, payload }: Call,
  { signal, ...init }: RequestInit,
  options: Pick<OperationOptions, 'key' | 'limits' | 'onOutcome'>,
): Promise<unknown> {
  const effect = async ({ key, signal: ended }: { readonly key: string; readonly signal: AbortSignal }): Promise<number> => {
    const headers = new Headers(init.headers);
    headers.set('idempotency-key', key);
    const response = await world.network.send(context, URL, { ...init, headers, signal: ended });
    const page = /html/.test(response.headers.get('content-type') ?? '') || response.redirected;
    if (!response.ok || page) throw new ProviderError(page ? 302 : response.status, response.headers.has('idempotent-replayed'));
    const reader = response.body?.getReader();
    while (reader && !(await reader.read()).done);
    return response.status;
  };
  return context.once.run(op.name, effect, { ...options, verdict, fingerprint: () => payload, ...(signal ? { signal } : {}) });
}
