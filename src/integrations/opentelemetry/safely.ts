import { diag } from '@opentelemetry/api';

/**
 * Does work that only telemetry needs. If that throws (an exporter, a span processor of the app), it must not change what becomes of
 * the operation: the error goes to OpenTelemetry's own log.
 */
export function safely<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    diag.error('oncefetch: telemetry failed', error);
    return undefined;
  }
}
