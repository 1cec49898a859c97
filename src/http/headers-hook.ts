/** The app's `headers` hook, which is asked before each attempt. */
import type { AttemptRequest } from '../engine/client.js';
import { askUser } from '../engine/session.js';
import { withKey } from './http-payload.js';
import type { ReplayableRequest } from './request.js';

export const merged = (prepared: ReplayableRequest, more: HeadersInit | undefined): ReplayableRequest => {
  const headers = new Headers(prepared.headers);
  for (const [name, value] of new Headers(more)) headers.set(name, value);
  return { ...prepared, headers };
};

/** Calls the `headers` hook with the request as it goes out. The wait ends when the attempt's time is over, at an abort, or at `close()`. */
export async function hooked({ method, url, headers, body }: ReplayableRequest, a: AttemptRequest): Promise<HeadersInit | undefined> {
  const { job, number: attempt, resumed, ms } = a;
  const asked = { attempt, resumed, method, url, headers: new Headers(headers), body };
  const given = await askUser(job, ms, 'the headers hook', () => job.settings.headers?.(asked));
  if (!given) throw new Error('another user has logged in, or clear() was called');
  return given.said;
}

/** The request with the hook's headers, and with its key, which the hook can't replace. */
export const withHeaders = async (prepared: ReplayableRequest, a: AttemptRequest): Promise<ReplayableRequest | undefined> =>
  withKey(merged(prepared, await hooked(prepared, a)), a);
