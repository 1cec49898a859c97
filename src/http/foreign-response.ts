/** Responses that the app's own code returned: a function given to `run`, or `reconcile`. */

import { isObject } from '../core/name.js';
import type { Client } from '../engine/client.js';
import { BODY_MS, readBody } from './answer.js';
import type { Answered } from './transport-result.js';

/**
 * Whether this is a Response, by its members: one of a polyfill or of another realm is not an instance of this realm's class. An object that
 * throws when it is asked for one of them, such as a strict proxy, is none.
 */
export function isResponse(value: unknown): value is Response {
  if (!isObject(value)) return false;
  try {
    const { status, ok, headers, clone } = value as { [K in keyof Response]?: unknown };
    return (
      typeof status === 'number' && typeof ok === 'boolean' && typeof clone === 'function' && typeof (headers as Headers | undefined)?.forEach === 'function'
    );
  } catch {
    return false;
  }
}

/** Reads its body, as for an answer to our own request. Rejects if the body was read already or breaks off. */
export const readForeign = ({ platform }: Client, response: Response, bodyBytes: number): Promise<Answered> =>
  readBody(response, bodyBytes, platform.clock, BODY_MS);
