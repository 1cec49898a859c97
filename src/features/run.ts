/** Runs a function once, such as a call of a provider's SDK or a message handler. */

import { checkOne } from '../check.js';
import { childKey } from '../core/derived.js';
import type { Answer, Reading } from '../core/dialect.js';
import { encodeName, isObject, type OperationName, typeOf } from '../core/name.js';
import { type Outcome, unknown } from '../core/outcome.js';
import { retryAfterMs } from '../core/retry-after.js';
import { FRESH, NO_ANSWER, NOT_A_VERDICT, NOT_SENT, OPEN, REFUSED, readAnswer } from '../core/verdict.js';
import type { Verdict } from '../core/verdict-words.js';
import { addressOf, isSamePerson, sessionOf } from '../engine/address.js';
import type { AttemptRequest, AttemptResult, Payload, PreparedCall } from '../engine/client.js';
import { failure } from '../engine/failure.js';
import { abortReason } from '../engine/in-flight.js';
import { giveBack, outlives } from '../engine/lease.js';
import { runNested } from '../engine/nested.js';
import { operate } from '../engine/operate.js';
import { within, withSignal } from '../engine/wait.js';
import { answerOf, resultOf, valueResult } from '../http/answer.js';
import { jsonOfPrint } from '../http/fingerprint-hook.js';
import { isResponse, readForeign } from '../http/foreign-response.js';
import { storedAnswers } from '../http/stored-answer.js';
import type { Answered } from '../http/transport-result.js';
import { hookReading } from '../http/verdict-hook.js';
import { clientOf, type Once } from '../once.js';
import type { RunEnd, RunOptions } from '../option-types.js';
import { runSettings } from '../options.js';
import type { Nested } from '../ports.js';
import { parseResult } from './result-schema.js';

/** What a function given to `run` gets. */
export interface Attempt {
  /** Pass this key on, or write it in the transaction of the effect: after a crash the function runs again with the same key. */
  readonly key: string;
  /** The number of this attempt in its call, from 1. */
  readonly attempt: number;
  /** The call goes on with a key that was stored before it began. */
  readonly resumed: boolean;
  /** An earlier attempt may have had the effect. */
  readonly ambiguous: boolean;
  /** Aborts when the attempt's time is over, or when the last caller has left. */
  readonly signal: AbortSignal;
  /**
   * A stable key for a call that the function makes: the same label gives the same key. In a page it throws once another user has logged
   * in, or after `clear`: the call would be made in another session.
   */
  child(label: string): string;
}

/**
 * Runs any async function with the same care as `fetch`: a payment provider's SDK, a message handler. Once it is done, it does not
 * run again while that is remembered (`keep.forMs`). After a crash, the next call within the key window runs it again with the same
 * key. If the function returns a Response, that is read as `fetch` reads answers: a 503 is tried again; a 4xx is a refusal, with
 * which `run` resolves. A remembered Response is given back as a Response, any other value as JSON holds it;
 * callers in one process share the object, so do not change it.
 *
 * @throws TypeError on a wrong name or option
 * @throws the function's own error if `verdict` calls that a refusal; OnceError as `fetch` does, and ERR_ONCE_ALREADY_DONE if
 * only `reconcile` knows that it is done
 * @example
 * const intent = await run(once, ['charge', order.id], ({ key }) => stripe.paymentIntents.create(params, { idempotencyKey: key }));
 */
export async function run<T>(once: Once, name: OperationName, effect: (attempt: Attempt) => T | PromiseLike<T>, options: RunOptions<T> = {}): Promise<T> {
  const client = clientOf(once, 'run');
  const label = encodeName(name);
  checkOne(effect, 'function', 'the effect of run');
  const { settings, verdict } = runSettings(client.settings, options);
  const address = addressOf(client, label);
  const { signal, result: schema } = options;
  if (signal?.aborted) throw abortReason(signal);
  if (client.closing.aborted) throw new TypeError('once: this client is closed');
  const deadline = client.platform.clock.now() + settings.limits.totalMs;
  const payload = effectPayload(effect, verdict as (end: RunEnd<never>) => Verdict | undefined);
  const read = async (): Promise<PreparedCall> => {
    const asked = settings.fingerprint?.({ method: 'RUN', url: '', body: undefined });
    const said =
      asked &&
      (await within(client.platform.clock, settings.limits.totalMs, Promise.resolve(asked), () => new TypeError('once: fingerprint did not answer in time')));
    return { payload, fingerprint: await client.platform.digest(said === undefined ? '' : jsonOfPrint(said)), raw: '' };
  };
  let outcome = undefined as unknown as Outcome;
  const onOutcome = (end: Outcome) => {
    outcome = end;
    return settings.onOutcome?.(end);
  };
  const value = await operate({ client, settings: { ...settings, onOutcome }, address, read, signal });
  // A Response that tells of a refusal, or of nothing, is no result.
  return schema && outcome.effect === 'done' ? parseResult({ client, signal, deadline }, schema, value, outcome) : (value as T);
}

