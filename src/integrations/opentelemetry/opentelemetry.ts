/** Spans and metrics of a client, by OpenTelemetry. */
import { type Attributes, createNoopMeter, type MeterProvider, metrics, ProxyTracerProvider, type TracerProvider, trace } from '@opentelemetry/api';
import { around, type Feature, type Once, type OnceEvent, subscribe } from 'oncefetch';
import type { AttemptRequest, Call, Client, Parts } from '../../engine/client.js';
import { drives, follow } from './calls.js';
import { metricsOf } from './metrics.js';
import { ATTRIBUTES, EVENTS } from './names.js';
import type { OperationSpan, Telling } from './operation-span.js';
import { safely } from './safely.js';

/** What spans contain only if it is listed: the parts of an operation's name, its idempotency key, and the query in `url.full`. */
export type OpenTelemetryAttribute = 'oncefetch.operation.name' | 'oncefetch.key' | 'url.query';

/** Options of `openTelemetry`. */
export interface OpenTelemetryOptions {
  /** @default the global one, as it is when `openTelemetry` is called */
  tracerProvider?: TracerProvider | undefined;
  /** @default the global one, as it is when `openTelemetry` is called */
  meterProvider?: MeterProvider | undefined;
  /** What spans may contain in addition: `['oncefetch.operation.name']`. Metrics never contain it. @default [] */
  attributes?: readonly OpenTelemetryAttribute[] | undefined;
}

const LISTABLE: readonly unknown[] = [ATTRIBUTES.name, ATTRIBUTES.key, 'url.query'] satisfies OpenTelemetryAttribute[];

/**
 * Reports each operation to OpenTelemetry: as a span with its attempts as children, by the stable conventions for HTTP clients, and as
 * metrics. Put it last in `use`, so that the transport is called directly inside of the attempt's span.
 *
 * @param options - providers, and what spans may contain in addition
 * @throws TypeError that names a wrong option
 * @see https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 * @example
 * const once = createOnce({ namespace: 'billing', use: [openTelemetry()] });
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Feature {
  const { tracerProvider = trace, meterProvider = metrics, attributes = [] } = checked(options);
  const tracer = safely(() => tracerProvider.getTracer('oncefetch')) ?? new ProxyTracerProvider().getTracer('oncefetch');
  const counted = safely(() => metricsOf(meterProvider.getMeter('oncefetch'))) ?? metricsOf(createNoopMeter());
  // Each feature has its own symbol, so that two of them on one client do not use each other's spans.
  const mark = Symbol('oncefetch.opentelemetry');
  const spanOf = (of: object): OperationSpan | undefined => (of as { settings?: { [mark]?: OperationSpan } }).settings?.[mark];
  const spanOfAttempt = ({ job }: AttemptRequest): OperationSpan | undefined => {
    const span = spanOf(job);
    if (span) drives(span, job);
    return span;
  };

  const tellingOf = ({ address }: Call): Telling => ({
    tracer,
    attributes: attributes.includes(ATTRIBUTES.name) ? nameOf(address.name) : {},
    key: attributes.includes(ATTRIBUTES.key),
    query: attributes.includes('url.query'),
  });
  const attempt = around((request, send) => {
    const a = request['~oncefetch']() as AttemptRequest;
    return spanOfAttempt(a)?.send(a, request, send) ?? send();
  });
  const met = new WeakSet<OperationSpan>();
  const hears = (event: OnceEvent, of: object | undefined): void => {
    const span = of && spanOf(of);
    if (!span || span.ended) return;
    if (event.type === 'diagnostic') span.event(EVENTS.diagnostic, { [ATTRIBUTES.diagnostic]: event.code });
    if (event.type !== 'wait') return;
    span.event(EVENTS.wait, { [ATTRIBUTES.waitReason]: event.why });
    // Count the conflict once for each operation, however often it has to wait.
    if (event.why === 'in-progress' && !met.has(span)) counted.conflict('in-progress');
    if (event.why === 'in-progress') met.add(span);
  };
  const parts: Partial<Parts> = {
    call: (call, operate) => follow(call, operate, mark, tellingOf(call), counted),
    effect: (a, act) => spanOfAttempt(a)?.act(a, act) ?? act(),
    made(client: Client) {
      subscribe({ '~oncefetch': () => client } as Once, (event) => hears(event, client.log.callOf?.get(event)));
      safely(() => counted.watch(client));
    },
  };
  return { parts: { ...attempt.parts, ...parts } };
}

const nameOf = (name: readonly unknown[]): Attributes => (name.length ? { [ATTRIBUTES.name]: name.map(String) } : {});

/** The kind of a wrong value, in one word. */
const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

function checked(options: OpenTelemetryOptions): OpenTelemetryOptions {
  const wrong = (what: string, wanted: string, got: unknown): never => {
    throw new TypeError(`once: openTelemetry: ${what} must be ${wanted}, got ${typeof got === 'string' ? JSON.stringify(got) : kindOf(got)}`);
  };
  if (kindOf(options) !== 'object') wrong('options', 'an object', options);
  const { tracerProvider, meterProvider, attributes, ...others } = options;
  for (const name of Object.keys(others)) throw new TypeError(`once: openTelemetry has no option ${JSON.stringify(name)}`);
  if (tracerProvider !== undefined && typeof tracerProvider?.getTracer !== 'function') wrong('tracerProvider', 'a TracerProvider', tracerProvider);
  if (meterProvider !== undefined && typeof meterProvider?.getMeter !== 'function') wrong('meterProvider', 'a MeterProvider', meterProvider);
  if (attributes !== undefined && !Array.isArray(attributes)) wrong('attributes', 'an array', attributes);
  for (const [index, one] of (attributes ?? []).entries()) if (!LISTABLE.includes(one)) wrong(`attributes[${index}]`, `one of ${LISTABLE.join(', ')}`, one);
  return options;
}
