/** The proxy between the probe and the server. It runs in this process, and loses answers and resets connections on demand. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** What the proxy does to the next request. */
export type Fate =
  /** When the server has answered, cuts the connection instead of passing the answer on. */
  | { readonly kind: 'cut-answer' }
  /** Resets both connections, `afterMs` after the request has been passed on. */
  | { readonly kind: 'reset'; readonly afterMs: number }
  /** Passes the request on with one more header. */
  | { readonly kind: 'header'; readonly name: string; readonly value: string };

export interface FaultProxy {
  /** The address at the proxy that leads to `url`. */
  through(url: string): string;
  next(fate: Fate): void;
  /** Why the last request could not be passed on, if it could not: `ECONNREFUSED`, or a certificate that is not trusted. */
  failure(): string | undefined;
  /** The address and the body of the last request. */
  sent(): string;
  close(): Promise<void>;
}

export interface Forwarded {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface ForwardedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

// Not imported, because `oncefetch/testing` is bundled for pages, too.
const http = (): typeof import('node:http') => process.getBuiltinModule('node:http');
const https = (): typeof import('node:https') => process.getBuiltinModule('node:https');

async function bytesOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Passes a request on and reads the whole answer. `sent` is called when the request has been sent. */
export function forward(asked: Forwarded, sent?: (socket: Socket | null) => void): Promise<ForwardedAnswer> {
  const { method, url, headers, body } = asked;
  const { request } = url.protocol === 'https:' ? https() : http();
  return new Promise((resolve, reject) => {
    const out = request(url, { method, headers: { ...headers, host: url.host }, agent: false }, (answer) => {
      bytesOf(answer).then((read) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: read }), reject);
    });
    out.on('error', reject);
    out.end(body, () => sent?.(out.socket));
  });
}

async function askedBy(from: IncomingMessage, target: string, fate: Fate | undefined): Promise<Forwarded> {
  const { method = 'GET', url = '/' } = from;
  const more = fate?.kind === 'header' ? { [fate.name]: fate.value } : {};
  return { method, url: new URL(new URL(target).origin + url), headers: { ...from.headers, ...more }, body: await bytesOf(from) };
}

/** The address and the body as plain text, whether the values are in JSON or in a form. */
function plainText({ url, body }: Forwarded): string {
  const text = `${url.search} ${body.toString()}`
    .replaceAll('+', ' ')
    .replace(/\\u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function carry(from: IncomingMessage, to: ServerResponse, asked: Forwarded, fate: Fate | undefined): Promise<void> {
  const reset = (upstream: Socket | null): void => {
    if (fate?.kind !== 'reset') return;
    setTimeout(() => {
      upstream?.resetAndDestroy();
      from.socket.destroy();
    }, fate.afterMs);
  };
  const { status, headers, body } = await forward(asked, reset);
  if (fate?.kind === 'cut-answer') return void from.socket.destroy();
  // Each request has a connection of its own: a reset that comes late, or the end of an idle connection, would meet another request on it.
  to.writeHead(status, { ...headers, connection: 'close' }).end(body);
}

/** Opens a proxy. It passes each request on to the origin that `target` gives at that moment. */
export async function openProxy(target: () => string): Promise<FaultProxy> {
  let fate: Fate | undefined;
  let failure: string | undefined;
  let sent = '';
  const server = http().createServer((from, to) => {
    const met = fate;
    fate = undefined;
    failure = undefined;
    const carried = askedBy(from, target(), met).then((asked) => {
      sent = plainText(asked);
      return carry(from, to, asked, met);
    });
    carried.catch((error: NodeJS.ErrnoException) => {
      failure = error.code ?? error.message;
      from.socket.destroy();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    through(url) {
      const { pathname, search } = new URL(url);
      return `${origin}${pathname}${search}`;
    },
    next: (next) => {
      fate = next;
    },
    failure: () => failure,
    sent: () => sent,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
