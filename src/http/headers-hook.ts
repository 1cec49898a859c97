/** The app's `headers` hook, which is asked before each attempt. */

import { askUser } from '../engine/ask-user.js';
import type { AttemptRequest } from '../engine/client.js';
import { withKey } from './http-payload.js';
import type { ReplayableRequest } from './request.js';

export const merged = (prepared: ReplayableRequest, more: HeadersInit | undefined): ReplayableRequest => {
  const headers = new Headers(prepared.headers);
  for (const [name, value] of new Headers(more)) headers.set(name, value);
  return { ...prepared, headers };
};

/** The request with the headers of the `headers` hook, which gets it as it goes out. Waits no longer than the attempt's time, an abort, or `close()`. */
export async function addHeaders(prepared: ReplayableRequest, { job, number: attempt, resumed, ms }: AttemptRequest): Promise<ReplayableRequest> {
  const { method, url, headers, body } = prepared;
  const question = { attempt, resumed, method, url, headers: new Headers(headers), body };
  const answer = await askUser(job, ms, 'the headers hook', () => job.settings.headers?.(question));
  if (!answer) throw new Error('another user has logged in, or clear() was called');
  return merged(prepared, answer.said);
}

/** The request with the hook's headers, and with its key, which the hook can't replace. */
export const withHeaders = async (prepared: ReplayableRequest, attempt: AttemptRequest): Promise<ReplayableRequest | undefined> =>
  withKey(await addHeaders(prepared, attempt), attempt);
