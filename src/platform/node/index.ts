/** Node, and runtimes with the same globals: Deno and Bun. */
import type { Platform, Transport } from '../../ports.js';
import { serverPlatform } from '../server/index.js';
import { warning } from '../server/warning.js';
import { builtin, systemRandomness } from '../shared.js';
import { withCopies } from './copies.js';
import { type DebugChannel, debugged } from './debug.js';
import { sendsOnce } from './dispatcher.js';
import { nesting } from './nesting.js';

type Events = { setMaxListeners(most: number, signal: AbortSignal): void };
type Channels = { channel(name: string): DebugChannel };

type NodeCrypto = {
  hash?(algorithm: string, data: string | Uint8Array, encoding: string): string;
  createHash(algorithm: string): { update(data: string | Uint8Array): { digest(encoding: string): string } };
  randomUUID(options: { disableEntropyCache: boolean }): string;
};

/** Errors of name resolution and of connecting, after which no request was written. */
const NEVER_CONNECTED = /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT)$/;

/**
 * Whether a gateway may send this again by itself when the connection to its server breaks (RFC 9110, section 9.2.2). Nginx does unless the method
 * is POST, LOCK or PATCH; gateways that are written in Go do with any request that has no body and bears an `Idempotency-Key`.
 *
 * @see https://pkg.go.dev/net/http#Transport
 */
const gatewayMayResend = ({ method = 'POST', body }: RequestInit): boolean => !/^(POST|PATCH)$/i.test(method) || !body;

function transport(fetch: typeof globalThis.fetch | undefined): Transport {
  /** Requests that were sent through a dispatcher that may send again. By the time they end, the app may have set another dispatcher. */
  const doubtful = new WeakSet<RequestInit>();
  const mayResend = (init: RequestInit): boolean => fetch !== undefined || doubtful.has(init) || !sendsOnce(init);
  return {
    send(url, init) {
      if (!fetch && !sendsOnce(init)) doubtful.add(init);
      const sent = (fetch ?? globalThis.fetch)(url, init);
      return globalThis.document ? Promise.resolve(sent).then(withCopies) : sent;
    },
    // Gateways count only if a key is sent. For a server that knows no keys, "may resend" forbids every repetition, even after a rate limit.
    mayResend: (init, carrier) => mayResend(init) || (!!carrier && gatewayMayResend(init)),
    // If a redirect may have been followed or a copy sent, the same error proves nothing: it may come after the effect.
    neverSent: (error, init) =>
      init.redirect === 'manual' && NEVER_CONNECTED.test((error as { cause?: { code?: string } })?.cause?.code ?? '') && !mayResend(init),
  };
}

/** Keeps Node 20 from warning of a leak at the eleventh listener. */
function shares(signal: AbortSignal): void {
  try {
    builtin<Events>('node:events')?.setMaxListeners(0, signal);
  } catch {
    // This is not Node's own signal, but for example happy-dom's, which never warns.
  }
}

export const nodePlatform = (): Platform => {
  let found: NodeCrypto | undefined;
  const crypto = (): NodeCrypto => {
    found ??= builtin<NodeCrypto>('node:crypto');
    if (!found) throw new TypeError('once: Node 20.19 or later is needed');
    return found;
  };
  return {
    ...serverPlatform(),
    // Node's own digest, which is synchronous.
    digest: (data) => crypto().hash?.('sha256', data, 'hex') ?? crypto().createHash('sha256').update(data).digest('hex'),
    transport,
    // Without Node's reserve of random bytes: processes that start from one snapshot (`node --build-snapshot`) begin with the same reserve, and would
    // make the same keys for different operations.
    randomness: { ...systemRandomness, uuid: () => crypto().randomUUID({ disableEntropyCache: true }) },
    // Tools of the process hear every event of every client on channel('oncefetch').
    channel: debugged(builtin<Channels>('node:diagnostics_channel')?.channel('oncefetch')),
    nesting,
    shares,
    forgets: warning((message, code) => globalThis.process.emitWarning?.(message, { code })),
  };
};
