/** Servers: workerd, edge runtimes, and every runtime that is not known to be one person's device. Node has a folder of its own. */
import type { Platform } from '../../ports.js';
import { isNode, printError, resolveUrl, systemClock, systemRandomness, systemTransport, webDigest } from '../shared.js';

/** In tests that simulate a page in Node, with jsdom or happy-dom, URLs are relative to that page, as for its fetch. */
const pageBase = (): string | undefined => {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  return /^https?:/.test(base ?? '') ? base : undefined;
};

export const serverPlatform = (): Platform => ({
  clock: systemClock,
  randomness: systemRandomness,
  digest: webDigest,
  connectivity: { online: () => undefined, subscribe: () => () => {} },
  transport: systemTransport,
  resolve: (url, base) => resolveUrl(url, base ?? pageBase()),
  report: printError,
  server: true,
  isolated: !isNode(),
});
