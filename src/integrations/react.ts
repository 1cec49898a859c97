// By the package's own name, so that every bundler takes the client that it takes for the app: in React Native that is another file.
import {
  type Json,
  namespace,
  type Once,
  type Operation,
  type OperationName,
  type OperationState,
  operation,
  type PendingOperation,
  pending,
  watch,
} from 'oncefetch';
import { useMemo, useSyncExternalStore } from 'react';

/** On a server nothing is stored, so nothing is known. */
const LOADING: OperationState = { phase: 'loading' };

/** Names are arrays, so a new one comes with every render. Refuses what is none, as every call does. */
const textOf = (once: Once, name: OperationName): string =>
  JSON.stringify(operation(once, name).name.map((part) => (typeof part === 'bigint' ? { n: String(part) } : part)));
const nameOf = (text: string): OperationName =>
  (JSON.parse(text) as (string | number | { n: string })[]).map((part) => (typeof part === 'object' ? BigInt(part.n) : part));

/**
 * One operation for a screen: its `fetch`, and its state, which renders anew when it changes. A new mount finds what an
 * earlier one, another page load or another tab began. The state is that of whoever is logged in.
 *
 * @throws TypeError on a wrong name
 * @example
 * const payment = useOperation(once, ['pay', cart.id]);
 * return <button aria-busy={payment.state.phase === 'sending'}>Pay</button>;
 */
export function useOperation(once: Once, name: OperationName): Operation & { readonly state: OperationState } {
  const text = textOf(once, name);
  const observed = useMemo(() => operation(once, nameOf(text)), [once, text]);
  const state = useSyncExternalStore(
    useMemo(() => (listener: () => void) => observed.subscribe(listener), [observed]),
    () => observed.state,
    () => LOADING,
  );
  return useMemo(
    () => ({
      name: observed.name,
      fetch: observed.fetch,
      subscribe: (listener) => observed.subscribe(listener),
      state,
    }),
    [observed, state],
  );
}

/**
 * Who is here now, as the option `namespace` of the client says; renders anew when somebody else is. `undefined` before anybody
 * has logged in, and on a server.
 *
 * @example
 * const user = useNamespace(once);
 * return <Fragment key={user}>{children}</Fragment>;
 */
export function useNamespace(once: Once): string | undefined {
  const subscribe = useMemo(() => (show: () => void) => watch(once, show), [once]);
  return useSyncExternalStore(
    subscribe,
    () => namespace(once),
    () => undefined,
  );
}

const NONE: readonly PendingOperation[] = [];
const none = (): typeof NONE => NONE;

/** A tab that dies in the middle of a payment says nothing, so what another tab is at is looked at again after this time, ms. */
const LOOK_AGAIN_MS = 2000;

interface List {
  readonly subscribe: (show: () => void) => () => void;
  readonly get: () => readonly PendingOperation[];
}

/** What is pending, and whose it is: an answer that was read for somebody else is never shown. */
function listOf(once: Once, prefix: OperationName | undefined, limit: number | undefined, inFlightToo: boolean): List {
  let found = NONE;
  let of: string | undefined;
  let turn = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const read = async (show: () => void): Promise<void> => {
    const mine = ++turn;
    const asked = namespace(once);
    // What somebody else's screen showed goes at once.
    if (asked !== of) show();
    if (asked === undefined) return;
    const all = await pending(once, { prefix, limit }).catch(() => undefined);
    if (mine !== turn) return;
    clearTimeout(timer);
    // What could not be read is left as it was, and looked at again.
    if (!all) {
      timer = setTimeout(read, LOOK_AGAIN_MS, show);
      return;
    }
    of = asked;
    const busy = all.some(({ inFlight }) => inFlight);
    found = busy && !inFlightToo ? all.filter(({ inFlight }) => !inFlight) : all;
    if (busy) timer = setTimeout(read, LOOK_AGAIN_MS, show);
    show();
  };
  return {
    subscribe: (show) => {
      const off = watch(once, () => void read(show));
      void read(show);
      return () => {
        off();
        turn++;
        clearTimeout(timer);
      };
    },
    get: () => (found.length && namespace(once) === of ? found : NONE),
  };
}

/**
 * What has not settled, for a banner or a list: read when the screen appears, when it is shown again, and whenever an operation
 * begins or ends, in another tab too. Empty until it is known, and before anybody has logged in.
 *
 * @param options - `prefix`: only names that begin so. `limit`: how many are read, the first in the order of names. `inFlight`: also
 * what is being sent right now, so that a row stays while it is checked
 * @default `limit: 100`; `inFlight: false`, so that a banner does not flash at every payment
 * @throws TypeError on a wrong option, RangeError where `limit` is less than 1
 * @example
 * const [last] = usePending<{ total: string }>(once, { prefix: ['pay'] });
 */
export function usePending<Meta = Json>(
  once: Once,
  options: { prefix?: OperationName | undefined; limit?: number | undefined; inFlight?: boolean | undefined } = {},
): readonly PendingOperation<Meta>[] {
  const { prefix, limit, inFlight = false, ...others } = options;
  // `pending` would refuse it as well, at every look, and the list stay empty.
  for (const name of Object.keys(others)) throw new TypeError(`once: there is no option usePending.${name}`);
  if (limit !== undefined && !(typeof limit === 'number' && limit >= 1))
    throw new RangeError(`once: usePending.limit must be a number of at least 1, got ${limit}`);
  const text = prefix === undefined || (Array.isArray(prefix) && prefix.length === 0) ? undefined : textOf(once, prefix);
  const { subscribe, get } = useMemo(() => listOf(once, text === undefined ? undefined : nameOf(text), limit, inFlight), [once, text, limit, inFlight]);
  return useSyncExternalStore(subscribe, get, none) as readonly PendingOperation<Meta>[];
}
