/** Tells whether Node's fetch sends each request only once. In undici, repetitions are made by the dispatcher, which an app may replace. */

/** The symbols under which undici, of which Node's own fetch is a copy, finds its dispatcher: since version 4, and since version 8. */
const DISPATCHERS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')] as const;

/** Part of the source of Node's own fetch, by which it is told from a function that replaced it. */
const NODES_OWN = 'internal/deps/undici/undici';

/** The member of an undici object under the symbol with this description. */
const hidden = (of: object, description: string): unknown =>
  (of as Record<symbol, unknown>)[Object.getOwnPropertySymbols(of).find((symbol) => symbol.description === description) as symbol];

/**
 * Whether this is undici's own `Agent`: not a subclass, without composed interceptors (a Proxy with another `dispatch`), without a
 * factory of the app. Agents that retry, agents for proxies, and anything unknown are not. Nor is one that sends several requests at once
 * over HTTP/2: when one of them ends, undici 6 sends the others again.
 */
function isPlainAgent(dispatcher: object): boolean {
  const agent = Object.getPrototypeOf(dispatcher) as object;
  const base = Object.getPrototypeOf(agent) as { dispatch?: unknown };
  const options = hidden(dispatcher, 'options') as { interceptors?: unknown; allowH2?: boolean; pipelining?: number } | undefined;
  return (
    agent.constructor.name === 'Agent' &&
    (dispatcher as { dispatch?: unknown }).dispatch === base.dispatch &&
    (hidden(dispatcher, 'factory') as { name?: string } | undefined)?.name === 'defaultFactory' &&
    options?.interceptors === undefined &&
    !(options?.allowH2 && (options.pipelining ?? 1) > 1)
  );
}

/** True only for Node's own fetch with the dispatcher that it makes itself. In doubt, a request may be sent twice. */
export function sendsOnce(init: RequestInit): boolean {
  if ('dispatcher' in init) return false;
  try {
    if (!Function.prototype.toString.call(globalThis.fetch).includes(NODES_OWN)) return false;
    const [legacy, latest] = DISPATCHERS.map((symbol) => (globalThis as Record<symbol, unknown>)[symbol] as object | undefined);
    // Undici 8 puts its dispatcher under both symbols, wrapped for the fetch of earlier versions.
    const used = legacy?.constructor.name === 'Dispatcher1Wrapper' ? latest : legacy;
    return used === undefined || isPlainAgent(used);
  } catch {
    // What is under the symbol is not undici's.
    return false;
  }
}
