import type { Platform } from '../ports.js';
import { browserPlatform } from './browser/index.js';
import { nodePlatform } from './node/index.js';

/** Node is asked for first: it has browser globals too, some of them in name only. */
export const detectPlatform = (): Platform => (typeof globalThis.process?.versions?.node === 'string' ? nodePlatform() : browserPlatform());
