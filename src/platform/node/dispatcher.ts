/** Tells whether Node's fetch sends each request only once. In undici, repetitions are made by the dispatcher, which an app may replace. */

/** The symbols under which undici, of which Node's own fetch is a copy, finds its dispatcher: since version 4, and since version 8. */
const DISPATCHERS = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')] as const;

/** A part of the source of Node's own fetch, which a function that replaced it does not have. */
const NODES_OWN = 'internal/deps/undici/undici';

/** The member of an undici object under the symbol with this description. */
const hidden = (of: object, description: string): unknown =>
  (of as Record<symbol, unknown>)[Object.getOwnPropertySymbols(of).find((symbol) => symbol.description === description) as symbol];

interface AgentOptions {
  readonly interceptors?: unknown;
  readonly allowH2?: boolean;
  readonly pipelining?: number;
}

/** Whether Node's own fetch speaks HTTP/2 unless told otherwise, as that of Node 26 does. */
const speaksHttp2 = (): boolean => Number.parseInt(globalThis.process.versions['undici'] ?? '', 10) >= 8;

/**
 * Whether an agent with these options sends a request again over HTTP/2. Undici 8 does so with a request without a body, after REFUSED_STREAM
 * or GOAWAY. Gateways say that, too, of what their server has executed: HAProxy, when the server closes a connection without an answer.
 * Undici 6 does so with several requests at once on a connection, when one of them ends.
 */
const resendsOverHttp2 = ({ allowH2 = speaksHttp2(), pipelining = 1 }: AgentOptions, { body }: RequestInit): boolean => allowH2 && (!body || pipelining > 1);

/**
 * Whether this is undici's own `Agent`: not a subclass, without composed interceptors (a Proxy with another `dispatch`), without a
 * factory of the app. Agents that retry, agents for proxies, and anything unknown are not.
 */
function isPlainAgent(dispatcher: object, options: AgentOptions | undefined): boolean {
  const agent = Object.getPrototypeOf(dispatcher) as object;
  const base = Object.getPrototypeOf(agent) as { dispatch?: unknown };
  return (
    agent.constructor.name === 'Agent' &&
    (dispatcher as { dispatch?: unknown }).dispatch === base.dispatch &&
    (hidden(dispatcher, 'factory') as { name?: string } | undefined)?.name === 'defaultFactory' &&
    options?.interceptors === undefined
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
    const options = used && (hidden(used, 'options') as AgentOptions | undefined);
    return !resendsOverHttp2(options ?? {}, init) && (used === undefined || isPlainAgent(used, options));
  } catch {
    // What is under the symbol is not undici's.
    return false;
  }
}
