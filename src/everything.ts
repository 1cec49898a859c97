/** All features, for clients whose size hardly matters. */
import { background } from './features/background.js';
import { insecureOrigins } from './features/insecure-origins.js';
import { polling } from './features/polling.js';
import { reconciling } from './features/reconciling.js';
import { retrying } from './features/retrying.js';
import { unnamed } from './features/unnamed.js';
import type { Feature } from './option-types.js';

export const everything = (): readonly Feature[] => [background(), insecureOrigins(), polling(), reconciling(), retrying(), unnamed()];
