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

/** Methods that ky itself may send again: they only read, so a repetition has no second effect. */
const READS: NonNullable<RetryOptions['methods']> = ['get', 'head', 'options'];

const copyOf = (retry: Options['retry']): RetryOptions => (typeof retry === 'number' ? { limit: retry } : { ...retry });

/**
 * Makes a ky instance whose requests go through `once.fetch`, which also does the retries and timeouts: a retry by ky would be another
 * operation, and ky's timeout would cut a payment off in the middle. Give a GET its own `timeout`. ky itself retries only GET, HEAD
 * and OPTIONS, whatever `retry.methods` the instance, an extension or a call has, and not even those if the client has the feature
 * `retrying()`. `ky.retry()` in a hook still works.
 *
 * @param ky - an instance of ky 2 or later, with any options and hooks
 * @throws TypeError if `once` is no client; in a call, if ky is older than 2, or its option `fetch` would ignore `once`
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
  // Until an init hook has run, which ky before 2 does not know: it would retry by itself.
  const tooOld = (): never => {
    throw new TypeError('once: withOnce needs ky 2 or later; give an older one the options fetch: once.fetch and retry: 0');
  };
  const methods: readonly string[] = parts.retry ? [] : READS;
  // An init hook sees the options of instance, extensions and call, merged. Those of extensions come after it, and may change what it has set.
  const init = (options: OnceKyOptions & Pick<Options, 'fetch'>): void => {
    const check = (given: Options['fetch']): void => {
      if (given === tooOld || given === fetch) sends = fetch;
      else if (options.once) throw new TypeError('once: the option fetch of ky would leave once out; give it to createOnce');
      else sends = given;
    };
    let sends: Options['fetch'];
    let retry = copyOf(options.retry);
    check(options.fetch);
    Object.defineProperties(options, {
      fetch: { get: () => sends, set: check, enumerable: true },
      retry: {
        get: () => Object.assign(retry, { methods: (retry.methods ?? READS).filter((method) => methods.includes(method.toLowerCase())) }),
        set: (given: Options['retry']) => {
          retry = copyOf(given);
        },
        enumerable: true,
      },
    });
  };
  return ky.extend({ fetch: tooOld, timeout: false, totalTimeout: false, hooks: { init: [init] } });
}
