/** What stands in for `owner.ts` in pages in production: no store of a page knows which processes are gone, so a lease runs out. */
import type * as full from './owner.js';

export const nameOwner: typeof full.nameOwner = async (client) => {
  client.owner ??= client.platform.randomness.uuid();
};

export const freeFromTheGone: typeof full.freeFromTheGone = async () => false;
