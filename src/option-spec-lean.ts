/** What stands in for `option-spec.ts` in pages in production. A misspelled name is told there, too: it would lose silently what the option was to protect. */
import type * as full from './option-spec.js';

const OF_BOTH = 'fingerprint,repeat,verdict,keep,limits,whenBusy,whenChanged,accepted,reconcile,headers,onOutcome,operation,';

const checkNames = (options: object, names: string, prefix: string): void => {
  const unknown = Object.keys(options).find((name) => !(OF_BOTH + names).split(',').includes(name));
  if (unknown !== undefined) throw new TypeError(`once: there is no option ${prefix}${unknown}`);
};

export const checkClientOptions: typeof full.checkClientOptions = (options) =>
  checkNames(options, 'use,namespace,store,dialect,fetch,durability,retry,origins,connectivity,randomUUID', '');

export const checkCallOptions: typeof full.checkCallOptions = (init) => checkNames(init, 'key,meta,background', 'once.');
