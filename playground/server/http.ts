/** The few HTTP functions that the shop needs. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const json = (status: number, value: unknown): Answer => ({ status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) });

/** A problem document (RFC 9457). */
export const problem = (status: number, members: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: JSON.stringify({ status, ...members }),
});

export function send(response: ServerResponse, answer: Answer): void {
  const body = Buffer.from(answer.body);
  // Never cached, because a cached ledger would be wrong.
  response.writeHead(answer.status, { 'cache-control': 'no-store', ...answer.headers, 'content-length': body.length }).end(body);
}

const BODY_BYTES_MAX = 64 * 1024;

/** The whole body as text. Throws a {@link BadRequest} if it is too long. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new BadRequest(`the body is longer than ${BODY_BYTES_MAX} bytes`, 413);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export class BadRequest extends Error {
  readonly status: number;
  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

/** A JSON object, or a {@link BadRequest}. */
export function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadRequest('the body is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BadRequest('the body must be a JSON object');
  return value as Record<string, unknown>;
}

/** A non-empty string of at most 100 characters, or a {@link BadRequest} that names the field. */
export function text(value: unknown, field: string): string {
  if (typeof value !== 'string' || value === '' || value.length > 100) throw new BadRequest(`${field} must be a string of 1 to 100 characters`);
  return value;
}

/** A number within bounds, or a {@link BadRequest} that names the field. */
export function number(value: unknown, field: string, min: number, max: number): number {
  if (typeof value !== 'number' || !(value >= min && value <= max)) throw new BadRequest(`${field} must be a number from ${min} to ${max}`);
  return value;
}
