/** What every platform does in the same way. Globals are looked up at each use, so that a test's or a polyfill's count. */
import { typeOf } from '../core/name.js';
import type { DeviceClock, Platform, Randomness } from '../ports.js';
import { needs, wrong } from '../texts/full.js';

/** Node, or what has its names: Deno and Bun. workerd may have them too, but lets no request wait for another one's promise. */
export const isNode = (): boolean => typeof globalThis.process?.versions?.node === 'string' && !('WebSocketPair' in globalThis);

/**
 * A document, or a worker of a page. Servers may have either in name (a stand-in for a document, the scope of service workers),
 * but not both a worker's scope and a database of the device.
 */
export const isPage = (): boolean =>
  !isNode() &&
  !['WebSocketPair', 'EdgeRuntime'].some((name) => name in globalThis) &&
  ('document' in globalThis || ('WorkerGlobalScope' in globalThis && 'indexedDB' in globalThis));

/** A module of Node's, found without an import, which a bundler for browsers would stumble over. */
export const builtin = <T>(name: string): T | undefined => (globalThis.process as { getBuiltinModule?(name: string): T } | undefined)?.getBuiltinModule?.(name);

export const systemClock: DeviceClock = {
  now: () => Date.now(),
  // Old engines have no such clock; there, nobody notices that the wall clock was set.
  monotonic: () => Math.round(globalThis.performance?.now?.() ?? Date.now()),
  timer: (ms, fire) => {
    const id = setTimeout(fire, ms);
    return () => clearTimeout(id);
  },
};

/** Absent on insecure origins. Node has it under jsdom too, whose own makes neither digests nor UUIDs. */
const webCrypto = (): Crypto | undefined => (globalThis.crypto?.subtle ? globalThis.crypto : builtin<{ webcrypto: Crypto }>('node:crypto')?.webcrypto);

/** `uuid` throws where there is no cryptographic source; it never falls back to a weak one. */
export const systemRandomness: Randomness = {
  random: () => Math.random(),
  uuid() {
    const uuid = webCrypto()?.randomUUID();
    if (!uuid) throw new TypeError(wrong('crypto', 'no-crypto'));
    return uuid;
  },
};

/** Of nothing behind a plain fetch is anything known: neither what it wrote nor whether it sends again, as Chromium does when a kept-alive connection breaks. */
export const systemTransport: Platform['transport'] = (fetch) => ({
  send: (url, init) => (fetch ?? globalThis.fetch)(url, init),
  // A dropped answer and a refused connection look the same.
  neverSent: () => false,
  mayResend: () => true,
});

const encode = (data: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  typeof data === 'string' ? new TextEncoder().encode(data) : (data as Uint8Array<ArrayBuffer>);
const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** A digest by Web Crypto, which is missing on insecure origins. Throws a TypeError where there is none. */
export async function webDigest(data: string | Uint8Array): Promise<string> {
  const subtle = webCrypto()?.subtle;
  if (!subtle) throw new TypeError(needs('a place without crypto.subtle', 'insecureOrigins'));
  return hex(new Uint8Array(await subtle.digest('SHA-256', encode(data))));
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A platform's own, or with UUIDs of the caller's. */
export function randomnessOf(randomness: Randomness, own: (() => string) | undefined): Randomness {
  if (!own) return randomness;
  const uuid = (): string => {
    const made: unknown = own();
    if (typeof made !== 'string' || !UUID.test(made)) throw new TypeError(`once: randomUUID must give a UUID, got ${typeOf(made)}`);
    return made.toLowerCase();
  };
  return { ...randomness, uuid };
}

/** The URL without its fragment. Throws a TypeError on what can't be sent as it stands. */
export function resolveUrl(url: string, base: string | undefined): { readonly url: string; readonly origin: string } {
  let parsed: URL;
  try {
    parsed = new URL(url, base);
  } catch {
    throw new TypeError(wrong('url', base ? 'url' : 'url-absolute', JSON.stringify(url.slice(0, 100))));
  }
  // fetch refuses it too, but only when the record has been written.
  if (parsed.username || parsed.password) throw new TypeError(wrong('url', 'url-credentials'));
  if (url.includes('#')) parsed.hash = '';
  return { url: parsed.href, origin: parsed.origin };
}
