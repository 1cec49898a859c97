/** The span of one operation, and those of its attempts. */
import { type Attributes, type Context, context, type Span, SpanKind, type SpanOptions, type Tracer, trace } from '@opentelemetry/api';
import type { AroundAttempt, Outcome, SendAttempt } from 'oncefetch';
import type { AttemptRequest } from '../../engine/client.js';
import { errorTypeOf, requestAttributes, setAnswer, setError, spanNameOf } from './http.js';
import { endingOf } from './metrics.js';
import { ATTRIBUTES, EVENTS, SPANS } from './names.js';
import { safely } from './safely.js';

/** What spans may say of an operation, and where they go. */
export interface Telling {
  readonly tracer: Tracer;
  /** Attributes of the operation that the app has listed, but for the key, which is known later. */
  readonly attributes: Attributes;
  readonly key: boolean;
  readonly query: boolean;
}

/** No method of it throws, whatever the SDK does. */
export class OperationSpan {
  /** The end of its operation, known from the first attempt on: in Workers no table that calls share has it. */
  landed: Promise<void> | undefined;
  readonly #telling: Telling;
  readonly #startedAt = Date.now();
  /** That of the caller, and from the start on that of this span. */
  #context = context.active();
  #span: Span | undefined;
  #attempt: Span | undefined;
  #joined = 0;
  #ended = false;

  /** Takes the context that is active now for its parent. */
  constructor(telling: Telling) {
    this.#telling = telling;
  }

  get started(): boolean {
    return this.#span !== undefined;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** A call that waits for another one first may never become an operation, so its span begins when it does. */
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

  /** Does what follows in the context of this span. */
  within<T>(work: () => T): T {
    return context.with(this.#context, work);
  }

  event(name: string, attributes: Attributes = {}): void {
    safely(() => this.#start().addEvent(name, attributes));
  }

  /** Another call shares this operation: `at`, ms since 1970, from `caller`. */
  join(at: number, caller: Context): void {
    this.#joined++;
    safely(() => {
      const linked = trace.getSpanContext(caller);
      this.#start().addEvent(EVENTS.joined, {}, Math.max(at, this.#startedAt));
      if (linked) this.#start().addLink?.({ context: linked });
    });
  }

  /** One request, as a CLIENT span that is active while the transport is called. */
  send(a: AttemptRequest, request: AroundAttempt, send: SendAttempt): Promise<Response> {
    // Of a call before this one it is known that it sent the request, not how often.
    const resends = a.number - 1 + (a.resumed ? 1 : 0);
    const how = () => ({ kind: SpanKind.CLIENT, attributes: requestAttributes(request, resends, this.#telling.query) });
    return this.#during(a, spanNameOf(request.method), how, () => send(), setAnswer);
  }

  /** One call of a function that `run` was given. */
  act(a: AttemptRequest, act: () => unknown): Promise<unknown> {
    const how = () => ({ kind: SpanKind.INTERNAL, attributes: { [ATTRIBUTES.attempt]: a.number } });
    return this.#during(a, SPANS.effect, how, act);
  }

  async #during<T>(
    { key }: AttemptRequest,
    name: string,
    how: () => SpanOptions,
    work: () => T | PromiseLike<T>,
    answered: (span: Span, end: T) => void = () => {},
  ): Promise<T> {
    const span = safely(() => this.#startAttempt(key, name, how()));
    if (!span) return work();
    try {
      const end = await context.with(trace.setSpan(this.#context, span), work);
      safely(() => answered(span, end));
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

  /** An attempt whose transport hears no abort is over when the next step begins. */
  #endAttempt(): void {
    const span = this.#attempt;
    this.#attempt = undefined;
    if (!span) return;
    setError(span, 'timeout');
    span.end();
  }

  /** `code`: of the error that the call was rejected with. */
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

  /** It ended without an outcome: a wrong option, or a bug. */
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
