/** One HTTP request as a CLIENT span: https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span */
import { type Attributes, type Span, SpanStatusCode } from '@opentelemetry/api';
import { HTTP } from './names.js';

/** Methods that the conventions know; any other is `_OTHER`, so that nobody can fill a dashboard with methods. */
const METHODS = ['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'QUERY', 'TRACE'];
const REDACTED = 'REDACTED';
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

export const spanNameOf = (method: string): string => (METHODS.includes(method) ? method : 'HTTP');

/** `resends`: how often this request was sent before. `query`: the query may be told. */
export function requestAttributes({ method, url }: { readonly method: string; readonly url: string }, resends: number, query: boolean): Attributes {
  const known = METHODS.includes(method);
  const parsed = new URL(url);
  const { hostname, port, protocol } = parsed;
  // Whoever may sign in or pay with a link has that in its query or its fragment.
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

/** A 4xx or 5xx is an error of a client's span. */
export function setAnswer(span: Span, { status }: Response): void {
  // An opaque answer has no status to tell.
  if (status > 0) span.setAttribute(HTTP.statusCode, status);
  if (status >= 400) setError(span, String(status));
}

/** `type`: a status, a code, or the name of an error. Its message may hold what nobody listed, so it is left out. */
export function setError(span: Span, type: string): void {
  span.setAttribute(HTTP.errorType, type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The name of what was thrown, whatever it is. */
export const errorTypeOf = (error: unknown): string => (error instanceof Error && error.name) || '_OTHER';
