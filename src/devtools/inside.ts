/** Access to the inside of a client, on which the package's own functions work. */
import type { Once } from 'oncefetch';
import { typeOf } from '../core/name.js';
import type { Client } from '../engine/client.js';

/** The inside of a client. @throws TypeError if `once` is not a client */
export function insideOf(once: Once): Client {
  const inside: unknown = (once as Once | undefined)?.['~oncefetch'];
  if (typeof inside !== 'function') throw new TypeError(`once: devtools takes a client from createOnce, got ${typeOf(once)}`);
  return inside() as Client;
}

/** The client in the form that the package's functions take. */
export const faceOf = (client: Client): Once => ({ '~oncefetch': () => client }) as unknown as Once;
