/**
 * OpenTelemetry for one process, with its own SDK, instrumentation and exporters. Spans are sent over OTLP as soon as
 * they end, so that a killed process loses only its last spans. Prometheus scrapes the metrics from a port.
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

/** The telemetry of one process. */
export interface Telemetry {
  /** The feature for the option `use` of all clients of the process. */
  readonly feature: Feature;
  /** Sends the remaining spans. */
  flush(): Promise<void>;
}

/** @param spans - OTLP over HTTP: `http://127.0.0.1:4318/v1/traces` */
export function startTelemetry(service: string, spans: string, metricsPort: number): Telemetry {
  const resource = resourceFromAttributes({ 'service.name': service });
  const tracerProvider = new TracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor({ exporter: new OTLPTraceExporter({ url: spans }) })] });
  const meterProvider = new MeterProvider({ resource, readers: [new PrometheusExporter({ host: '127.0.0.1', port: metricsPort })] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(tracerProvider);
  // Instruments Node's fetch. Requests without a parent span are left out: they are polls of the queue, and there are
  // many.
  registerInstrumentations({ tracerProvider, instrumentations: [new UndiciInstrumentation({ requireParentforSpans: true })] });
  const feature = openTelemetry({ tracerProvider, meterProvider, attributes: ['oncefetch.operation.name'] });
  return { feature, flush: () => tracerProvider.forceFlush() };
}

/** Continues the trace of the caller. */
export const within = <T>(headers: object, work: () => T): T => context.with(propagation.extract(ROOT_CONTEXT, headers), work);
