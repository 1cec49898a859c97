/** A hook around each attempt: for telemetry, measurements, and signatures. */
import { checkOne } from '../check.js';
import type { OperationName } from '../core/name.js';
import { NO_ANSWER, NOT_SENT } from '../core/verdict.js';
import { isSamePerson, sessionOf } from '../engine/address.js';
import type { AttemptRequest, Client, Parts } from '../engine/client.js';
import { nameOrNone } from '../engine/observe.js';
import { sleptSince } from '../engine/wait.js';
import { merged } from '../http/headers-hook.js';
import { callTransport, withKey } from '../http/http-payload.js';
import { type ReplayableRequest, spreadable } from '../http/request.js';
import type { TransportResult } from '../http/transport-result.js';
import type { Feature, Leaving } from '../option-types.js';
import { wrong } from '../texts/full.js';

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
  checkOne(hook, 'function', 'the hook of around');
  // Each hook is stored under its own symbol, so that a client can have several.
  return { parts: { around: sendAround, [Symbol('around')]: hook } satisfies Partial<Parts> };
}

/** The hooks of a client, in the order of `use`. */
const hooksOf = ({ parts }: Client): Around[] => Object.getOwnPropertySymbols(parts).map((name) => (parts as Record<symbol, Around>)[name] as Around);

/** The attempt, as a hook sees it. */
const shown = ({ method, url, headers, body }: ReplayableRequest, a: AttemptRequest): AroundAttempt => ({
  operation: nameOrNone(a.job.name),
  attempt: a.number,
  again: a.ambiguous || a.resumed,
  resumed: a.resumed,
  method,
  url,
  headers: new Headers(headers),
  body,
  '~oncefetch': () => a,
});

/** Sends once, like the transport alone, but through the hooks. Notes what the real transport did, whatever the hooks claim. */
async function sendAround(client: Client, request: ReplayableRequest, a: AttemptRequest): Promise<TransportResult> {
  const { transport } = client;
  const begun = client.platform.clock.now();
  const session = sessionOf(a.job);
  let sent = undefined as RequestInit | undefined;
  let given = undefined as Response | undefined;
  let never = false;
  let over = false;

  const call = async ({ url, headers, body }: ReplayableRequest, init: RequestInit, mine: boolean): Promise<Response> => {
    // If another user was logged in meanwhile, what a hook added may be theirs, such as their token or a signature made with it.
    if (isSamePerson(a.job) && sessionOf(a.job) !== session) throw new Error('once: another user has logged in, or clear() was called');
    // A second `send`, or one after the attempt has ended, would be an attempt that nobody counts.
    if (!mine || sent || over || init.signal?.aborted || !a.leaves()) throw new Error(wrong('the hook of around', 'sent-already'));
    sent = { ...init, headers: spreadable(headers), body: body ?? null } as RequestInit;
    try {
      given = await transport.send(url, sent);
      return given;
    } catch (cause) {
      // Only an error that the transport itself threw proves that nothing was sent.
      never = !init.signal?.aborted && transport.neverSent(cause, sent);
      throw cause;
    }
  };
  const keyed = async (bare: ReplayableRequest, more: HeadersInit): Promise<ReplayableRequest> => {
    const next = await withKey(merged(bare, more), a);
    if (!next) throw new Error(wrong(String(a.carrier), 'no-place'));
    return next;
  };
  const through = ([hook, ...inner]: readonly Around[], next: ReplayableRequest, init: RequestInit): Promise<Response> => {
    // If a hook took long, another driver may have taken the record meanwhile.
    if (!hook) return sleptSince(client, begun) && a.stillMine ? a.stillMine().then((mine) => call(next, init, mine)) : call(next, init, true);
    // If a hook adds no header, await nothing, so that tracers that follow the call stack see the transport inside of the hook.
    return hook(shown(next, a), (more) =>
      more === undefined ? through(inner, next, init) : keyed(next, more).then((changed) => through(inner, changed, init)),
    );
  };
  /** The hooks take the transport's place. */
  const passage: Client['transport'] = {
    async send(_, init) {
      try {
        const response = await through(hooksOf(client), request, init);
        if (!given || response !== given) throw new TypeError(wrong('the hook of around', 'other-response'));
        return response;
      } finally {
        over = true;
      }
    },
    neverSent: () => never,
    mayResend: () => transport.mayResend(sent as RequestInit, a.carrier),
  };
  // `a.leaves` is asked later, when the innermost hook calls `send`.
  const left = await callTransport({ ...client, transport: passage }, request, { ...a, leaves: () => true });
  if (left.answered || left.reading !== NO_ANSWER) return left;
  // If the real transport was never called, nothing was sent, whatever the hooks did.
  return sent ? { ...left, reached: left.reached || !!given } : { reading: NOT_SENT, cause: left.cause };
}
