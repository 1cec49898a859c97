/** Whether Node's fetch sends each request once. Undici's interface for "send it again" is its dispatcher, which an app may replace. */

/** Where undici and Node's own fetch, which is a copy of it, look for their dispatcher: since version 4, and since version 8. */
const DISPATCHERS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')] as const;

/** What Node's own fetch says in its source. A function that was put in its place says something else. */
const NODES_OWN = 'internal/deps/undici/undici';

/** A member that undici keeps under a symbol of its own. */
const hidden = (of: object, description: string): unknown =>
  (of as Record<symbol, unknown>)[Object.getOwnPropertySymbols(of).find((symbol) => symbol.description === description) as symbol];

/**
 * An undici `Agent` as it comes: not a subclass, no composed interceptors (a Proxy with another `dispatch`), no factory of
 * its own. An agent that retries, one for proxies, and anything unknown are not.
 */
function isPlainAgent(dispatcher: object): boolean {
  const agent = Object.getPrototypeOf(dispatcher) as object;
  const base = Object.getPrototypeOf(agent) as { dispatch?: unknown };
  return (
    agent.constructor.name === 'Agent' &&
    (dispatcher as { dispatch?: unknown }).dispatch === base.dispatch &&
    (hidden(dispatcher, 'factory') as { name?: string } | undefined)?.name === 'defaultFactory' &&
    (hidden(dispatcher, 'options') as { interceptors?: unknown } | undefined)?.interceptors === undefined
  );
}

/** True only for Node's own fetch over the dispatcher that it makes for itself. In doubt, a request may be sent again. */
export function sendsOnce(init: RequestInit): boolean {
  if ('dispatcher' in init) return false;
  try {
    if (!Function.prototype.toString.call(globalThis.fetch).includes(NODES_OWN)) return false;
    const [legacy, latest] = DISPATCHERS.map((symbol) => (globalThis as Record<symbol, unknown>)[symbol] as object | undefined);
    // Undici 8 puts its dispatcher under both symbols, wrapped for the fetch of earlier versions.
    const used = legacy?.constructor.name === 'Dispatcher1Wrapper' ? latest : legacy;
    return used === undefined || isPlainAgent(used);
  } catch {
    // Not what undici puts there.
    return false;
  }
}
