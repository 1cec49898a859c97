/** Tells whether a call is made inside of the function of an operation, which would wait for itself. */
import type { Platform } from '../../ports.js';
import { builtin } from '../shared.js';

type Storage = { run<T>(operations: readonly string[], work: () => T): T; getStore(): readonly string[] | undefined };

/** From this version on, an AsyncLocalStorage costs next to nothing. In earlier ones it slows down every promise of the process. */
const NODE_MIN = 24;

let storage: Storage | undefined;

const opened = (): Storage => {
  storage ??= new (builtin<{ AsyncLocalStorage: new () => Storage }>('node:async_hooks') as { AsyncLocalStorage: new () => Storage }).AsyncLocalStorage();
  return storage;
};

export const nesting: Platform['nesting'] =
  Number.parseInt(globalThis.process?.versions.node ?? '', 10) >= NODE_MIN
    ? {
        run: (operation, work) => opened().run([...(opened().getStore() ?? []), operation], work),
        has: (operation) => storage?.getStore()?.includes(operation) === true,
      }
    : undefined;
