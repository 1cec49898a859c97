/** A client and the clients made from it. */
import type { Client } from './client.js';

/** The client and all clients that were extended from it, directly or not, and are still in use. */
export const familyOf = (client: Client): readonly Client[] => [client, ...(client.extensions?.living ?? []).flatMap(familyOf)];
