import type { Input, KyInstance, Options, ResponsePromise, RetryOptions } from 'ky';
import type { Once, OnceInit } from '../entries/index.js';

/** ky's options of a call, and `once`; without `fetch`: another one than that of the client would leave `once` out. Give yours to `createOnce`. */
export type OnceKyOptions = Omit<Options, 'fetch'> & {
  /** The operation that this request makes take effect once; `false` for a plain fetch. */
  once?: OnceInit | undefined;
};

/**
 * A ky instance that knows `once`, and what is extended from it. An instance that goes through no `once.fetch` has another
 * type, `create()` makes one: it would leave `once` out without a word, and send the request without a key.
 */
export type OnceKyInstance = (<T>(url: Input, options?: OnceKyOptions) => ResponsePromise<T>) & {
  [Name in keyof KyInstance]: Name extends 'extend'
    ? (defaults: Omit<Options, 'fetch'> | ((parent: Options) => Omit<Options, 'fetch'>)) => OnceKyInstance
    : Name extends 'create' | 'stop' | 'retry'
      ? KyInstance[Name]
      : <T>(url: Input, options?: OnceKyOptions) => ResponsePromise<T>;
};

/** What ky may send again: without a key, it is no second effect. */
const READS = ['get', 'head', 'options'];

/** How often ky sends again by default. */
const LIMIT = 2;

/**
 * A ky instance whose requests go through `once.fetch`, and which leaves retrying and timing out to it: a request of ky's
 * own making would be another operation, and its timeout would cut a payment off in the middle. Give a GET a `timeout` of its
 * own. Only GET, HEAD and OPTIONS are left to ky's own retries, whatever `retry.methods` the instance has, unless the client
 * has the feature `retrying()`. `ky.retry()` in a hook still works.
 *
 * @param ky - an instance of ky 2 or later, with whatever options and hooks it has
 * @throws TypeError where `once` is no client; a call throws one where a `fetch` of ky's options would leave its `once` out
 * @example
 * const api = withOnce(ky.create({ prefix: '/api' }), once);
 * const receipt = await api.post('payments', { json: cart, once: ['pay', cart.id] }).json();
 */
export function withOnce(ky: KyInstance, once: Once): OnceKyInstance {
  const inside: unknown = (once as Once | undefined)?.['~oncefetch'];
  if (typeof inside !== 'function') throw new TypeError(`once: withOnce takes a client from createOnce, got ${once === null ? 'null' : typeof once}`);
  const { parts } = inside() as { readonly parts: { readonly retry?: unknown } };
  // As it is now: a test may put a spy in its place later.
  const fetch = once.fetch as typeof globalThis.fetch;
  // `limit: 1` without a method to retry: with `limit: 0`, `ky.retry()` would throw.
  const own = ({ methods = [...READS], ...rest }: RetryOptions): RetryOptions =>
    parts.retry ? { ...rest, limit: 1, methods: [] } : { ...rest, methods: methods.filter((method) => READS.includes(method.toLowerCase())) };
  const refuses = (options: OnceKyOptions & Pick<Options, 'fetch'>): void => {
    if (options.once && options.fetch !== fetch) throw new TypeError('once: the option fetch of ky would leave once out; give it to createOnce');
  };
  let given: RetryOptions | number | undefined;
  // ky joins the lists of an instance and its extension. A number in between takes the instance's away, so that its methods don't come back.
  const bare = ky.extend((defaults) => {
    given = defaults.retry;
    return { fetch, timeout: false, totalTimeout: false, retry: LIMIT, hooks: { init: [refuses] } };
  });
  return bare.extend({ retry: own(typeof given === 'object' ? given : { limit: given ?? LIMIT }) });
}
