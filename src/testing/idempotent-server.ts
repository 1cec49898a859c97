/** An idempotent server for tests, for MSW or in place of `fetch`. It loses, delays and refuses requests on demand, and counts real effects. */
import { typeOf } from '../core/name.js';
import type { Clock } from '../ports.js';
import type { Faults } from './faults.js';
import { ModelNetwork, type SentCopy } from './model-network.js';
import { type Effect, type ModelAnswer, type ModelRequest, ModelServer } from './model-server.js';

/** Options of `idempotentServer`. `Body`: the type of a request's JSON, as your `refuse` and `effect` declare it. */
export interface IdempotentServerOptions<Body = unknown> {
  /** Where the server answers POST, PUT, PATCH and DELETE: a path (on every origin) or a full URL, in MSW's notation (`/api/orders/:id`). */
  url: string;
  /** How long an answered key is remembered, ms. @default 24 hours */
  window?: number | undefined;
  /** @default the real time */
  clock?: Clock | undefined;
  /** @default 'Idempotency-Key' */
  keyHeader?: string | undefined;
  /** @default 'Idempotent-Replayed' */
  replayHeader?: string | undefined;
  /** The `Retry-After` of the `409` for a second copy that arrives while the first is being worked on, seconds. @default 1 */
  retryAfter?: number | undefined;
  /** The time from taking the key to the effect, ms. @default 0 */
  workMs?: number | undefined;
  /** Answer requests without a key by a 400, instead of executing each of them. @default false */
  requireKey?: boolean | undefined;
  /** If it returns a Response, the request is refused with that, and has no effect. */
  refuse?: ((body: Body, key: string | undefined) => Response | undefined | Promise<Response | undefined>) | undefined;
  /** Whether a refusal is stored under its key and replayed. If not, it releases the key. @default true */
  rememberRefusals?: boolean | undefined;
  /**
   * Makes the effect, and returns the answer: a Response, or JSON for a 201. If it throws, nothing happened, and the answer is a 500.
   * @default returns `{ id: 'effect-1' }`, with the number of the effect
   */
  effect?: ((body: Body, key: string | undefined) => unknown) | undefined;
}

const KNOWN = 'url,window,clock,keyHeader,replayHeader,retryAfter,workMs,requireKey,refuse,rememberRefusals,effect'.split(',');

/** The part of MSW's `http` that is used. */
export type MswHttp<Handler> = Readonly<
  Record<'post' | 'put' | 'patch' | 'delete', (path: string, answer: (asked: { request: Request }) => Promise<Response>) => Handler>
>;

/** A model server that counts its effects. */
export interface IdempotentServer {
  /** For `setupServer(...server.handlers(http))` and `setupWorker(...server.handlers(http))`, with the `http` of `msw`. */
  handlers<Handler>(http: MswHttp<Handler>): Handler[];
  /** The same server without MSW: for `createOnce({ fetch: server.fetch })`. It answers every URL and method, so even a GET has an effect. */
  readonly fetch: typeof globalThis.fetch;
  /** Every effect, in the order in which it was committed. */
  readonly effects: readonly Effect[];
  effectsOf(key: string): readonly Effect[];
  /** Every copy of a request that was sent, including those that never arrived. */
  readonly requests: readonly SentCopy[];
  readonly faults: Faults;
  /** Simulates that the server is killed and started again: work under way is lost, keys and answers are kept. */
  restart(): void;
  /** Forgets effects, keys, requests and faults. Requests under way will have no effect. For `afterEach`. */
  reset(): void;
}

/**
 * An idempotent server for tests, which counts effects, so that a test can prove that one click is one charge.
 *
 * @throws TypeError on a misspelled option, a `url` that is no string, or options that are no object
 * @example
 * ```ts
 * const server = idempotentServer({ url: '/api/payments' });
 * const network = setupServer(...server.handlers(http)); // http and setupServer are MSW's
 *
 * test('one click, one charge', async () => {
 *   network.listen();
 *   server.faults.next('lose-response', 'unavailable-after-commit', 'truncate');
 *   await checkout({ cart: 'c-42' });              // your code, with once.fetch in it
 *   expect(server.requests.length).toBeGreaterThan(3);
 *   expect(server.effects).toHaveLength(1);
 * });
 * ```
 */
