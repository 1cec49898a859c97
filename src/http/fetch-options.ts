/** Checks the address and the options that a call hands on to fetch. */
import { typeOf } from '../core/name.js';

/** Methods that fetch refuses, and text that can't be a method. Calls with any other method, and no options, skip the check. */
const UNUSUAL = /^(CONNECT|TRACE|TRACK)$|[^\w-]/;

/**
 * Schemes at which no server answers. A `data:` URL answers a POST with 200, so that the work would count as done; at the others every attempt
 * fails like a broken network. Other schemes may be an app's own (`capacitor:`, `app:` in Electron).
 */
const NO_SERVER = /^(data|blob|about|javascript|file|ftp|wss?|mailto|tel):/i;

function refusalOf(init: RequestInit): Error | undefined {
  try {
    void new Request('http://localhost/', init);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/**
 * Throws a TypeError for a URL that leads to no server, and for an option that fetch refuses, such as `credentials: true`. Otherwise every
 * attempt would end with an error that looks like a broken network, and the call as unknown. The small build, for pages in production, does
 * not check.
 */
export function refuseWrongOptions(options: RequestInit, method: string, { url }: { readonly url: string }): void {
  const [, scheme] = NO_SERVER.exec(url) ?? [];
  if (scheme) throw new TypeError(`once: no server answers at a URL of ${scheme}:`);
  const names = Object.keys(options);
  // The engines of some apps have no Request.
  if (typeof Request !== 'function' || !(names.length || UNUSUAL.test(method))) return;
  const init = { ...options, method } as Record<string, unknown>;
  const cause = refusalOf(init);
  if (!cause) return;
  const name = [...names, 'method'].find((one) => refusalOf({ [one]: init[one] }));
  const what = name === undefined ? 'these options' : `the option ${name}, ${typeOf(init[name])}`;
  throw new TypeError(`once: fetch refuses ${what}: ${cause.message}`, { cause });
}
