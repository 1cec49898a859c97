/**
 * OpenTelemetry of one process, by its own SDK, instrumentation and exporters. Spans leave by OTLP as soon as they end, so that a
 * process that is killed has told all but its last ones. Metrics wait on a port for Prometheus.
 */
import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Feature } from 'oncefetch';
import { openTelemetry } from 'oncefetch/opentelemetry';

/** Where telemetry goes. */
export interface Telemetry {
  /** What a client is given in `use`: one for all clients of the process. */
  readonly feature: Feature;
  /** Sends what is left. */
  flush(): Promise<void>;
}

/** @param spans OTLP over HTTP: `http://127.0.0.1:4318/v1/traces` */
export function startTelemetry(service: string, spans: string, metricsPort: number): Telemetry {
  const resource = resourceFromAttributes({ 'service.name': service });
  const tracerProvider = new TracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor({ exporter: new OTLPTraceExporter({ url: spans }) })] });
  const meterProvider = new MeterProvider({ resource, readers: [new PrometheusExporter({ host: '127.0.0.1', port: metricsPort })] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(tracerProvider);
  // Node's fetch. Without a parent it is a look into the queue, of which there are many.
  registerInstrumentations({ tracerProvider, instrumentations: [new UndiciInstrumentation({ requireParentforSpans: true })] });
  const feature = openTelemetry({ tracerProvider, meterProvider, attributes: ['oncefetch.operation.name'] });
  return { feature, flush: () => tracerProvider.forceFlush() };
}

/** Goes on with the trace of whoever asks. */
export const within = <T>(headers: object, work: () => T): T => context.with(propagation.extract(ROOT_CONTEXT, headers), work);
