/** A payment provider's SDK, as an app uses it in `run`: the SDK sends requests itself, under the key that it is given. */
import { type Attempt, type Once, run } from '../../src/entries/index.js';
import type { OperationOptions, RunOptions } from '../../src/option-types.js';
import type { Context } from './context.js';
import type { Call } from './facts.js';
import { PAY } from './requests.js';
import { DECLINED } from './words.js';
import type { World } from './world.js';

/** The error that the SDK throws. */
class ProviderError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly replayed: boolean;

  constructor(status: number, code: string | undefined, replayed: boolean) {
    super(`the provider said ${status}`);
    this.status = status;
    this.code = code;
    this.replayed = replayed;
  }
}

/** The codes with which the provider declines, as its documentation lists them. */
const DECLINED_WITH = new Set(DECLINED.map(({ body }) => codeIn(body)));

function codeIn(body: string | null): string | undefined {
  try {
    return (JSON.parse(body ?? '') as { code?: string }).code;
  } catch {
    return undefined;
  }
}

const isPage = ({ headers, redirected }: Response): boolean => /html/.test(headers.get('content-type') ?? '') || redirected;

/** The app's verdict: only a refusal that cannot be anything else counts as one. `run` itself cannot know which answer is a login page. */
const verdict: NonNullable<RunOptions<unknown>['verdict']> = (end) => {
  if ((end.keys ?? 0) > 1 && 'error' in end) return 'ambiguous';
  if ('value' in end) return typeof end.value === 'object' && isPage(end.value as Response) ? 'ambiguous' : undefined;
  if (!(end.error instanceof ProviderError)) return undefined;
  const { status, code, replayed } = end.error;
  if (code !== undefined && DECLINED_WITH.has(code)) return replayed ? 'rejected-for-good' : 'rejected';
  // An answer from in front of the provider says nothing about a copy that the browser sent before.
  return status === 409 ? 'in-progress' : 'ambiguous';
};

export function runSdk(
  world: World,
  context: Context,
  once: Once,
  { op, payload }: Call,
  { signal, ...init }: RequestInit,
  options: Pick<OperationOptions, 'key' | 'limits' | 'onOutcome'>,
  /** What the function does after its first request. */
  between?: () => Promise<unknown>,
): Promise<unknown> {
  const provider = async (key: string, ended: AbortSignal, part?: string): Promise<unknown> => {
    const headers = new Headers({ ...(init.headers as Record<string, string>), 'idempotency-key': key, ...(part && { 'x-part': part }) });
    const response = await world.network.send(context, PAY.url, { ...init, headers, signal: ended });
    const { runs } = context.client;
    if (runs === 'response') return response;
    const page = isPage(response);
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let body = '';
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) body += decoder.decode(part.value);
    if (!response.ok || page) throw new ProviderError(page ? 302 : response.status, codeIn(body), response.headers.has('idempotent-replayed'));
    return runs === 'function' ? () => response.status : response.status;
  };
  const effect = async (attempt: Attempt): Promise<unknown> => {
    if (context.client.runs !== 'children') return provider(attempt.key, attempt.signal);
    for (const part of op.parts) {
      await provider(attempt.child(part), attempt.signal, part);
      if (world.faults.hits(world.faults.occasion(`${context.slot} effect`), 'hookThrows')) throw new Error('simulated: no such column');
      if (part === op.parts[0]) await between?.();
    }
    return 'booked';
  };
  return run(once, op.name, effect, { ...options, verdict, fingerprint: () => payload, ...(signal ? { signal } : {}) });
}
