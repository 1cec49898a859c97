/** Browsers: pages and workers. */
import type { Connectivity, Locks, Platform } from '../../ports.js';
import { printError, resolveUrl, systemClock, systemRandomness, systemTransport, webDigest } from '../shared.js';
import { listening } from './listening.js';
import { tabs } from './tabs.js';

/** Web Locks. When a tab dies, its locks are released. */
export const webLocks = (manager: LockManager): Locks => ({
  acquire: (name, signal) =>
    new Promise((resolve, reject) => {
      let release: (() => void) | undefined;
      const released = new Promise<void>((done) => {
        release = done;
      });
      const ask = (options: LockOptions): void => {
        let rejected = reject;
        const granted = (lock: Lock | null): Promise<void> | undefined => {
          resolve(lock ? release : undefined);
          // From now on a rejection means that the lock was taken away: WebKit does that to a page that enters the back-forward cache. When
          // the page comes back, its driver goes on, and other tabs must see that.
          rejected = () => ask({});
          return lock ? released : undefined;
        };
        manager.request(name, options, granted).catch((error) => rejected(error));
      };
      // The two options exclude each other.
      ask(signal ? { signal } : { ifAvailable: true });
    }),
  query: () => manager.query(),
});

const connectivity: Connectivity = {
  online: () => globalThis.navigator?.onLine,
  // `pageshow`: the page has come back from the back-forward cache.
  subscribe: (wake) => listening({ online: wake, pageshow: wake, visibilitychange: wake }),
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
  // A page at about:blank or about:srcdoc has the origin of whoever made it, which its `location` does not tell.
  origin: globalThis.location?.origin.replace(/^null$/, globalThis.origin),
  report: (error) => printError(error, globalThis.reportError),
  server: false,
  relay: 'ServiceWorkerGlobalScope' in globalThis,
});
