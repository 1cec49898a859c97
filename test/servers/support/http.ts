/** The small part of HTTP that the servers need. Node runs these files without a build, in processes that the tests can kill. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request, and the moments at which its server may die. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly json: Readonly<Record<string, string>>;
  /** Work that takes time, such as a call of a bank or of another service. */
  work(): Promise<void>;
  /** Called when the effect is written, but not committed. */
  beforeCommit(): void;
  /** Called when the effect is committed, but not answered. */
  afterCommit(): void;
}

export type Handler = (call: Call) => Answer | Promise<Answer>;

export const answer = (status: number, body?: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({ status, body, headers });

export const NOT_FOUND = answer(404, { title: 'Not found' });

export async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

export function send(response: ServerResponse, { status, body, headers }: Answer): void {
  const text = body === undefined ? '' : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers, 'content-length': Buffer.byteLength(text) }).end(text);
}
