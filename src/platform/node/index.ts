/** Node. */
import type { Digest, Platform, Transport } from '../../ports.js';
import { resolveUrl, systemClock, systemRandomness } from '../shared.js';
import { sendsOnce } from './dispatcher.js';

type NodeCrypto = {
  hash?(algorithm: string, data: string | Uint8Array, encoding: string): string;
  createHash(algorithm: string): { update(data: string | Uint8Array): { digest(encoding: string): string } };
};

type Channels = { channel(name: string): NonNullable<Platform['channel']> };

/** Found without an import, which a bundler for browsers would stumble over. */
const builtin = <T>(name: string): T | undefined => (globalThis.process as { getBuiltinModule?(name: string): T } | undefined)?.getBuiltinModule?.(name);

let crypto: NodeCrypto | undefined;

const digest: Digest = (data) => {
  crypto ??= builtin<NodeCrypto>('node:crypto');
  if (!crypto) throw new TypeError('once: Node 20.19 or later is needed');
  return crypto.hash ? crypto.hash('sha256', data, 'hex') : crypto.createHash('sha256').update(data).digest('hex');
};

/** Errors of name resolution and of connecting: no request was written. */
const NEVER_CONNECTED = /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT)$/;

/** Tests render pages in Node, with jsdom or happy-dom: addresses are relative to that page, as they are for its fetch. */
const pageBase = (): string | undefined => {
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  return /^https?:/.test(base ?? '') ? base : undefined;
};

function transport(fetch: typeof globalThis.fetch | undefined): Transport {
  /** Sent when a dispatcher was there that may send again, whichever is there when it ends. */
  const doubtful = new WeakSet<RequestInit>();
  const mayResend = (init: RequestInit): boolean => fetch !== undefined || doubtful.has(init) || !sendsOnce(init);
  return {
    send(url, init) {
      if (mayResend(init)) doubtful.add(init);
      return (fetch ?? globalThis.fetch)(url, init);
    },
    mayResend,
    // A redirect that was followed, and a copy that was sent again, fail in the same way after the effect.
    neverSent: (error, init) =>
      init.redirect === 'manual' && NEVER_CONNECTED.test((error as { cause?: { code?: string } })?.cause?.code ?? '') && !mayResend(init),
  };
}

export const nodePlatform = (): Platform => ({
  clock: systemClock,
  randomness: systemRandomness,
  digest,
  connectivity: { kind: 'none', online: () => undefined, subscribe: () => () => {} },
  transport,
  resolve: (url, base) => resolveUrl(url, base ?? pageBase()),
  // Every event of every client, for the process's own tools: channel('oncefetch').
  channel: builtin<Channels>('node:diagnostics_channel')?.channel('oncefetch'),
  report: (error) => console.error(error),
  server: true,
  warn: (message, code) => globalThis.process.emitWarning?.(message, { code }),
});
