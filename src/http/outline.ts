/** Reads fetch's arguments without consuming them. */
import type { Platform } from '../ports.js';
import { isReplayable, isRequest, methodOf } from './request.js';

/** What a call without a key needs to know of fetch's arguments. */
export interface Outline {
  readonly method: string;
  /** The absolute URL, the same for each way to write it. A relative one is resolved by the page's present address. Needed only for methods that write, and for relative ones. */
  place(): string;
  readonly replayable: boolean;
  readonly signal: AbortSignal | undefined;
  /** Whether fetch could send it at all. Asked only after fetch has failed. */
  sendable(): boolean;
}

export function outline({ resolve }: Platform, input: string | URL | Request, init: RequestInit): Outline {
  const request = isRequest(input) ? input : undefined;
  const method = methodOf(input, init);
  const { body } = init;
  // Not every platform shows whether a Request has a body.
  const mayHaveBody = request && (request.body === undefined ? /^(PUT|DELETE)$/.test(method) : request.body !== null);
  const replayable = body == null ? !mayHaveBody : isReplayable(body);
  const url = request ? request.url : String(input);
  const signal = init.signal ?? (init.signal === null ? undefined : request?.signal);
  // Check the request without its signal: the platform's Request may refuse another implementation's signal, which the app's own fetch accepts.
  const sendable = (): boolean => (!signal || !!signal.addEventListener) && isSendable(resolve, url, { ...init, method, signal: null });
  return { method, place: () => placeOf(resolve, url), replayable, signal, sendable };
}

function placeOf(resolve: Platform['resolve'], url: string): string {
  try {
    return resolve(url).url;
  } catch {
    return url;
  }
}

/** Whether the arguments are valid. If they are not, every attempt fails in the same way. */
function isSendable(resolve: Platform['resolve'], from: string, init: RequestInit): boolean {
  try {
    const { url, origin } = resolve(from);
    return new Request(url, init) !== undefined && origin !== 'null';
  } catch {
    return false;
  }
}
