// Imported by the package's name, so that a bundler resolves it to the same file as for the app: in React Native that is another one.
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
import { useMemo, useRef, useSyncExternalStore } from 'react';

/** The state in a server render, where nothing is known of the browser's store. */
const LOADING: OperationState = { phase: 'loading' };

/** As JSON, with `{"n":"1"}` for the bigint 1. Looks at the member itself, because many apps give BigInt a `toJSON`, after which `part` is a text. */
const plain = (value: unknown): string =>
  JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, member, part: unknown) {
    const own = this[member];
    return typeof own === 'bigint' ? { n: String(own) } : part;
  });

/** A name as text, because a name is an array, and each render brings a new one. Throws on a wrong name, as every call does. */
const textOf = (once: Once, name: OperationName): string => plain(operation(once, name).name);
const nameOf = (text: string): OperationName =>
  (JSON.parse(text) as (string | number | { n: string })[]).map((part) => (typeof part === 'object' ? BigInt(part.n) : part));

/**
 * One operation for a screen: its `fetch` and its state. The component renders again when the state changes. A new mount finds what an
 * earlier mount, another page load or another tab began. The state is that of the user who is logged in.
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
 * The present user, as the client's option `namespace` gives it. The component renders again when the user changes. `undefined` while
 * nobody is logged in, and on a server.
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

/** How often the list is read again while an operation is in flight, ms, because another tab that drives it may die without telling. */
const LOOK_AGAIN_MS = 2000;

interface List {
  readonly subscribe: (show: () => void) => () => void;
  readonly get: () => readonly PendingOperation[];
}

/** Reads pages until `limit` operations are found. Unless `inFlightToo`, operations in flight do not count. */
async function openOnes(once: Once, prefix: OperationName | undefined, limit: number | undefined, inFlightToo: boolean) {
  const found: PendingOperation[] = [];
  let busy = false;
  for (let after: string | undefined; ; ) {
    const page = await pending(once, { prefix, limit, after });
    busy ||= page.some(({ inFlight }) => inFlight);
    found.push(...page.filter(({ inFlight }) => inFlightToo || !inFlight));
    for (const { cursor } of page) after = cursor;
    if (limit === undefined || page.length < limit || found.length >= limit) return { found: found.slice(0, limit), busy };
  }
}

/** React Native has no events of pages. */
const HAS_PAGES = typeof addEventListener === 'function';

/** The list that was read last. `text`: the list as text. `of`: for which store, user and options it was read. */
interface Read {
  found: readonly PendingOperation[];
  text?: string;
  of?: string;
}

/**
 * The pending operations of the present user. A list that was read for another user is never shown. `last` outlives the client, because a
 * component may make a client at each render, and would otherwise always begin with an empty list.
 */
function listOf(once: Once, prefix: OperationName | undefined, limit: number | undefined, inFlightToo: boolean, last: Read): List {
  /** Counts the reasons to read. */
  let turn = 0;
  let reading = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let show: (() => void) | undefined;
  const inside = () => once['~oncefetch']() as { readonly store: { readonly scope: string }; readonly closing: AbortSignal };
  /** What is to be read now; `undefined` while nobody is logged in. */
  const wanted = (): string | undefined => {
    const user = namespace(once);
    return user === undefined ? user : plain([inside().store.scope, user, prefix, limit, inFlightToo]);
  };
  const read = async (): Promise<void> => {
    const mine = ++turn;
    const asked = wanted();
    if (!show) return;
    // If the user has changed, hide the other user's list at once.
    if (asked !== last.of) show();
    // If a read is under way, another one follows it, so that many changes in a row cost two reads.
    if (asked === undefined || reading) return;
    reading = true;
    const all = await openOnes(once, prefix, limit, inFlightToo).catch(() => undefined);
    reading = false;
    if (mine !== turn) return read();
    clearTimeout(timer);
    // If the read failed, keep the list as it is, and read again later, unless the client is closed: then every read fails.
    if ((!all || all.busy) && !inside().closing.aborted) timer = setTimeout(read, LOOK_AGAIN_MS);
    if (!all) return;
    // Keep the same object for an equal list, so that it is not rendered again, unless the key of one of its operations has expired since.
    const text = plain(all.found.map((one) => [one, one.expiresAt <= Date.now()]));
    if (asked !== last.of || text !== last.text) Object.assign(last, { found: all.found, text, of: asked });
    // It may have been hidden meanwhile, while nobody or another user was logged in.
    show();
  };
  /** The page was in the back-forward cache. Firefox never answers a read that was under way when the page went there, so do not wait for it. */
  const back = ({ persisted }: PageTransitionEvent): void => {
    if (!persisted) return;
    reading = false;
    void read();
  };
  return {
    subscribe: (changed) => {
      show = changed;
      const off = watch(once, () => void read());
      if (HAS_PAGES) addEventListener('pageshow', back);
      void read();
      return () => {
        off();
        if (HAS_PAGES) removeEventListener('pageshow', back);
        show = undefined;
        turn++;
        clearTimeout(timer);
      };
    },
    get: () => (last.found.length && wanted() === last.of ? last.found : NONE),
  };
}

/**
 * The operations that have not settled, for a banner or a list. The list is read when the component mounts, when the page is shown
 * again, and whenever an operation begins or ends, in another tab too. It is empty until it is known, and while nobody is logged in.
 *
 * @param options - `prefix`: only names that begin with this. `limit`: the most that are read, in the order of names. `inFlight`: also
 * list operations that are being sent right now, so that a row does not vanish while it is checked
 * @default `limit: 100`; `inFlight: false`, so that a banner does not flash at every payment
 * @throws TypeError on a wrong option, RangeError where `limit` is less than 1
 * @example
 * const [last] = usePending<{ total: string }>(once, { prefix: ['pay'] });
 */
export function usePending<Meta = Json>(
  once: Once,
  options: { prefix?: OperationName | undefined; limit?: number | undefined; inFlight?: boolean | undefined } = {},
): readonly PendingOperation<Meta>[] {
  if (typeof options !== 'object' || !options) throw new TypeError(`once: usePending.options must be an object, got ${options && typeof options}`);
  const { prefix, limit, inFlight = false, ...others } = options;
  // Checked here, because otherwise `pending` would refuse the options at every read, and the list would only stay empty.
  for (const name of Object.keys(others)) throw new TypeError(`once: there is no option usePending.${name}`);
  if (limit !== undefined && !(typeof limit === 'number' && limit >= 1))
    throw new RangeError(`once: usePending.limit must be a number of at least 1, got ${limit}`);
  if (typeof inFlight !== 'boolean') throw new TypeError(`once: usePending.inFlight must be a boolean, got ${inFlight && typeof inFlight}`);
  const text = prefix === undefined || (Array.isArray(prefix) && prefix.length === 0) ? undefined : textOf(once, prefix);
  const { current: last } = useRef<Read>({ found: NONE });
  const { subscribe, get } = useMemo(
    () => listOf(once, text === undefined ? undefined : nameOf(text), limit, inFlight, last),
    [once, text, limit, inFlight, last],
  );
  return useSyncExternalStore(subscribe, get, none) as readonly PendingOperation<Meta>[];
}
