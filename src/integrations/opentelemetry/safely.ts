import { diag } from '@opentelemetry/api';

/**
 * Does what only telemetry needs. What that throws (an exporter, a span processor of the app) must not change what becomes of a
 * payment: it goes to OpenTelemetry's own log.
 */
export function safely<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    diag.error('oncefetch: telemetry failed', error);
    return undefined;
  }
}
