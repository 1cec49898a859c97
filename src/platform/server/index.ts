/** Servers: workerd, edge runtimes, and whatever is not known to be one person's device. What Node adds is in its own folder. */
import type { Digest, Platform } from '../../ports.js';
import { builtin, isNode, resolveUrl, systemClock, systemRandomness, webDigest } from '../shared.js';

type NodeCrypto = {
  hash?(algorithm: string, data: string | Uint8Array, encoding: string): string;
  createHash(algorithm: string): { update(data: string | Uint8Array): { digest(encoding: string): string } };
};

let crypto: NodeCrypto | undefined;

/** Node's own answers at once, and is there under jsdom, whose `crypto` has no `subtle`. */
const digest: Digest = (data) => {
  if (!isNode()) return webDigest('this runtime, which has no crypto.subtle,', data);
  crypto ??= builtin<NodeCrypto>('node:crypto');
  if (!crypto) throw new TypeError('once: Node 20.19 or later is needed');
  return crypto.hash ? crypto.hash('sha256', data, 'hex') : crypto.createHash('sha256').update(data).digest('hex');
};

/** Tests render pages in Node, with jsdom or happy-dom: addresses are relative to that page, as they are for its fetch. */
const pageBase = (): string | undefined => {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  return /^https?:/.test(base ?? '') ? base : undefined;
};

export const serverPlatform = (): Platform => ({
  clock: systemClock,
  randomness: systemRandomness,
  digest,
  connectivity: { kind: 'none', online: () => undefined, subscribe: () => () => {} },
  transport: (fetch) => ({
    send: (url, init) => (fetch ?? globalThis.fetch)(url, init),
    // Of what is behind this fetch nothing is known: neither what it wrote nor whether it sends again.
    neverSent: () => false,
    mayResend: () => true,
  }),
  resolve: (url, base) => resolveUrl(url, base ?? pageBase()),
  report: (error) => console.error(error),
  server: true,
  isolated: !isNode(),
  warn: (message, code) => console.warn(`${code}: ${message}`),
});
