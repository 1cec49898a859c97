/** What every platform does in the same way. Globals are looked up at each use, so that a test's or a polyfill's count. */
import { v4 } from 'uuid';
import { typeOf } from '../core/name.js';
import type { Clock, Randomness } from '../ports.js';
import { wrong } from '../texts/full.js';

export const systemClock: Clock = {
  now: () => Date.now(),
  timer: (ms, fire) => {
    const id = setTimeout(fire, ms);
    return () => clearTimeout(id);
  },
};

/** `uuid` throws where there is no cryptographic source; it never falls back to a weak one. */
export const systemRandomness: Randomness = { random: () => Math.random(), uuid: () => v4() };

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
