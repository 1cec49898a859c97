/** React Native. Its fetch, its URL and its globals lack parts of what browsers have, and nothing here relies on those parts. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { v4 } from 'uuid';
import type { Connectivity, Locks, Platform, Randomness } from '../../ports.js';
import { webLocks } from '../browser/index.js';
import { isPage, printError } from '../shared.js';
import { wakefulClock } from './clock.js';
import { realmLocks } from './locks.js';
import { isSameUrl, resolveText } from './url.js';

const NO_CRYPTO = `once: there is no cryptographic source of random keys here. Either import 'react-native-get-random-values' before anything else, or hand one in: reactNative({ randomUUID: Crypto.randomUUID }), with Crypto from 'expo-crypto'`;

const randomness: Randomness = {
  random: () => Math.random(),
  uuid() {
    const { crypto } = globalThis as { crypto?: Partial<Crypto> };
    // Looked up now, because a polyfill may have been loaded after this file.
    if (typeof crypto?.getRandomValues === 'function') return v4();
    if (typeof crypto?.randomUUID === 'function') return crypto.randomUUID();
    throw new TypeError(NO_CRYPTO);
  },
};

/** Sets `redirected`, which React Native's fetch leaves out although it follows every redirect. The answer's URL tells. */
function withRedirected(response: Response, url: string): Response {
  if (response.redirected === undefined && response.url) Object.defineProperty(response, 'redirected', { value: !isSameUrl(response.url, url) });
  return response;
}

/** In an app, its one realm has all locks. In a web build there are other tabs: without Web Locks, a call takes a lease. */
function locks(): Locks | undefined {
  const { navigator } = globalThis;
  // Some libraries give an app a `document`, too.
  if (!isPage() || navigator?.product === 'ReactNative') return realmLocks();
  return navigator?.locks && webLocks(navigator.locks);
}

export const reactNativePlatform = (connectivity: Connectivity): Platform => ({
  clock: wakefulClock(connectivity),
  randomness,
  digest: (data) => bytesToHex(sha256(typeof data === 'string' ? utf8ToBytes(data) : data)),
  locks: locks(),
  connectivity,
  transport: (fetch) => ({
    send: async (url, init) => withRedirected(await (fetch ?? globalThis.fetch)(url, init), url),
    // Never, whatever the error: Android's HTTP client sends again by itself, and iOS breaks off requests when it suspends the app.
    neverSent: () => false,
    mayResend: () => true,
  }),
  resolve: resolveText,
  report: printError,
  server: false,
});
