/** Replaces `owner.ts` in production pages: no store of a page can tell which processes are gone, so their leases must run out. */
import type * as full from './owner.js';

export const nameOwner: typeof full.nameOwner = async (client) => {
  client.owner ??= client.platform.randomness.uuid();
};

export const isOwnerGone: typeof full.isOwnerGone = async () => false;

export const freeFromDeadOwner: typeof full.freeFromDeadOwner = async () => false;