/** What the function has used, over all attempts of this call, because a later attempt may skip what an earlier one has done. */
interface Used {
  /** Its keys: labels given to `child`, and '' for the key itself. */
  readonly labels: ReadonlySet<string>;
  /** Calls under names of their own. */
  readonly calls: Nested['calls'];
}

function effectPayload(effect: (attempt: Attempt) => unknown, verdict: ((end: RunEnd<never>) => Verdict | undefined) | undefined): Payload {
  const used = { labels: new Set<string>(), calls: new Map() satisfies Nested['calls'] };
  const { labels, calls } = used;
  const send = async (attempt: AttemptRequest): Promise<AttemptResult> => {
    if (!attempt.leaves()) return { reading: NOT_SENT };
    const { client } = attempt.job;
    const { parts, platform } = client;
    const { key, number, resumed, ambiguous } = attempt;
    const session = sessionOf(attempt.job);
    const child = (label: string): string => {
      // Only a string: values that look alike in JSON would give two calls the same key, and the second would not take effect.
      if (typeof label !== 'string' || !label) throw new TypeError(`once: child takes a label, got ${typeOf(label)}`);
      // Count the label even if its key is refused below: if the function meant to make this call after another one, that was not its only call.
      labels.add(label);
      // On a server the user is not asked, because the function may be in the async context of another call here.
      if (!platform.server && !(isSamePerson(attempt.job) && sessionOf(attempt.job) === session)) throw failure(attempt.job, unknown('identity'));
      return childKey(key, label);
    };
    const { running = new Map() } = client.registry;
    Object.assign(client.registry, { running, outlives });
    const count = (more: number): unknown => {
      const left = (running.get(key) ?? 0) + more;
      return left ? running.set(key, left) : running.delete(key);
    };
    const sent = await withSignal(platform.clock, attempt.ms, [attempt.job.stop], async (signal): Promise<AttemptResult | undefined> => {
      // No getter: V8 keeps alive what the getter of an object literal refers to, here the whole call, until its next full collection.
      const argument = new Proxy<Attempt>(
        { key, attempt: number, resumed, ambiguous, signal, child },
        {
          get(given, member) {
            if (member === 'key') labels.add('');
            return given[member as keyof Attempt];
          },
        },
      );
      const call = () => effect(argument);
      const act = () => runNested(attempt, calls, call);
      let ended: RunEnd<unknown>;
      count(1);
      try {
        ended = { value: await (parts.effect ? parts.effect(attempt, act) : act()) };
      } catch (error) {
        ended = { error };
      }
      count(-1);
      const end = { ...ended, keys: labels.size };
      if (signal.aborted) {
        void giveBack(attempt.job, key);
        return undefined;
      }
      // The function has run, so if reading its end fails, that counts as "no answer", not as "nothing sent". With several child keys, the first
      // call may have taken effect, whatever the answer to the last one.
      const result = await read(end, verdict, attempt, used).catch((cause: unknown) => ({ reading: NO_ANSWER, cause }));
      // An earlier function that ignores its signal may still make its call under this key, after this refusal.
      return running.has(key) && result.reading.kind === 'refused' && !result.reading.sticky ? { ...result, reading: OPEN, refusal: undefined } : result;
    });
    return sent ?? { reading: NO_ANSWER };
  };
  return { origin: '', endpoint: '', answers: storedAnswers, send };
}

async function read(
  end: RunEnd<unknown>,
  verdict: ((end: RunEnd<never>) => Verdict | undefined) | undefined,
  attempt: AttemptRequest,
  used: Used,
): Promise<AttemptResult> {
  let said: Verdict | undefined;
  try {
    said = verdict?.(end as RunEnd<never>);
    // A promise is not a verdict. If it rejects, that is reported.
    void Promise.resolve(said as unknown).catch((error) => attempt.job.client.platform.report(error));
  } catch (error) {
    attempt.job.client.platform.report(error);
    return { reading: NOT_A_VERDICT, cause: error, reached: true };
  }
  if ('value' in end && isResponse(end.value)) return readResponse(end.value, said, attempt, used);
  const reading = hookReading(
    attempt.job,
    said === undefined ? ('value' in end ? 'fresh' : 'ambiguous') : said,
    'error' in end ? answerIn(end.error) : undefined,
  );
  if ('value' in end) return { reading, result: valueResult(end.value), reached: true };
  return {
    reading,
    result: /^(fresh|replayed)$/.test(String(said)) ? valueResult(undefined) : undefined,
    cause: end.error,
    reached: said !== undefined,
  };
}

