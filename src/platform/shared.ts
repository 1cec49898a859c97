/** What platforms have in common. Globals are looked up at each use, so that tests and polyfills can replace them. */
import { typeOf } from '../core/name.js';
import type { DeviceClock, Platform, Randomness } from '../ports.js';
import { needs, wrong } from '../texts/full.js';

/**
 * Whether this is Node, Deno or Bun. workerd may have the same globals, but there a request can't wait for another request's promise. So may
 * a window of Electron's, which is a page: its reload must find the key again.
 */
export const isNode = (): boolean => {
  const { process } = globalThis as { process?: { type?: string; versions?: { node?: string } } };
  return !!process?.versions?.node && process.type !== 'renderer' && !('WebSocketPair' in globalThis);
};

/**
 * Whether this is a page, or a worker of one. A server may have a simulated document, or a worker's global scope; but then it has no
 * `indexedDB`.
 */
export const isPage = (): boolean =>
  !isNode() &&
  !('WebSocketPair' in globalThis || 'EdgeRuntime' in globalThis) &&
  ('document' in globalThis || ('WorkerGlobalScope' in globalThis && 'indexedDB' in globalThis));

/** A module of Node's, found without an import, because bundlers for browsers fail on such imports. */
export const builtin = <T>(name: string): T | undefined => (globalThis.process as { getBuiltinModule?(name: string): T } | undefined)?.getBuiltinModule?.(name);

export const systemClock: DeviceClock = {
  now: () => Date.now(),
  // Old engines have no monotonic clock. There nothing can tell whether the wall clock was set.
  monotonic: () => Math.round(globalThis.performance?.now?.() ?? Date.now()),
  timer(ms, fire) {
    const id = setTimeout(fire, ms);
    return () => clearTimeout(id);
  },
};

/** Prints an error. The app may have replaced `console.error` or `reportError` by a function that throws, or the error may throw when it is printed. */
export function printError(error: unknown, print = (error: unknown): void => console.error(error)): void {
  try {
    print(error);
  } catch {
    // Nobody can be told.
  }
}

/** Web Crypto, which is missing on insecure origins. jsdom's own makes neither digests nor UUIDs, so under jsdom Node's is used. */
const webCrypto = (): Crypto | undefined => (globalThis.crypto?.subtle ? globalThis.crypto : builtin<{ webcrypto: Crypto }>('node:crypto')?.webcrypto);

/** `uuid` throws if there is no cryptographic source. It never falls back to a weak one. */
export const systemRandomness: Randomness = {
  random: () => Math.random(),
  uuid() {
    const uuid = webCrypto()?.randomUUID?.();
    if (!uuid) throw new TypeError(wrong('crypto', 'no-crypto'));
    return uuid;
  },
};

/** A plain fetch. Nothing is known of what it has written, nor whether it sends again unseen, as Chromium does when a kept-alive connection breaks. */
export const systemTransport: Platform['transport'] = (fetch) => ({
  send: (url, init) => (fetch ?? globalThis.fetch)(url, init),
  // A dropped answer and a refused connection look the same.
  neverSent: () => false,
  mayResend: () => true,
});

/** A digest by Web Crypto. Throws a TypeError if that is missing, as on insecure origins. */
export async function webDigest(data: string | Uint8Array): Promise<string> {
  const subtle = webCrypto()?.subtle;
  if (!subtle) throw new TypeError(needs('a place without crypto.subtle', 'insecureOrigins'));
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : (data as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(await subtle.digest('SHA-256', bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The platform's randomness, with UUIDs from the app's `randomUUID` if there is one. */
export function randomnessOf(randomness: Randomness, own: (() => string) | undefined): Randomness {
  if (!own) return randomness;
  const uuid = (): string => {
    const made: unknown = own();
    if (typeof made !== 'string' || !UUID.test(made)) throw new TypeError(wrong('randomUUID', 'uuid', typeOf(made)));
    return made.toLowerCase();
  };
  return { ...randomness, uuid };
}

/** The absolute URL without its fragment, and its origin. Throws a TypeError if it can't be sent. */
export function resolveUrl(url: string, base: string | undefined): { readonly url: string; readonly origin: string } {
  let parsed: URL | undefined;
  try {
    parsed = new URL(url, base);
  } catch {
    // Refused below.
  }
  // No server answers at these schemes of pages: each attempt would fail like a broken network, or, at `data:`, be answered with 200, and count as
  // done. Others may be an app's own (`capacitor:`, `tauri:`).
  if (!parsed || /^(file|data):|-extension:/.test(parsed.protocol))
    throw new TypeError(wrong('url', base ? 'url' : 'url-absolute', JSON.stringify(url.slice(0, 100))));
  // fetch refuses credentials in a URL too, but only after the record has been written.
  if (parsed.username || parsed.password) throw new TypeError(wrong('url', 'url-credentials'));
  parsed.hash = '';
  return { url: parsed.href, origin: parsed.origin };
}
