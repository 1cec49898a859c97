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

const textOfPrint = (said: unknown): string => (typeof said === 'string' ? said : jsonOfPrint(said));

/** What the hook said, as JSON. Throws a TypeError if JSON can't hold it, because all payloads would have the same fingerprint. */
export function jsonOfPrint(said: unknown): string {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(said, refuseEmptied);
  } catch (error) {
    cause = error;
  }
  if (text === undefined) throw new TypeError(`once: fingerprint must return JSON, got ${typeOf(said)}`, { cause });
  return text;
}

/** Throws on an instance of a class of the platform of which JSON shows nothing, such as an ArrayBuffer, a Map or a FormData. */
function refuseEmptied(_: string, part: unknown): unknown {
  const type = Object.prototype.toString.call(part);
  // An instance of the app's own class is a plain object here, and it may have no fields.
  const plain = type === '[object Object]' || Array.isArray(part) || ArrayBuffer.isView(part);
  if (typeof part === 'object' && part && !plain && Object.keys(part).length === 0) throw new TypeError(`JSON shows nothing of ${type}`);
  return part;
}