/** The answer that an SDK's error reports, as far as a replay marker needs it: stripe-node's errors have `statusCode` and `headers`. */
function answerIn(error: unknown): Answer | undefined {
  const { headers, statusCode } = (isObject(error) ? error : {}) as { readonly headers?: unknown; readonly statusCode?: unknown };
  if (!isObject(headers)) return undefined;
  const { get } = headers as { readonly get?: unknown };
  const header = (name: string): string | null => {
    const found: unknown = typeof get === 'function' ? get.call(headers, name) : (headers as Record<string, unknown>)[name];
    return found == null ? null : String(found);
  };
  return { status: Number(statusCode ?? 0), type: 'default', redirected: false, header, text: '', json: undefined };
}

/**
 * What the answer to one call says about all that the function did. `several`: the function has made several calls, so a refusal of the
 * last one does not mean that nothing was done. `fresh`: nothing was sent under the key before. `effect`: the outcome's effect, if the answer
 * came from a call of this package.
 */
function inContext(own: Reading, several: boolean, fresh: boolean, effect: Outcome['effect'] | undefined): Reading {
  const done = /^(fresh|replayed)$/.test(own.kind);
  if (done && effect === 'unknown') return NOT_A_VERDICT;
  const said = done && effect === 'none' ? REFUSED : own;
  // Nothing else was sent under a key that is new, so the function has used it for two requests, and the first one may have had its effect.
  if (said.kind === 'mismatch' && fresh) return OPEN;
  if (!several && (effect ?? 'none') === 'none') return said;
  return /^(refused|mismatch)$/.test(said.kind) ? OPEN : said.kind === 'transient' ? { ...said, ambiguous: true } : said;
}

/**
 * Reads a Response as if `fetch` had got it: a 503 does not mean "done" only because a function returned it. `several`: see
 * {@link inContext}.
 */
async function readResponse(response: Response, said: Verdict | undefined, attempt: AttemptRequest, { labels, calls }: Used): Promise<AttemptResult> {
  const { client, settings } = attempt.job;
  let answered: Answered = { response, text: '' };
  try {
    // If the function has read the body itself, the status still counts.
    if (!response.bodyUsed) answered = await readForeign(client, response, settings.limits.bodyBytes);
  } catch (cause) {
    if (said === undefined) return { reading: NO_ANSWER, cause, reached: true };
  }
  const answer = answerOf(answered);
  // Nothing is known of the function's request: it may have asked for a page in HTML.
  const { accepted, dialect } = settings;
  const asked = { method: 'POST', key: attempt.key, refusesHtml: false, accepted, otherPayloads: attempt.otherPayloads };
  const own = said === undefined ? readAnswer(answer, asked, dialect, attempt.ambiguous) : hookReading(attempt.job, said, answer);
  const { effect, key } = client.registry.outcomes.get(response) ?? {};
  // An answer of this package tells its key, so any other key that the function has used is that of another call. An earlier function that ignores its
  // signal may come further than this one: the call may be made anew, under another key.
  const isOther = (label: string): boolean => !key?.includes(label ? childKey(attempt.key, label) : attempt.key);
  const several = calls.size > 0 || (effect ? client.registry.running?.has(attempt.key) || [...labels].some(isOther) : labels.size > 1);
  // To a function that runs again, the call of this package repeats its 202. If that call is done, the 202 does not say that work goes on.
  const known = own.kind === 'in-progress' && effect === 'done' ? FRESH : own;
  const reading = said === undefined ? inContext(known, several, !(attempt.ambiguous || attempt.otherPayloads), effect) : own;
  const refusal = reading.kind === 'refused' ? await client.platform.digest(`${answer.status}\n${answer.text}`) : undefined;
  // The function most likely used the platform's own fetch, and sent a body.
  const mayResend = client.transport.mayResend({ body: '{}' });
  const askedMs = retryAfterMs(answer.header, client.platform.clock.now()) ?? (reading.kind === 'in-progress' ? dialect.inProgressAfterMs : undefined);
  return { reading, refusal, mayResend, result: resultOf(answered), reached: true, retryAfterMs: askedMs };
}
