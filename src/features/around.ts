/** A hook around each attempt: for telemetry, measurements, and signatures. */
import { type OperationName, typeOf } from '../core/name.js';
import { NO_ANSWER, NOT_SENT } from '../core/verdict.js';
import { isSamePerson, sessionOf } from '../engine/address.js';
import type { AttemptRequest, Client, Parts } from '../engine/client.js';
import { named } from '../engine/observe.js';
import { sleptSince } from '../engine/wait.js';
import { merged } from '../http/headers-hook.js';
import { callTransport, withKey } from '../http/http-payload.js';
import { type ReplayableRequest, spreadable } from '../http/request.js';
import type { TransportResult } from '../http/sending.js';
import type { Feature, Leaving } from '../option-types.js';

/** The attempt that an `around` hook is called for: its request as it goes out, and its operation. */
export interface AroundAttempt extends Leaving {
  readonly operation: OperationName | undefined;
  /** An earlier attempt, of this call or of an earlier one, may have been sent. */
  readonly again: boolean;
  /** For this package's own telemetry. @internal */
  readonly '~oncefetch': () => unknown;
}

/** Sends the attempt's request, once. `headers` replace those of the request; the key is set last. */
export type SendAttempt = (headers?: RequestInit['headers']) => Promise<Response>;

/** A hook that is called around each attempt of an operation. It calls `send` once and returns the response that `send` gave. */
export type Around = (attempt: AroundAttempt, send: SendAttempt) => Promise<Response>;

/**
 * Calls `hook` around the transport of each attempt, within `limits.attemptMs`. If the hook throws, that counts as if the transport
 * had thrown: before `send` was called, nothing was sent; after that, the attempt may have taken effect. Of several hooks, the first
 * one in `use` is the outermost.
 *
 * @throws TypeError if the hook is not a function
 * @example
 * const once = createOnce({ use: [around(async ({ attempt }, send) => send({ 'x-attempt': String(attempt) }))] });
 */
export function around(hook: Around): Feature {
  if (typeof hook !== 'function') throw new TypeError(`once: around takes a function, got ${typeOf(hook)}`);
  // Each hook is stored under its own symbol, so that a client can have several.
  return { name: 'around', parts: { around: sendAround, [Symbol('around')]: hook } satisfies Partial<Parts> };
}

/** The hooks of a client, in the order of `use`. */
const hooksOf = ({ parts }: Client): Around[] => Object.getOwnPropertySymbols(parts).map((name) => (parts as Record<symbol, Around>)[name] as Around);

/** Sends once, like the transport alone, but through the hooks. */
async function sendAround(client: Client, request: ReplayableRequest, attempt: AttemptRequest): Promise<TransportResult> {
  const passage = new Passage(client, request, attempt);
  // The hooks take the transport's place here. `attempt.leaves` is asked later, when the innermost hook calls `send`.
  const result = await callTransport({ ...client, transport: passage }, request, { ...attempt, leaves: () => true });
  return passage.over(result);
}

/** One attempt on its way through the hooks. It is a transport that notes what the real transport did, whatever the hooks claim. */
class Passage {
  readonly #client: Client;
  readonly #request: ReplayableRequest;
  readonly #a: AttemptRequest;
  readonly #begun: number;
  readonly #session: number;
  #sent: RequestInit | undefined;
  #given: Response | undefined;
  #never = false;
  #over = false;

  constructor(client: Client, request: ReplayableRequest, a: AttemptRequest) {
    this.#client = client;
    this.#request = request;
    this.#a = a;
    this.#begun = client.platform.clock.now();
    this.#session = sessionOf(client);
  }

  async send(_: string, init: RequestInit): Promise<Response> {
    try {
      const response = await this.#through(hooksOf(this.#client), this.#request, init);
      if (!this.#given || response !== this.#given) throw new TypeError('once: this is not the Response that the transport gave');
      return response;
    } finally {
      this.#over = true;
    }
  }

  /** Only an error that the transport itself threw proves that nothing was sent. */
  neverSent(): boolean {
    return this.#never;
  }

  mayResend(): boolean {
    return this.#client.transport.mayResend(this.#sent as RequestInit, this.#a.carrier);
  }

  /** How the attempt ended, judged by what the transport did: if it was never called, nothing was sent, whatever the hooks did. */
  over(left: TransportResult): TransportResult {
    this.#over = true;
    if (left.answered || left.reading !== NO_ANSWER) return left;
    return this.#sent ? { ...left, reached: left.reached || !!this.#given } : { reading: NOT_SENT, cause: left.cause };
  }

  #through([hook, ...inner]: readonly Around[], request: ReplayableRequest, init: RequestInit): Promise<Response> {
    if (!hook) return this.#leave(request, init);
    const { job, number, ambiguous, resumed } = this.#a;
    const { method, url, headers, body } = request;
    const attempt = {
      operation: named(job.name),
      attempt: number,
      again: ambiguous || resumed,
      resumed,
      method,
      url,
      headers: new Headers(headers),
      body,
      '~oncefetch': () => this.#a,
    };
    // If a hook adds no header, await nothing, so that tracers that follow the call stack see the transport inside of the hook.
    return hook(attempt, (more) =>
      more === undefined ? this.#through(inner, request, init) : this.#keyed(request, more).then((next) => this.#through(inner, next, init)),
    );
  }

  async #keyed(request: ReplayableRequest, more: HeadersInit): Promise<ReplayableRequest> {
    const next = await withKey(merged(request, more), this.#a);
    if (!next) throw new Error('once: the request has no place for its key');
    return next;
  }

  #leave(request: ReplayableRequest, init: RequestInit): Promise<Response> {
    // If a hook took long, another driver may have taken the record meanwhile.
    return sleptSince(this.#client, this.#begun) && this.#a.stillMine
      ? this.#a.stillMine().then((mine) => this.#call(request, init, mine))
      : this.#call(request, init, true);
  }

  async #call({ url, headers, body }: ReplayableRequest, init: RequestInit, mine: boolean): Promise<Response> {
    const client = this.#client;
    // If another user was logged in meanwhile, what a hook added may be theirs, such as their token or a signature made with it.
    if (isSamePerson(this.#a.job) && sessionOf(client) !== this.#session) throw new Error('once: another user has logged in, or clear() was called');
    // A second `send`, or one after the attempt has ended, would be an attempt that nobody counts.
    if (!mine || this.#sent || this.#over || init.signal?.aborted || !this.#a.leaves()) throw new Error('once: this attempt was sent already, or is over');
    const { transport } = client;
    const sent = { ...init, headers: spreadable(headers), body: body ?? null } as RequestInit;
    this.#sent = sent;
    try {
      this.#given = await transport.send(url, sent);
      return this.#given;
    } catch (cause) {
      this.#never = !init.signal?.aborted && transport.neverSent(cause, sent);
      throw cause;
    }
  }
}
