/** Answers in the store, for the next call of their name in another context. */
import type { StoredAnswer } from '../core/record.js';
import type { OperationRun } from '../engine/client.js';
import { storeForOperation } from '../engine/record-access.js';
import type { Result } from '../engine/result.js';
import { makeResponse, resultOf, valueResult } from './answer.js';
import { base64Of, bytesOf } from './bytes.js';

/** Answer headers that may contain credentials. They are not stored, because another person may read the store. */
const CREDENTIAL = /cookie|auth|token|secret|session|password|credential|csrf|xsrf|api-?key/i;

/** The answer in its stored form; `undefined` if its body was not read, because it is too long or a stream, or if JSON can't hold the value. */
export function storedForm({ response, body, value }: Result): StoredAnswer | undefined {
  if (!response) return storedValue(value);
  if (body === undefined) return undefined;
  const { status, statusText } = response;
  const headers = [...response.headers].filter(([name]) => !CREDENTIAL.test(name));
  const kept = { status, statusText, headers };
  return typeof body === 'object' && body ? { ...kept, body: base64Of(new Uint8Array(body)), base64: true } : { ...kept, body };
}

/**
 * The value as JSON; `undefined` if JSON can't hold it. Then no value is stored, and a later call only learns that the work is done, which
 * is better than getting `{}` for a Map.
 */
function storedValue(value: unknown): StoredAnswer | undefined {
  try {
    const json = JSON.stringify(value, refuseLossy);
    return json || value === undefined ? { json } : undefined;
  } catch {
    return undefined;
  }
}

/** The constructors of objects that JSON writes as they are. */
const PLAIN = [Object, Array, undefined] as unknown[];

/** Throws on bytes (`part` of a Node Buffer is what its `toJSON` gave), and on an instance none of whose members JSON sees, such as a Map, a stream, an Error. */
function refuseLossy(this: Readonly<Record<string, unknown>>, name: string, part: unknown): unknown {
  if (ArrayBuffer.isView(this[name]) || (typeof part === 'object' && part && !PLAIN.includes(part.constructor) && !Object.keys(part).length)) throw part;
  return part;
}

/** The result from a stored answer; `undefined` if this platform can't make such a Response. */
function fromStore(answer: StoredAnswer): Result | undefined {
  if (!('status' in answer)) return valueResult(answer.json === undefined ? undefined : JSON.parse(answer.json));
  const body = answer.base64 && answer.body !== null ? bytesOf(answer.body).buffer : answer.body;
  const response = makeResponse(answer, body);
  return response && resultOf({ response, body, text: typeof body === 'string' ? body : '' });
}

/** The answer as it is to be stored; `undefined` if it is not. In a browser, no answer is stored without a namespace. */
function answerToStore(job: OperationRun, result: Result): StoredAnswer | undefined {
  const { settings, client, name, payload } = job;
  const { server } = client.platform;
  // Decide only now, because a store may be chosen late. A store that ends with its context would only hold a second copy in memory. What a
  // function given to `run` returned is stored by default, because no server can repeat it.
  const lasts = server && name.length > 0 && storeForOperation(job).survives !== 'context';
  const { response = lasts || payload?.answers ? 'disk' : 'memory' } = settings.keep;
  return response === 'disk' && (settings.namespace || server) ? storedForm(result) : undefined;
}

/** How answers are stored. */
export const storedAnswers = { answerToStore, fromStore };
