/** The span of one operation, and those of its attempts. */
import { type Attributes, type Context, context, type Span, SpanKind, type SpanOptions, type Tracer, trace } from '@opentelemetry/api';
import type { AroundAttempt, Outcome, SendAttempt } from 'oncefetch';
import type { AttemptRequest } from '../../engine/client.js';
import { errorTypeOf, requestAttributes, setAnswer, setError, spanNameOf } from './http.js';
import { endingOf } from './metrics.js';
import { ATTRIBUTES, EVENTS, SPANS } from './names.js';
import { inContext, safely } from './safely.js';

/** The tracer, and what spans may contain. */
export interface Telling {
  readonly tracer: Tracer;
  /** Attributes of the operation that the app has listed, without the key, which is known only later. */
  readonly attributes: Attributes;
  readonly key: boolean;
  readonly query: boolean;
}

/** The span of one operation. None of its methods throws because of telemetry, whatever the SDK does. */
export class OperationSpan {
  /** Resolves at the end of the operation. Set at the first attempt, because in Workers calls share no table where it could be found. */
  landed: Promise<void> | undefined;
  /** The context in which the call was made. If the context manager has none, what needs one throws, and `safely` reports that. */
  readonly caller: Context;
  readonly #telling: Telling;
  readonly #startedAt = Date.now();
  /** The caller's context; once the span has started, the span's own. */
  #context: Context;
  #span: Span | undefined;
  #attempt: Span | undefined;
  #joined = 0;
  #ended = false;

  /** The context that is active now is the parent of the span. */
  constructor(telling: Telling) {
    this.#telling = telling;
    this.caller = safely(() => context.active()) as Context;
    this.#context = this.caller;
  }

  get started(): boolean {
    return !!this.#span;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Starts the span. Not in the constructor, because a call that has to wait for another one may never become an operation. */
  start(): void {
    safely(() => this.#start());
  }

  #start(): Span {
    if (this.#span) return this.#span;
    const { tracer, attributes } = this.#telling;
    const span = tracer.startSpan(SPANS.operation, { kind: SpanKind.INTERNAL, startTime: this.#startedAt, attributes }, this.#context);
    this.#span = span;
    this.#context = trace.setSpan(this.#context, span);
    return span;
  }

  /** Runs `work` in the context of this span. */
  within<T>(work: () => Promise<T>): Promise<T> {
    return inContext(() => this.#context, work);
  }

  event(name: string, attributes: Attributes = {}): void {
    safely(() => this.#start().addEvent(name, attributes));
  }

  /** Another call has joined this operation, at the time `at` (ms since 1970), from the context `caller`. */
  join(at: number, caller: Context): void {
    this.#joined++;
    safely(() => {
      const linked = trace.getSpanContext(caller);
      this.#start().addEvent(EVENTS.joined, {}, Math.max(at, this.#startedAt));
      if (linked) this.#start().addLink?.({ context: linked });
    });
  }

  /** Sends one request, with a CLIENT span that is active while the transport is called. */
  send(a: AttemptRequest, request: AroundAttempt, send: SendAttempt): Promise<Response> {
    // If an earlier call sent the request, nothing tells how often: count that as once.
    const resends = a.number - 1 + (a.resumed ? 1 : 0);
    const how = () => ({ kind: SpanKind.CLIENT, attributes: requestAttributes(request, resends, this.#telling.query) });
    return this.#during(a, spanNameOf(request.method), how, send, setAnswer);
  }

  /** Calls the function given to `run`, with a span. */
  act(a: AttemptRequest, act: () => unknown): Promise<unknown> {
    const how = () => ({ kind: SpanKind.INTERNAL, attributes: { [ATTRIBUTES.attempt]: a.number } });
    return this.#during(a, SPANS.effect, how, act);
  }

  async #during<T>(
    { key }: AttemptRequest,
    name: string,
    how: () => SpanOptions,
    work: () => T | PromiseLike<T>,
    answered?: (span: Span, end: T) => void,
  ): Promise<T> {
    const span = safely(() => this.#startAttempt(key, name, how()));
    if (!span) return work();
    try {
      const end = await inContext(() => trace.setSpan(this.#context, span), work);
      safely(() => answered?.(span, end));
      return end;
    } catch (error) {
      safely(() => setError(span, errorTypeOf(error)));
      throw error;
    } finally {
      if (this.#attempt === span) this.#attempt = undefined;
      safely(() => span.end());
    }
  }

  #startAttempt(key: string, name: string, how: SpanOptions): Span {
    const operation = this.#start();
    if (this.#telling.key) operation.setAttribute(ATTRIBUTES.key, key);
    this.#endAttempt();
    this.#attempt = this.#telling.tracer.startSpan(name, how, this.#context);
    return this.#attempt;
  }

  /** Ends the span of an attempt that timed out but whose transport ignores the abort. Called when the next step begins. */
  #endAttempt(): void {
    const span = this.#attempt;
    this.#attempt = undefined;
    if (!span) return;
    setError(span, 'timeout');
    span.end();
  }

  /** Ends the span with an outcome. `code`: that of the error with which the call rejected, if it did. */
  end(outcome: Outcome, code: string | undefined): void {
    this.#end((span) => {
      const { attempts, resumed, storedIn, type, effect } = outcome;
      span.setAttributes({
        ...endingOf(outcome),
        [ATTRIBUTES.attempts]: attempts,
        [ATTRIBUTES.resumed]: resumed,
        [ATTRIBUTES.storedIn]: storedIn,
        ...(outcome.type === 'replayed' && { [ATTRIBUTES.replayedFrom]: outcome.from }),
        ...(this.#joined > 0 && { [ATTRIBUTES.joinedCalls]: this.#joined }),
        ...(this.#telling.key && outcome.key && { [ATTRIBUTES.key]: outcome.key }),
      });
      if (effect === 'unknown' || type === 'unsent') setError(span, code ?? ('reason' in outcome ? outcome.reason : type));
    });
  }

  /** Ends the span without an outcome, after a wrong option or a bug. */
  fail(error: unknown): void {
    this.#end((span) => setError(span, errorTypeOf(error)));
  }

  #end(tell: (span: Span) => void): void {
    if (this.#ended) return;
    safely(() => {
      const span = this.#start();
      this.#endAttempt();
      tell(span);
      span.end();
    });
    this.#ended = true;
  }
}
