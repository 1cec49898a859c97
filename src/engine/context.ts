/** The context that a call belongs to. */
import type { Client } from './client.js';

/**
 * The client for one call. Where a runtime lets no request wait for what another one began, each call is a context of its own: it
 * finds no other call under way, and has a name of its own in leases, so that calls meet in the store.
 */
export const contextOfCall = (client: Client): Client =>
  client.platform.isolated ? { ...client, owner: undefined, registry: { ...client.registry, flights: new Map() } } : client;
