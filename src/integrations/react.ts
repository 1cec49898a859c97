import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { Once, Operation, OperationName, OperationState, PendingOperation } from '../entries/index.js';

/** On a server nothing is stored, so nothing is known. */
const LOADING: OperationState = { phase: 'loading' };

/** Names are arrays, so a new one comes with every render. */
const textOf = (name: OperationName): string => JSON.stringify(name.map((part) => (typeof part === 'bigint' ? { n: String(part) } : part)));
const nameOf = (text: string): OperationName =>
  (JSON.parse(text) as (string | number | { n: string })[]).map((part) => (typeof part === 'object' ? BigInt(part.n) : part));

/**
 * One operation for a screen: its verbs, and its state, which renders anew when it changes. A new mount finds what an
 * earlier one, another page load or another tab began.
 *
 * @throws TypeError on a wrong name
 * @example
 * const payment = useOperation(once, ['pay', cart.id]);
 * return <button disabled={payment.state.phase === 'sending'}>Pay</button>;
 */
export function useOperation(once: Once, name: OperationName): Operation & { readonly state: OperationState } {
  const text = textOf(name);
  const operation = useMemo(() => once.operation(nameOf(text)), [once, text]);
  const state = useSyncExternalStore(
    useMemo(() => (listener: () => void) => operation.subscribe(listener), [operation]),
    () => operation.state,
    () => LOADING,
  );
  return useMemo(
    () => ({
      name: operation.name,
      fetch: operation.fetch,
      run: (effect, options) => operation.run(effect, options),
      subscribe: (listener) => operation.subscribe(listener),
      resume: (options) => operation.resume(options),
      settle: (effect) => operation.settle(effect),
      forget: (options) => operation.forget(options),
      state,
    }),
    [operation, state],
  );
}

const NONE: readonly PendingOperation[] = [];

/**
 * What has not settled, for a banner: read when the screen appears, when it is shown again, and whenever an operation
 * begins or ends. Empty until it is known.
 *
 * @param options - `prefix`: only names that begin so
 * @example
 * const [last] = usePending(once, { prefix: ['pay'] });
 */
export function usePending(once: Once, options: { prefix?: OperationName | undefined } = {}): readonly PendingOperation[] {
  const [pending, show] = useState(NONE);
  const { prefix } = options;
  const text = prefix && textOf(prefix);
  const latest = useRef(0);
  useEffect(() => {
    let mounted = true;
    const own = text === undefined ? undefined : nameOf(text);
    const read = (): void => {
      const turn = ++latest.current;
      // What could not be read is left as it was; the next change asks again.
      once.pending({ prefix: own }).then(
        (found) => mounted && turn === latest.current && show(found),
        () => {},
      );
    };
    read();
    const off = once.subscribe(({ type }) => type !== 'diagnostic' && read(), { prefix: own });
    const page = globalThis.document;
    page?.addEventListener('visibilitychange', read);
    return () => {
      mounted = false;
      off();
      page?.removeEventListener('visibilitychange', read);
    };
  }, [once, text]);
  return pending;
}
