/** Replaces `detect.ts` in production pages, which need nothing that only Node has. */

import { browserPlatform } from './browser/index.js';
import type * as full from './detect.js';
import { serverPlatform } from './server/index.js';
import { isPage } from './shared.js';

export const detectPlatform: typeof full.detectPlatform = () => (isPage() ? browserPlatform() : serverPlatform());
