/** OpenTelemetry's own SDK with exporters in memory, and checks against its semantic conventions. For Node and for browsers. */
import { type Attributes, type AttributeValue, context, propagation, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import * as conventions from '@opentelemetry/semantic-conventions';
import { ATTRIBUTES, METRICS, SPANS } from '../../src/integrations/opentelemetry/names.js';

const NEVER_MS = 3_600_000;

export class Telemetry {
  readonly #spans = new InMemorySpanExporter();
  readonly #reports = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  #begun = 0;
  readonly tracerProvider = new TracerProvider({
    spanProcessors: [
      new SimpleSpanProcessor({ exporter: this.#spans }),
      { onStart: () => void this.#begun++, onEnd: () => {}, forceFlush: async () => {}, shutdown: async () => {} },
    ],
  });
  readonly meterProvider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: this.#reports, exportIntervalMillis: NEVER_MS })] });
  readonly tracer: Tracer = this.tracerProvider.getTracer('test');

  get spans(): readonly ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  /** How many spans have begun and not ended. */
  get open(): number {
    return this.#begun - this.spans.length;
  }

  /** The providers, for the options of `openTelemetry`. */
  get providers() {
    return { tracerProvider: this.tracerProvider, meterProvider: this.meterProvider };
  }

  get operations(): readonly ReadableSpan[] {
    return this.spans.filter(({ name }) => name === SPANS.operation);
  }

  /** The direct children of this span, in the order in which they began. */
  below(parent: ReadableSpan | undefined): readonly ReadableSpan[] {
    const id = parent?.spanContext().spanId;
    return this.spans.filter(({ parentSpanContext }) => id !== undefined && parentSpanContext?.spanId === id).sort((a, b) => millis(a) - millis(b));
  }

  async metrics(): Promise<readonly MetricData[]> {
    this.#reports.reset();
    await this.meterProvider.forceFlush();
    return (
      this.#reports
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? []
    );
  }

  /** The last value of a metric for each combination of attribute values; for a histogram, the number of measurements. Counters at 0 are left out. */
  async metric(name: keyof typeof METRICS): Promise<Record<string, number>> {
    const counts = name === 'operations' || name === 'duplicates' || name === 'conflicts';
    return Object.fromEntries(Object.entries(await this.all(name)).filter(([, value]) => !counts || value > 0));
  }

  async all(name: keyof typeof METRICS): Promise<Record<string, number>> {
    const found = (await this.metrics()).find(({ descriptor }) => descriptor.name === METRICS[name]);
    const countOf = (value: number | Histogram): number => (typeof value === 'object' ? value.count : value);
    const points = (found?.dataPoints ?? []) as readonly { readonly attributes: Attributes; readonly value: number | Histogram }[];
    return Object.fromEntries(points.map(({ attributes, value }) => [Object.values(attributes).join(' '), countOf(value)]));
  }

  async shutdown(): Promise<void> {
    await this.meterProvider.shutdown();
    await this.tracerProvider.shutdown();
  }

  /** A fetch as an instrumentation wraps it: it starts a child span of the active one, and sends `traceparent`. */
  instrumented(send: typeof fetch = (...call) => fetch(...call)): typeof fetch {
    return (input, init) => {
      const span = this.tracer.startSpan('transport', { kind: SpanKind.CLIENT });
      const headers = new Headers(init?.headers);
      propagator.inject(trace.setSpan(context.active(), span), headers, { set: (carrier, name, value) => carrier.set(name, value) });
      return send(input, { ...init, headers }).finally(() => span.end());
    };
  }
}

const propagator = new W3CTraceContextPropagator();

/** Removes what a test has registered in the OpenTelemetry API of this realm. */
export function disableGlobals(): void {
  context.disable();
  trace.disable();
  propagation.disable();
}

const millis = ({ startTime: [s, ns] }: ReadableSpan): number => s * 1000 + ns / 1e6;

/** The parts of a span that tests compare. */
export const brief = ({ name, kind, attributes, status, events }: ReadableSpan) => ({
  name,
  kind: SpanKind[kind],
  attributes,
  error: status.code === SpanStatusCode.ERROR,
  events: events.map((event) => [event.name, ...Object.values(event.attributes ?? {})].join(' ')),
});

const STABLE = new Set<unknown>(Object.values(conventions));
const OWN = new Set<unknown>(Object.values(ATTRIBUTES));

/** https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span: what a CLIENT span must have, and the type of each. */
const REQUIRED: Readonly<Record<string, string>> = {
  [conventions.ATTR_HTTP_REQUEST_METHOD]: 'string',
  [conventions.ATTR_SERVER_ADDRESS]: 'string',
  [conventions.ATTR_SERVER_PORT]: 'number',
  [conventions.ATTR_URL_FULL]: 'string',
};
const ALLOWED: Readonly<Record<string, string>> = {
  ...REQUIRED,
  [conventions.ATTR_ERROR_TYPE]: 'string',
  [conventions.ATTR_HTTP_REQUEST_METHOD_ORIGINAL]: 'string',
  [conventions.ATTR_HTTP_REQUEST_RESEND_COUNT]: 'number',
  [conventions.ATTR_HTTP_RESPONSE_STATUS_CODE]: 'number',
};

/** How a CLIENT span breaks the conventions. */
export function breachesOfClient({ name, attributes, status }: ReadableSpan): string[] {
  const method = attributes[conventions.ATTR_HTTP_REQUEST_METHOD];
  const code = attributes[conventions.ATTR_HTTP_RESPONSE_STATUS_CODE] as number | undefined;
  const error = attributes[conventions.ATTR_ERROR_TYPE];
  const resends = attributes[conventions.ATTR_HTTP_REQUEST_RESEND_COUNT] as number | undefined;
  const url = new URL(String(attributes[conventions.ATTR_URL_FULL]));
  const failed = code === undefined || code >= 400;
  return [
    ...Object.keys(REQUIRED)
      .filter((one) => !(one in attributes))
      .map((one) => `lacks ${one}`),
    ...Object.entries(attributes).flatMap(([one, value]) =>
      typeof value === ALLOWED[one] ? [] : [`${one} is ${ALLOWED[one] ?? 'unknown'}, not ${typeof value}`],
    ),
    ...(name === (method === '_OTHER' ? 'HTTP' : method) ? [] : [`is named ${name}`]),
    ...(failed === (error !== undefined) ? [] : ['error.type is set if, and only if, it failed']),
    ...(failed === (status.code === SpanStatusCode.ERROR) ? [] : ['the status is Error if, and only if, it failed']),
    ...(code !== undefined && failed && error !== String(code) ? ['error.type is the status code'] : []),
    ...(resends === undefined || resends >= 1 ? [] : ['resend_count is left out at the first']),
    ...(url.username || url.password ? ['url.full has credentials'] : []),
  ];
}

/** Names of attributes that are neither in the stable conventions nor oncefetch's own. */
export const strangers = (attributes: Readonly<Record<string, AttributeValue | undefined>>): string[] =>
  Object.keys(attributes).filter((name) => !STABLE.has(name) && !OWN.has(name));

/** https://opentelemetry.io/docs/specs/semconv/general/naming/ */
const NAME = /^[a-z][a-z0-9]*([._][a-z0-9]+)*$/;

/** How names break the conventions: a name must not also be a namespace of another name. */
export const breachesOfNames = (names: readonly string[]): string[] => [
  ...names.filter((name) => !NAME.test(name)).map((name) => `${name} is no name`),
  ...names.flatMap((name) => names.filter((other) => other.startsWith(`${name}.`)).map((other) => `${name} is the namespace of ${other}`)),
];

/**
 * How a metric breaks https://opentelemetry.io/docs/specs/semconv/general/metrics/: units are UCUM, with counted things in braces, and no
 * name contains a unit.
 */
export const breachesOfMetric = ({ descriptor: { name, unit } }: MetricData): string[] => [
  ...(/^(s|By|1|\{[a-z]+\})$/.test(unit) ? [] : [`${name} has the unit ${JSON.stringify(unit)}`]),
  ...(/(_total|_seconds|_ms|\.total)$/.test(name) ? [`${name} has its unit or total in the name`] : []),
];
