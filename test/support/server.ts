/**
 * A server that plays a script: the first request meets the first entry, the second one the second. It notes every
 * request as it arrived, and which keys took effect: like every server that honours keys, at most once each.
 */
import type { Clock } from '../../src/ports.js';

/** One request as it arrived. */
export interface Arrival {
  /** The name of the tab that sent it. */
  readonly from: string;
  readonly method: string;
  readonly url: string;
  readonly key: string | null;
  readonly headers: Headers;
  readonly body: BodyInit | null;
  /** Wall clock of the sender, ms. */
  readonly at: number;
  readonly signal: AbortSignal;
}

/** What becomes of one request. */
export type Entry = (arrival: Arrival, server: ScriptedServer) => Response | Promise<Response>;

/**
 * A server that honours keys: the first request of a key takes effect, every later one gets its answer again. `fates`: what
 * becomes of the first, second … answer on its way back; an {@link idle} one is given without an effect.
 */
export function honest(fates: readonly (Entry | undefined)[] = []): Entry {
  let arrived = 0;
  return (arrival, server) => {
    const fate = fates[arrived++];
    if (fate && 'idle' in fate) return fate(arrival, server);
    const known = server.charged.has(arrival.key);
    server.charged.add(arrival.key);
    return fate ? fate(arrival, server) : (known ? replays() : answers(201, { id: 'ch_1' }))(arrival, server);
  };
}

/** What a browser rejects with when anything went wrong on the way, before or after the effect. */
export const networkError = (): TypeError => new TypeError('Failed to fetch');

/** The body as text, whatever it was sent as. */
export const textOf = ({ body }: Arrival): Promise<string> => new Response(body).text();

export class ScriptedServer {
  readonly arrivals: Arrival[] = [];
  /** Requests for which the script had no entry. */
  readonly unscripted: Arrival[] = [];
  /** Keys under which something took effect. */
  readonly charged = new Set<string | null>();
  /** Plays when the script is over. */
  otherwise: Entry | undefined;
  readonly #script: Entry[] = [];
  readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Adds to the end of the script. */
  plays(...entries: readonly Entry[]): void {
    this.#script.push(...entries);
  }

  get left(): number {
    return this.#script.length;
  }

  get keys(): (string | null)[] {
    return this.arrivals.map(({ key }) => key);
  }

  /** Time between each request and the one before it, ms. */
  get gaps(): number[] {
    return this.arrivals.slice(1).map(({ at }, index) => at - (this.arrivals[index]?.at ?? 0));
  }

  async receive(arrival: Arrival): Promise<Response> {
    this.arrivals.push(arrival);
    const entry = this.#script.shift() ?? this.otherwise;
    if (!entry) {
      this.unscripted.push(arrival);
      throw networkError();
    }
    return entry(arrival, this);
  }
}

/** The answer as a value; an object is sent as JSON. A 2xx without a replay marker is an effect. */
export function answers(status: number, body?: unknown, headers: Record<string, string> = {}): Entry {
  const json = typeof body === 'object' && body !== null;
  const type = body === undefined || 'content-type' in headers ? {} : { 'content-type': json ? 'application/json' : 'text/plain' };
  const replay = Object.entries(headers).some(([name, value]) => /replay|cache-hit/i.test(name) && value === 'true');
  return ({ key }, { charged }) => {
    if (status >= 200 && status < 300 && !replay) charged.add(key);
    return new Response(body === undefined ? null : json ? JSON.stringify(body) : String(body), { status, headers: { ...type, ...headers } });
  };
}

/** The stored answer of an earlier attempt. */
export const replays = (status = 201, body: unknown = { id: 'ch_1' }, header = 'Idempotent-Replayed'): Entry => answers(status, body, { [header]: 'true' });

/** `entry`, after the effect took place. */
export const charged =
  (entry: Entry): Entry =>
  (arrival, server) => {
    server.charged.add(arrival.key);
    return entry(arrival, server);
  };

/** `entry`, by a server that did nothing: an answer that looks like a success and is none. */
export const idle = (entry: Entry): Entry & { readonly idle: true } =>
  Object.assign(
    async (arrival: Arrival, server: ScriptedServer) => {
      const before = server.charged.has(arrival.key);
      const response = await entry(arrival, server);
      if (!before) server.charged.delete(arrival.key);
      return response;
    },
    { idle: true } as const,
  );

/** No answer arrives: the connection broke, before or after the request was read. */
export const lost = (): Entry => () => Promise.reject(networkError());

/** The connection was never made, and the platform can tell. */
export class NeverConnected extends Error {}
export const unreachable = (): Entry => () => Promise.reject(new NeverConnected('connect ECONNREFUSED'));

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new DOMException('This operation was aborted', 'AbortError'))));

/** No answer, ever; only an abort ends it. */
export const hangs =
  (): Entry =>
  ({ signal }) =>
    untilAborted(signal);

/** As {@link hangs}, in a runtime whose transport does not hear of aborts. */
export const deaf = (): Entry => () => new Promise(() => {});

function streams(status: number, type: string, pump: (controller: ReadableStreamDefaultController<Uint8Array>, signal: AbortSignal) => void): Entry {
  return ({ signal }) =>
    new Response(new ReadableStream<Uint8Array>({ start: (controller) => pump(controller, signal) }), { status, headers: { 'content-type': type } });
}

/** The headers and half of the body arrive, then the connection breaks. */
export const cut = (status: number): Entry =>
  streams(status, 'application/json', (controller) => {
    controller.enqueue(new TextEncoder().encode('{"id":'));
    // Later, or the first half would be dropped with it.
    setImmediate(() => controller.error(networkError()));
  });

/** The headers and half of the body arrive, and nothing more. */
export const stalls = (status: number, type = 'application/json'): Entry =>
  streams(status, type, (controller, signal) => {
    controller.enqueue(new TextEncoder().encode('{"id":'));
    signal.addEventListener('abort', () => controller.error(new DOMException('This operation was aborted', 'AbortError')));
  });

/** `entry`, `ms` later. */
export const delayed =
  (ms: number, entry: Entry): Entry =>
  async (arrival, server) => {
    await new Promise<void>((resolve) => void server.clock.timer(ms, resolve));
    return entry(arrival, server);
  };

/** Does something when the request arrives, then plays `entry`. */
export const during =
  (act: (arrival: Arrival) => unknown, entry: Entry): Entry =>
  async (arrival, server) => {
    await act(arrival);
    return entry(arrival, server);
  };

/** `entry`'s answer with what only fetch itself can set on one. */
export const shaped =
  (entry: Entry, shape: Partial<Pick<Response, 'status' | 'type' | 'redirected' | 'url'>>): Entry =>
  async (arrival, server) => {
    const response = await entry(arrival, server);
    for (const [name, value] of Object.entries(shape)) Object.defineProperty(response, name, { value });
    return response;
  };
