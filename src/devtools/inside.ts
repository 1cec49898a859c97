/** What the panel reaches of a client: what the package's own functions work on. */
import type { Once } from 'oncefetch';
import { typeOf } from '../core/name.js';
import type { Client } from '../engine/client.js';

/** The inside of a client. @throws TypeError where it is something else */
export function insideOf(once: Once): Client {
  const inside: unknown = (once as Once | undefined)?.['~oncefetch'];
  if (typeof inside !== 'function') throw new TypeError(`once: devtools takes a client from createOnce, got ${typeOf(once)}`);
  return inside() as Client;
}

/** The client as the package's functions take it. */
export const faceOf = (client: Client): Once => ({ '~oncefetch': () => client }) as unknown as Once;
