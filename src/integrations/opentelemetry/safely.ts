import { type Context, context, diag } from '@opentelemetry/api';

/**
 * Does work that only telemetry needs. If that throws (an exporter, a span processor of the app), it must not change what becomes of
 * the operation: the error goes to OpenTelemetry's own log.
 */
export function safely<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    // The app's logger may throw, too.
    try {
      diag.error('oncefetch: telemetry failed', error);
    } catch {}
    return undefined;
  }
}

/** Calls `work` in a context. It is called once, whatever the context manager does: it may be a request. */
export function inContext<T>(of: () => Context, work: () => T | PromiseLike<T>): Promise<T> {
  let called: Promise<T> | undefined;
  const callOnce = (): Promise<T> => (called ??= (async () => work())());
  safely(() => context.with(of(), callOnce));
  return callOnce();
}
