/** A client and what was made of it. */
import type { Client } from './client.js';

/** The client, and those that were extended from it, as far as they are still held by somebody. */
export const familyOf = (client: Client): readonly Client[] => [client, ...(client.extensions?.living ?? []).flatMap(familyOf)];
