/** A shop over real HTTP for other people's clients: it charges, honours keys, and meets faults on the wire. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type IdempotentServer, idempotentServer } from '../../../src/testing/idempotent-server.js';

export interface Shop {
  readonly origin: string;
  readonly server: IdempotentServer;
  close(): Promise<void>;
}

/** A charge, in the words of each kind of server. */
const ANSWERS: Readonly<Record<string, (id: string) => unknown>> = {
  graphql: (id) => ({ data: { pay: { id } } }),
  trpc: (id) => ({ result: { data: { id } } }),
};

export async function openShop(): Promise<Shop> {
  let kind = '';
  const server: IdempotentServer = idempotentServer({
    url: '/*',
    retryAfter: 0,
    refuse: (body, key) =>
      /declined/.test(`${JSON.stringify(body)}${key}`) ? Response.json({ code: 'card_declined', message: 'declined' }, { status: 402 }) : undefined,
    effect: () => (ANSWERS[kind] ?? ((id: string) => ({ id })))(`ch_${server.effects.length + 1}`),
  });
  const http = createServer((request, response) => {
    kind = request.url?.split('/')[1] ?? '';
    void answer(request, response, server);
  });
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  return {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    server,
    close: () =>
      new Promise((closed) => {
        server.reset();
        http.close(() => closed());
        http.closeAllConnections();
      }),
  };
}

/** A refusal in Stripe's words: its library takes any other for a success. */
const asStripe = (status: number): string =>
  JSON.stringify({ error: status === 409 ? { type: 'idempotency_error', code: 'idempotency_key_in_use' } : { type: 'card_error', code: 'card_declined' } });

async function answer(from: IncomingMessage, to: ServerResponse, server: IdempotentServer): Promise<void> {
  const { method = 'GET', url = '/', headers } = from;
  const gone = new AbortController();
  to.once('close', () => gone.abort());
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of from) chunks.push(chunk as Buffer);
    const told = await server.fetch(`http://shop.example${url}`, {
      method,
      headers: headers as Record<string, string>,
      body: Buffer.concat(chunks),
      signal: gone.signal,
    });
    // GraphQL and tRPC take nothing but a 200 for an answer.
    const { 'content-length': _, ...kept } = Object.fromEntries(told.headers);
    to.writeHead(told.status === 201 ? 200 : told.status, kept);
    const text = await told.text();
    to.end(told.ok || !url.startsWith('/v1/') ? text : asStripe(told.status));
  } catch {
    // Lost, cut or given up: on the wire that is a broken connection.
    to.destroy();
  }
}
