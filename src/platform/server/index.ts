/** Servers: workerd, edge runtimes, and whatever is not known to be one person's device. What Node adds is in its own folder. */
import type { Platform } from '../../ports.js';
import { isNode, resolveUrl, systemClock, systemRandomness, systemTransport, webDigest } from '../shared.js';

/** Tests render pages in Node, with jsdom or happy-dom: addresses are relative to that page, as they are for its fetch. */
const pageBase = (): string | undefined => {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  return /^https?:/.test(base ?? '') ? base : undefined;
};

export const serverPlatform = (): Platform => ({
  clock: systemClock,
  randomness: systemRandomness,
  digest: webDigest,
  connectivity: { kind: 'none', online: () => undefined, subscribe: () => () => {} },
  transport: systemTransport,
  resolve: (url, base) => resolveUrl(url, base ?? pageBase()),
  report: (error) => console.error(error),
  server: true,
  isolated: !isNode(),
});
