/** Sends a request as a phone's system does: it follows redirects, and reports errors in the system's words. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';

export type Os = 'ios' | 'android';

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

export interface Head {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly url: string;
  readonly redirected: boolean;
}

export interface Hear {
  head(head: Head): void;
  body(bytes: Buffer): void;
  fail(message: string): void;
}

const MAX_REDIRECTS = 20;
const KEEPS_ITS_BODY = [307, 308];

const WORDS = {
  ios: { refused: 'Could not connect to the server.', lost: 'The network connection was lost.' },
  android: { refused: 'Failed to connect', lost: 'unexpected end of stream' },
};

const pairsOf = (raw: readonly string[]): [string, string][] => raw.flatMap((name, n) => (n % 2 === 0 ? [[name, raw[n + 1] ?? '']] : []));

/** Sends a request. Returns a function that cancels it, after which `hear` is not called again. */
export function send(os: Os, first: Sent, hear: Hear): () => void {
  let over = false;
  let live: ClientRequest | undefined;
  const end = (tell: () => void) => {
    if (over) return;
    over = true;
    tell();
  };
  const fail = (message: string) => end(() => hear.fail(message));
  const receive = (response: IncomingMessage, url: string, redirected: boolean) => {
    const { statusCode = 0, statusMessage = '', rawHeaders } = response;
    if (over) return;
    hear.head({ status: statusCode, statusText: statusMessage, headers: pairsOf(rawHeaders), url, redirected });
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', () => fail(WORDS[os].lost));
    response.on('end', () => end(() => hear.body(Buffer.concat(chunks))));
  };
  const go = ({ method, url, headers, body }: Sent, redirects: number) => {
    const length = body || ['POST', 'PUT', 'PATCH'].includes(method) ? { 'content-length': String(body?.length ?? 0) } : {};
    live = httpRequest(url, { method, headers: { ...headers, ...length } }, (response) => {
      const { statusCode = 0, headers: said } = response;
      if (statusCode < 300 || statusCode > 399 || !said.location || redirects >= MAX_REDIRECTS) return receive(response, url, redirects > 0);
      response.resume();
      const next = { url: new URL(said.location, url).href, headers };
      go(KEEPS_ITS_BODY.includes(statusCode) ? { ...next, method, body } : { ...next, method: 'GET', body: undefined }, redirects + 1);
    });
    live.on('error', (error: NodeJS.ErrnoException) => fail(WORDS[os][error.code === 'ECONNREFUSED' ? 'refused' : 'lost']));
    live.end(body);
  };
  go(first, 0);
  return () => {
    over = true;
    live?.destroy();
  };
}
