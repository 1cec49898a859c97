/** React Native: what its own fetch, URL and globals lack is not asked of them. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { v4 } from 'uuid';
import type { Connectivity, Platform, Randomness } from '../../ports.js';
import { wakefulClock } from './clock.js';
import { realmLocks } from './locks.js';
import { isSameUrl, resolveText } from './url.js';

const NO_CRYPTO = `once: there is no cryptographic source of random keys here. Either import 'react-native-get-random-values' before anything else, or hand one in: reactNative({ randomUUID: Crypto.randomUUID }), with Crypto from 'expo-crypto'`;

const randomness: Randomness = {
  random: () => Math.random(),
  uuid() {
    const { crypto } = globalThis as { crypto?: Partial<Crypto> };
    // A polyfill may have come since this file was loaded.
    if (typeof crypto?.getRandomValues === 'function') return v4();
    if (typeof crypto?.randomUUID === 'function') return crypto.randomUUID();
    throw new TypeError(NO_CRYPTO);
  },
};

/** React Native's fetch follows every redirect and does not say so; the answer's URL does. */
function withRedirected(response: Response, url: string): Response {
  if (response.redirected === undefined && response.url) Object.defineProperty(response, 'redirected', { value: !isSameUrl(response.url, url) });
  return response;
}

export const reactNativePlatform = (connectivity: Connectivity): Platform => ({
  clock: wakefulClock(connectivity),
  randomness,
  digest: (data) => bytesToHex(sha256(typeof data === 'string' ? utf8ToBytes(data) : data)),
  locks: realmLocks(),
  connectivity,
  transport: (fetch) => ({
    send: async (url, init) => withRedirected(await (fetch ?? globalThis.fetch)(url, init), url),
    // Whatever the error says: Android's own client sends again by itself, and iOS cuts what is under way when it suspends the app.
    neverSent: () => false,
    mayResend: () => true,
  }),
  resolve: resolveText,
  report: (error) => console.error(error),
  server: false,
});
