import type { KyInstance } from 'ky';
import type { Once, OnceInit } from '../entries/index.js';

declare module 'ky' {
  interface Options {
    /** The operation that this request makes take effect once; `false` for a plain fetch. */
    once?: OnceInit | undefined;
  }
}

/**
 * A ky instance whose requests go through `once.fetch`, and which leaves retrying and timing out to it: a request of ky's
 * own making would be another operation, and its timeout would cut a payment off in the middle. Only GET, HEAD and OPTIONS are
 * left to ky's own retries, unless the client has the feature `retrying()`. `ky.retry()` in a hook still works.
 *
 * @param ky - an instance of ky 2 or later, with whatever options and hooks it has
 * @throws TypeError where `once` is no client
 * @example
 * const api = withOnce(ky.create({ prefix: '/api' }), once);
 * const receipt = await api.post('payments', { json: cart, once: ['pay', cart.id] }).json();
 */
export function withOnce(ky: KyInstance, once: Once): KyInstance {
  const inside: unknown = (once as Once | undefined)?.['~oncefetch'];
  if (typeof inside !== 'function') throw new TypeError(`once: withOnce takes a client from createOnce, got ${once === null ? 'null' : typeof once}`);
  const { parts } = inside() as { readonly parts: { readonly retry?: unknown } };
  // `limit: 1` without a method or status to retry: with `limit: 0`, `ky.retry()` would throw.
  const retry = parts.retry ? { limit: 1, methods: [], statusCodes: [] } : { methods: ['get' as const, 'head' as const, 'options' as const] };
  return ky.extend({ fetch: once.fetch as typeof fetch, timeout: false, retry });
}
