/** A shop over real HTTP for other HTTP clients: it charges, honours keys, and plays faults on the wire. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type IdempotentServer, idempotentServer } from '../../../src/testing/idempotent-server.js';
import { type Relayed, relay } from '../../support/relay.js';

export interface Shop extends Relayed {
  readonly server: IdempotentServer;
}

/** The body of a charge, in the format of each kind of server. */
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
  const serve = (url: string, init: RequestInit): Promise<Response> => {
    kind = new URL(url).pathname.split('/')[1] ?? '';
    return server.fetch(url, init);
  };
  const relayed = await relay(serve, send);
  return {
    ...relayed,
    server,
    close: () => {
      server.reset();
      return relayed.close();
    },
  };
}

/** A refusal in Stripe's format, because Stripe's library takes any other body for a success. */
const asStripe = (status: number): string =>
  JSON.stringify({ error: status === 409 ? { type: 'idempotency_error', code: 'idempotency_key_in_use' } : { type: 'card_error', code: 'card_declined' } });

async function send(to: ServerResponse, told: Response, { url = '' }: IncomingMessage): Promise<void> {
  // GraphQL and tRPC clients accept only a 200.
  const { 'content-length': _, ...kept } = Object.fromEntries(told.headers);
  to.writeHead(told.status === 201 ? 200 : told.status, kept);
  const text = await told.text();
  to.end(told.ok || !url.startsWith('/v1/') ? text : asStripe(told.status));
}
