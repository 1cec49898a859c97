/** Finds the platform by what it has. What is not known to be one person's device is a server, which shares nothing between callers. */
import type { Platform } from '../ports.js';
import { browserPlatform } from './browser/index.js';
import { nodePlatform } from './node/index.js';
import { serverPlatform } from './server/index.js';
import { warning } from './server/warning.js';
import { isNode, isPage } from './shared.js';

const elsewhere = (): Platform => ({ ...serverPlatform(), forgets: warning((message, code) => console.warn(`${code}: ${message}`)) });

export const detectPlatform = (): Platform => (isNode() ? nodePlatform() : isPage() ? browserPlatform() : elsewhere());
