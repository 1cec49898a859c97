/** All features, for clients whose size hardly matters. */
import { answers } from './features/answers.js';
import { background } from './features/background.js';
import { hooks } from './features/hooks.js';
import { insecureOrigins } from './features/insecure-origins.js';
import { polling } from './features/polling.js';
import { reconciling } from './features/reconciling.js';
import { requests } from './features/requests.js';
import { retrying } from './features/retrying.js';
import { unnamed } from './features/unnamed.js';
import type { Feature, OnceOptions } from './option-types.js';

export const everything = (): readonly Feature[] => [
  answers(),
  background(),
  hooks(),
  insecureOrigins(),
  polling(),
  reconciling(),
  requests(),
  retrying(),
  unnamed(),
];

/** The options with every feature. Wrong options are passed on unchanged, because `createOn` refuses them with a message. */
export const withEverything = (options: OnceOptions): OnceOptions =>
  typeof options === 'object' && options ? { ...options, use: everything().concat(options.use ?? []) } : options;
