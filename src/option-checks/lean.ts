/** What stands in for `full.ts` in pages in production. What guards safety is checked elsewhere, in both builds. */
import { typeOf } from '../core/name.js';
import { wrong } from '../texts/full.js';
import type * as full from './full.js';

export const checkClient: typeof full.checkClient = () => {};

/** The one thing that depends on data: an id in place of `['pay', id]` would be a call without a name. */
export const checkCall: typeof full.checkCall = (init) => {
  if (typeOf(init) !== 'object') throw new TypeError(wrong('once', 'call', typeOf(init)));
};
