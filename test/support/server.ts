/**
 * A server that plays a script: the first request gets the first entry, the second one the second. The server notes every request as it
 * arrived, and which keys took effect.
 */
import type { Clock } from '../../src/ports.js';

/** One request as it arrived. */
export interface Arrival {
  /** The name of the tab that sent the request. */
  readonly from: string;
  readonly method: string;
  readonly url: string;
  readonly key: string | null;
  readonly headers: Headers;
  readonly body: BodyInit | null;
  /** The sender's wall clock, ms. */
  readonly at: number;
  readonly signal: AbortSignal;
}

/** One entry of the script: gives the answer to a request, or rejects if none arrives. */
export type Entry = (arrival: Arrival, server: ScriptedServer) => Response | Promise<Response>;

/**
 * A server that honours keys: the first request with a key takes effect, and every later one gets a replay. `fates`: entries for the
 * answers to the first, second … request; the effect happens all the same, unless the entry is {@link idle}.
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

/** The error with which a browser's fetch rejects. It is the same whatever went wrong, before or after the effect. */
export const networkError = (): TypeError => new TypeError('Failed to fetch');

/** The body of a request as text. */
export const textOf = ({ body }: Arrival): Promise<string> => new Response(body).text();

export class ScriptedServer {
  readonly arrivals: Arrival[] = [];
  /** Requests for which the script had no entry. */
  readonly unscripted: Arrival[] = [];
  /** Keys that took effect. */
  readonly charged = new Set<string | null>();
  /** The entry for requests after the end of the script. */
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

  /** The time between each request and the one before it, ms. */
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

/** Gives this answer; an object is sent as JSON. A 2xx without a replay marker takes effect. */
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

/** GoCardless's refusal of a key that has made a resource before. */
export const doneElsewhere = (): Entry =>
  answers(409, { error: { errors: [{ reason: 'idempotent_creation_conflict', links: { conflicting_resource_id: 'PM1' } }] } });

/** `entry`, after the request has taken effect. */
export const charged =
  (entry: Entry): Entry =>
  (arrival, server) => {
    server.charged.add(arrival.key);
    return entry(arrival, server);
  };

/** `entry` without an effect: the answer may look like a success, but the server did nothing. */
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

/** No answer arrives: the connection breaks, before or after the server read the request. */
export const lost = (): Entry => () => Promise.reject(networkError());

/** No connection is made, and the platform can tell. */
export class NeverConnected extends Error {}
export const unreachable = (): Entry => () => Promise.reject(new NeverConnected('connect ECONNREFUSED'));

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new DOMException('This operation was aborted', 'AbortError'))));

/** No answer ever comes; only an abort ends the attempt. */
export const hangs =
  (): Entry =>
  ({ signal }) =>
    untilAborted(signal);

/** Like {@link hangs}, in a runtime whose transport ignores aborts. */
export const deaf = (): Entry => () => new Promise(() => {});

function streams(status: number, type: string, pump: (controller: ReadableStreamDefaultController<Uint8Array>, signal: AbortSignal) => void): Entry {
  return ({ signal }) =>
    new Response(new ReadableStream<Uint8Array>({ start: (controller) => pump(controller, signal) }), { status, headers: { 'content-type': type } });
}

/** The headers and half of the body arrive, then the connection breaks. */
export const cut = (status: number): Entry =>
  streams(status, 'application/json', (controller) => {
    controller.enqueue(new TextEncoder().encode('{"id":'));
    // An error at once would drop the first half, too.
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

/** Runs `act` when the request arrives, then plays `entry`. */
export const during =
  (act: (arrival: Arrival) => unknown, entry: Entry): Entry =>
  async (arrival, server) => {
    await act(arrival);
    return entry(arrival, server);
  };

/** The answer of `entry` with properties that only fetch itself can set. */
export const shaped =
  (entry: Entry, shape: Partial<Pick<Response, 'status' | 'type' | 'redirected' | 'url'>>): Entry =>
  async (arrival, server) => {
    const response = await entry(arrival, server);
    for (const [name, value] of Object.entries(shape)) Object.defineProperty(response, name, { value });
    return response;
  };
