/** The app's `fingerprint` hook, which says what identifies a payload in place of its bytes. */
import { typeOf } from '../core/name.js';
import type { Settings } from '../options.js';
import { wrong } from '../texts/full.js';
import { jsonOf } from './bytes.js';
import { textOf } from './native.js';
import type { ReplayableRequest } from './request.js';

/**
 * What the hook says of a request, as text; `undefined`: the bytes count. Throws a TypeError if the content type says JSON, but the body is
 * none and the hook returns nothing.
 */
export async function askFingerprint(
  { fingerprint }: Settings,
  { method, url, headers }: ReplayableRequest,
  body: string | Uint8Array,
  json: boolean,
): Promise<string | undefined> {
  const parsed = typeof body === 'string' || json ? jsonOf(textOf(body)) : undefined;
  const said = await fingerprint?.({ method, url, body: parsed === undefined ? body : parsed });
  if (said === undefined && parsed === undefined && body.length > 0 && /[/+]json\b/i.test(headers.get('content-type') ?? ''))
    throw new TypeError(wrong('fingerprint', 'no-json'));
  return said === undefined ? undefined : textOfPrint(said);
}

function textOfPrint(said: unknown): string {
  if (typeof said === 'string') return said;
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(said);
  } catch (error) {
    cause = error;
  }
  // A function, for example, has no JSON, and all payloads would be the same.
  if (text === undefined) throw new TypeError(`once: fingerprint must give JSON, got ${typeOf(said)}`, { cause });
  return text;
}