export function idempotentServer<Body = unknown>(options: IdempotentServerOptions<Body>): IdempotentServer {
  if (typeOf(options) !== 'object') throw new TypeError(`idempotentServer: its options must be an object, got ${typeOf(options)}`);
  // A misspelled option would make a different server, and a test against it might pass without a meaning.
  for (const name of Object.keys(options)) if (!KNOWN.includes(name)) throw new TypeError(`idempotentServer: there is no option ${name}`);
  if (typeof options.url !== 'string') throw new TypeError(`idempotentServer: url must be a string, got ${typeOf(options.url)}`);
  const { clock = realClock, keyHeader = 'Idempotency-Key' } = options;
  const model = new ModelServer({
    clock,
    keyHeader,
    replayHeader: options.replayHeader ?? 'Idempotent-Replayed',
    window: options.window ?? 24 * 60 * 60 * 1000,
    retryAfter: options.retryAfter ?? 1,
    workMs: options.workMs ?? 0,
    requireKey: options.requireKey ?? false,
    rememberRefusals: options.rememberRefusals ?? true,
    refuse: async (body, key) => {
      const response = await options.refuse?.(body as Body, key);
      return response && recorded(response);
    },
    effect: async (body, key) => {
      const result = await options.effect?.(body as Body, key);
      if (result instanceof Response) return always(await recorded(result));
      return (count) => ({ status: 201, headers: { 'content-type': 'application/json' }, body: JSON.stringify(result ?? { id: `effect-${count}` }) });
    },
  });
  const network = new ModelNetwork(model, { clock, keyHeader });
  // Requests that hang are released at a reset. Otherwise they would outlive the test that made them.
  const hanging = new Set<() => void>();
  const serve = async (request: Request): Promise<Response | undefined> => {
    const bytes = new Uint8Array(await request.arrayBuffer());
    // Bytes, not text, identify the body: as text, two bodies that are not UTF-8 may look alike.
    const delivery = await network.deliver(modelOf(request, bytes), bytes.join());
    if (delivery.kind === 'answer') return asResponse(delivery.answer, delivery.cutAt);
    if (delivery.kind === 'silence') await new Promise<void>((letGo) => hanging.add(letGo));
    return undefined;
  };
  const answer = async ({ request }: { request: Request }) => (await serve(request)) ?? Response.error();
  const pattern = options.url.startsWith('/') ? `*${options.url}` : options.url;

  return {
    handlers: (http) => {
      if (typeof (http as Partial<typeof http> | undefined)?.post !== 'function')
        throw new TypeError(`idempotentServer: handlers takes the http of msw, got ${typeOf(http)}`);
      return [http.post, http.put, http.patch, http.delete].map((method) => method(pattern, answer));
    },
    fetch: async (input, init) => {
      const request = new Request(typeof input === 'string' ? new URL(input, 'http://localhost') : input, init);
      request.signal.throwIfAborted();
      const response = await Promise.race([serve(request), aborted(request.signal)]);
      if (!response) throw new TypeError('Failed to fetch');
      return response;
    },
    effects: model.effects,
    effectsOf: (key) => model.effectsOf(key),
    requests: network.requests,
    faults: network.faults,
    restart: () => model.restart(),
    reset: () => {
      model.reset();
      network.reset();
      for (const letGo of hanging) letGo();
      hanging.clear();
    },
  };
}

const realClock: Clock = {
  now: () => Date.now(),
  timer: (ms, fire) => {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
};

const modelOf = (request: Request, bytes: Uint8Array): ModelRequest => ({
  method: request.method,
  url: request.url,
  // happy-dom does not convert header names to lower case.
  headers: Object.fromEntries([...request.headers].map(([name, value]) => [name.toLowerCase(), value])),
  body: new TextDecoder().decode(bytes),
});

const always = (answer: ModelAnswer) => (): ModelAnswer => answer;

async function recorded(response: Response): Promise<ModelAnswer> {
  const { status, headers } = response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status, headers: Object.fromEntries(headers), body: new TextDecoder().decode(bytes), bytes };
}

/** Rejects as soon as the caller aborts, as fetch does, even while the server goes on. */
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const give = () => reject(signal.reason);
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });

// The Fetch standard's "null body statuses", with which a Response can't have a body.
const BODILESS = new Set([204, 205, 304]);

function asResponse({ status, headers, body, bytes = new TextEncoder().encode(body) }: ModelAnswer, cutAt: number | undefined): Response {
  if (BODILESS.has(status)) return new Response(null, { status, headers });
  if (cutAt === undefined) return new Response(bytes, { status, headers });
  return new Response(brokenOff(bytes.subarray(0, cutAt)), { status, headers: { ...headers, 'content-length': String(bytes.length) } });
}

const brokenOff = (start: Uint8Array): ReadableStream<Uint8Array> => {
  let sent = false;
  return new ReadableStream({
    async pull(controller) {
      if (!sent) controller.enqueue(start);
      // An error discards data that was not read yet, so give the head and the first half a turn of the event loop to arrive.
      else await nextTurn().then(() => controller.error(new TypeError('terminated')));
      sent = true;
    },
  });
};

/** Waits for the next turn of the event loop. Not by setTimeout, because in a test with fake timers that might never fire. */
const nextTurn = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
