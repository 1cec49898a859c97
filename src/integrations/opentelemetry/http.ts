/** One HTTP request as a CLIENT span: https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span */
import { type Attributes, type Span, SpanStatusCode } from '@opentelemetry/api';
import { HTTP } from './names.js';

/** Methods that the conventions list. Any other is reported as `_OTHER`, so that the number of values stays small. */
const METHODS = ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'];
const REDACTED = 'REDACTED';
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

export const spanNameOf = (method: string): string => (METHODS.includes(method) ? method : 'HTTP');

/** The attributes of a request. `resends`: how often it was sent before. `query`: whether the query may be told. */
export function requestAttributes({ method, url }: { readonly method: string; readonly url: string }, resends: number, query: boolean): Attributes {
  const known = METHODS.includes(method);
  const parsed = new URL(url);
  const { hostname, port, protocol } = parsed;
  // Links for signing in or paying have their secret in the query or in the fragment.
  if (parsed.search && !query) parsed.search = REDACTED;
  parsed.hash = '';
  return {
    [HTTP.method]: known ? method : '_OTHER',
    ...(!known && { [HTTP.originalMethod]: method }),
    [HTTP.serverAddress]: hostname,
    ...((port || PORTS[protocol]) && { [HTTP.serverPort]: Number(port) || PORTS[protocol] }),
    [HTTP.url]: parsed.href,
    ...(resends > 0 && { [HTTP.resendCount]: resends }),
  };
}

/** Sets the status of the answer. By the conventions, a 4xx or 5xx is an error of a CLIENT span. */
export function setAnswer(span: Span, { status }: Response): void {
  // An opaque answer has the status 0.
  if (status > 0) span.setAttribute(HTTP.statusCode, status);
  if (status >= 400) setError(span, String(status));
}

/** Marks a span as failed. `type`: a status, a code, or the name of an error; not its message, which may contain what the app has not listed. */
export function setError(span: Span, type: string): void {
  span.setAttribute(HTTP.errorType, type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The name of an error; `_OTHER` if something else was thrown. */
export const errorTypeOf = (error: unknown): string => (error instanceof Error && error.name) || '_OTHER';
