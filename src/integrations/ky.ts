import type { Input, KyInstance, Options, ResponsePromise, RetryOptions } from 'ky';
import type { Once, OnceInit } from '../entries/index.js';

/** ky's options of a call, plus `once`. Without `fetch`: another one than the client's would ignore `once`, so give yours to `createOnce`. */
export type OnceKyOptions = Omit<Options, 'fetch'> & {
  /** The operation that this request belongs to, which takes effect once; `false` for a plain fetch. */
  once?: OnceInit | undefined;
};

/**
 * A ky instance that takes the option `once`, as do instances extended from it. `create()` makes an instance that does not use
 * `once.fetch` and has another type: it would silently ignore `once`, and send the request without a key.
 */
export type OnceKyInstance = (<T>(url: Input, options?: OnceKyOptions) => ResponsePromise<T>) & {
  [Name in keyof KyInstance]: Name extends 'extend'
    ? (defaults: Omit<Options, 'fetch'> | ((parent: Options) => Omit<Options, 'fetch'>)) => OnceKyInstance
    : Name extends 'create' | 'stop' | 'retry'
      ? KyInstance[Name]
      : <T>(url: Input, options?: OnceKyOptions) => ResponsePromise<T>;
};

/** The fetch of the instance until its init hook has run. ky before 2 has no init hooks, and would retry by itself, so there every request throws. */
const tooOld = (): never => {
  throw new TypeError('once: withOnce needs ky 2 or later; give an older one fetch: once.fetch, retry: 0');
};

/**
 * Makes a ky instance whose requests go through `once.fetch`, which also does the retries and timeouts: a retry by ky would be another
 * operation, and ky's timeout would cut a payment off in the middle. Give a GET its own `timeout`. ky itself retries only GET, HEAD
 * and OPTIONS, whatever `retry.methods` the instance, an extension or a call has, and not even those if the client has the feature
 * `retrying()`. `ky.retry()` in a hook still works.
 *
 * @param ky - an instance of ky 2 or later, with any options and hooks but no `fetch` of its own: give that to `createOnce`
 * @throws TypeError if `once` is not a client, or `ky` is not an instance of ky or has a `fetch`; in a call, if ky is older than 2, or its option `fetch` would ignore `once`
 * @example
 * const api = withOnce(ky.create({ prefix: '/api' }), once);
 * const receipt = await api.post('payments', { json: cart, once: ['pay', cart.id] }).json();
 */
export function withOnce(ky: KyInstance, once: Once): OnceKyInstance {
  const check = (given: unknown, member: string, wanted: string): void => {
    if (typeof (given as Record<string, unknown> | undefined)?.[member] !== 'function')
      throw new TypeError(`once: withOnce takes ${wanted}, got ${given && typeof given}`);
  };
  check(once, '~oncefetch', 'a client from createOnce');
  check(ky, 'extend', 'ky');
  const { parts } = once['~oncefetch']() as { readonly parts: { readonly retry?: unknown } };
  // Keep the present function, because a test may replace `once.fetch` by a spy later.
  const fetch = once.fetch as typeof globalThis.fetch;
  // Methods that ky itself may send again: they only read, so a repetition has no second effect.
  const methods = parts.retry ? [] : ['get', 'head', 'options'];
  // An init hook sees the merged options of instance, extensions and call. The init hooks of extensions run after it, and may set `fetch` or `retry`
  // again, so this defines them as accessors. One of those hooks may be this one itself.
  const init = (options: OnceKyOptions & Pick<Options, 'fetch'>): void => {
    const sendBy = (given: Options['fetch']): void => {
      const by = given === tooOld ? fetch : given;
      if (options.once && by !== fetch) throw new TypeError('once: the option fetch of ky would leave once out; give it to createOnce');
      sends = by;
    };
    const retryBy = (given: Options['retry']): void => {
      retry = typeof given === 'number' ? { limit: given } : { ...given };
    };
    let sends: Options['fetch'];
    let retry: RetryOptions;
    sendBy(options.fetch);
    retryBy(options.retry);
    Object.defineProperties(options, {
      fetch: { get: () => sends, set: sendBy, enumerable: true, configurable: true },
      retry: {
        get: () => {
          retry.methods = (retry.methods ?? methods).filter((method) => methods.includes(method.toLowerCase()));
          return retry;
        },
        set: retryBy,
        enumerable: true,
        configurable: true,
      },
    });
  };
  return ky.extend(({ fetch: own = tooOld }) => {
    if (own !== tooOld && own !== fetch) throw new TypeError('once: the option fetch of ky would be left out; give it to createOnce');
    return { fetch: tooOld, timeout: false, totalTimeout: false, hooks: { init: [init] } };
  });
}
