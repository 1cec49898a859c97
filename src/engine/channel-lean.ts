/** Replaces `channel.ts` in production pages, which have no such channel. */
import type * as full from './channel.js';

export const openChannel: typeof full.openChannel = () => {};
