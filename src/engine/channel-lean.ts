/** What stands in for `channel.ts` in pages in production, which have no such channel. */
import type * as full from './channel.js';

export const openChannel: typeof full.openChannel = () => {};
