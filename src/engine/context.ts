/** The context that a call belongs to. */
import type { Client } from './client.js';

/**
 * The client as one call sees it. Some runtimes do not let a request wait for what another request began. There each call is a context
 * of its own: it sees no other call in flight and has its own name in leases, so that calls meet in the store only.
 */
export const contextOfCall = (client: Client): Client =>
  client.platform.isolated ? { ...client, owner: undefined, registry: { ...client.registry, flights: new Map() } } : client;
