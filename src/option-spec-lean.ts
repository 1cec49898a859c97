/** Replaces `option-spec.ts` in production pages. It still refuses misspelled names: otherwise what the option was to protect would be lost silently. */
import type * as full from './option-spec.js';

const OF_BOTH = 'fingerprint,repeat,verdict,keep,limits,whenBusy,whenChanged,accepted,reconcile,headers,onOutcome,operation,';

function checkNames(options: object, names: string, prefix: string): void {
  for (const name of Object.keys(options)) if (!names.split(',').includes(name)) throw new TypeError(`once: there is no option ${prefix}${name}`);
}

export const checkClientOptions: typeof full.checkClientOptions = (options) =>
  checkNames(options, `${OF_BOTH}use,namespace,store,dialect,fetch,durability,retry,origins,connectivity,randomUUID`, '');

export const checkCallOptions: typeof full.checkCallOptions = (init) => checkNames(init, `${OF_BOTH}key,meta,background`, 'once.');

export const checkRunOptions: typeof full.checkRunOptions = () => {};
