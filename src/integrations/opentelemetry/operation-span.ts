/** The span of one operation, and those of its attempts. */
import { type Attributes, type Context, context, type Span, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { AroundAttempt, Outcome, SendAttempt } from 'oncefetch';
import type { AttemptRequest } from '../../engine/client.js';
import { errorTypeOf, requestAttributes, setAnswer, setError, spanNameOf } from './http.js';
import { endingOf } from './metrics.js';
import { ATTRIBUTES, EVENTS, SPANS } from './names.js';

/** What spans may say of an operation, and where they go. */
export interface Telling {
  readonly tracer: Tracer;
  /** Attributes of the operation that the app has listed, but for the key, which is known later. */
  readonly attributes: Attributes;
  readonly key: boolean;
  readonly query: boolean;
}

export class OperationSpan {
  readonly #telling: Telling;
  readonly #parent: Context;
  readonly #startedAt = Date.now();
  #context: Context;
  #span: Span | undefined;
  #attempt: Span | undefined;
  #joined = 0;
  #ended = false;

  /** Takes the context that is active now for its parent. */
  constructor(telling: Telling) {
    this.#telling = telling;
    this.#parent = context.active();
    this.#context = this.#parent;
  }

  /** A call that waits for another one first may never become an operation, so its span begins when it does. */
  start(): Span {
    if (this.#span) return this.#span;
    const { tracer, attributes } = this.#telling;
    this.#span = tracer.startSpan(SPANS.operation, { kind: SpanKind.INTERNAL, startTime: this.#startedAt, attributes }, this.#parent);
    this.#context = trace.setSpan(this.#parent, this.#span);
    return this.#span;
  }

  get started(): boolean {
    return this.#span !== undefined;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Does what follows in the context of this span. */
  within<T>(work: () => T): T {
    return context.with(this.#context, work);
  }

  event(name: string, attributes: Attributes = {}): void {
    this.start().addEvent(name, attributes);
  }

  /** Another call shares this operation: `at`, ms since 1970, from `caller`. */
  join(at: number, caller: Context): void {
    const span = this.start();
    this.#joined++;
    span.addEvent(EVENTS.joined, {}, Math.max(at, this.#startedAt));
    const linked = trace.getSpanContext(caller);
    if (linked) span.addLink?.({ context: linked });
  }

  /** One request, as a CLIENT span that is active while the transport is called. */
  async send(a: AttemptRequest, request: AroundAttempt, send: SendAttempt): Promise<Response> {
    const { query } = this.#telling;
    // Of a call before this one it is known that it sent the request, not how often.
    const resends = a.number - 1 + (a.resumed ? 1 : 0);
    const attributes = requestAttributes(request, resends, query);
    return this.#within(a, spanNameOf(request.method), { kind: SpanKind.CLIENT, attributes }, send, setAnswer);
  }

  /** One call of a function that `run` was given. */
  async act(a: AttemptRequest, act: () => unknown): Promise<unknown> {
    const attributes = { [ATTRIBUTES.attempt]: a.number };
    return this.#within(a, SPANS.effect, { kind: SpanKind.INTERNAL, attributes }, act);
  }

  async #within<T>(
    { key }: AttemptRequest,
    name: string,
    how: { kind: SpanKind; attributes: Attributes },
    work: () => T | PromiseLike<T>,
    answered?: (span: Span, end: T) => void,
  ): Promise<T> {
    const operation = this.start();
    if (this.#telling.key) operation.setAttribute(ATTRIBUTES.key, key);
    this.#endAttempt();
    const span = this.#telling.tracer.startSpan(name, how, this.#context);
    this.#attempt = span;
    try {
      const end = await context.with(trace.setSpan(this.#context, span), work);
      answered?.(span, end);
      return end;
    } catch (error) {
      setError(span, errorTypeOf(error));
      throw error;
    } finally {
      if (this.#attempt === span) this.#attempt = undefined;
      span.end();
    }
  }

  /** An attempt whose transport hears no abort is over when the next step begins. */
  #endAttempt(): void {
    if (!this.#attempt) return;
    setError(this.#attempt, 'timeout');
    this.#attempt.end();
    this.#attempt = undefined;
  }

  /** `code`: of the error that the call was rejected with. */
  end(outcome: Outcome, code: string | undefined): void {
    if (this.#ended) return;
    const span = this.start();
    const { attempts, resumed, storedIn, type, effect } = outcome;
    this.#endAttempt();
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
    this.#end(span);
  }

  /** It ended without an outcome: a wrong option, or a bug. */
  fail(error: unknown): void {
    if (this.#ended) return;
    const span = this.start();
    this.#endAttempt();
    setError(span, errorTypeOf(error));
    this.#end(span);
  }

  #end(span: Span): void {
    this.#ended = true;
    span.end();
  }
}
