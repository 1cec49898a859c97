/** Browsers: pages and workers. */
import type { Connectivity, Locks, Platform } from '../../ports.js';
import { resolveUrl, systemClock, systemRandomness, systemTransport, webDigest } from '../shared.js';
import { listening } from './listening.js';
import { tabs } from './tabs.js';

/** Web Locks. When a tab dies, its locks are released. */
const webLocks = (manager: LockManager): Locks => ({
  acquire: (name, { wait, signal }) =>
    new Promise((resolve, reject) => {
      const held = (lock: Lock | null): Promise<void> | undefined => {
        if (!lock) {
          resolve(undefined);
          return undefined;
        }
        return new Promise((release) => resolve(release));
      };
      // The two options exclude each other.
      manager.request(name, wait ? (signal ? { signal } : {}) : { ifAvailable: true }, held).catch(reject);
    }),
  held: async () => new Set((await manager.query()).held?.map(({ name }) => name as string)),
});

const connectivity: Connectivity = {
  kind: 'browser',
  online: () => globalThis.navigator?.onLine,
  subscribe: (wake) => {
    const shown = (): void => {
      if (document.visibilityState === 'visible') wake();
    };
    // `pageshow`: the page has come back from the back-forward cache.
    return listening({ online: wake, pageshow: wake, visibilitychange: shown });
  },
};

export const browserPlatform = (): Platform => ({
  clock: systemClock,
  randomness: systemRandomness,
  digest: webDigest,
  locks: globalThis.navigator?.locks && webLocks(globalThis.navigator.locks),
  connectivity,
  tabs,
  transport: systemTransport,
  resolve: (url, base) => resolveUrl(url, base ?? globalThis.document?.baseURI ?? globalThis.location?.href),
  origin: globalThis.location?.origin,
  report: (error) => (globalThis.reportError ?? console.error)(error),
  server: false,
  relay: 'ServiceWorkerGlobalScope' in globalThis,
});
