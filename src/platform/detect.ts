/** Recognises the platform by its globals. If it is not known to be one person's device, it counts as a server, where callers share nothing. */
import type { Platform } from '../ports.js';
import { browserPlatform } from './browser/index.js';
import { nodePlatform } from './node/index.js';
import { serverPlatform } from './server/index.js';
import { warning } from './server/warning.js';
import { isNode, isPage } from './shared.js';

const elsewhere = (): Platform => ({ ...serverPlatform(), forgets: warning((message, code) => console.warn(`${code}: ${message}`)) });

export const detectPlatform = (): Platform => (isNode() ? nodePlatform() : isPage() ? browserPlatform() : elsewhere());
