/** How the probe asks the server of each scheme: as a client of that scheme would. */
import { createHmac } from 'node:crypto';
import type { ProbeRequest } from '../../../src/probe/request.js';
import { SECRET } from '../webhook-events.js';

export interface Asks {
  /** Path of the endpoint to which every request goes. */
  readonly path: (request: ProbeRequest) => string;
  readonly headers?: (request: ProbeRequest, body: string) => Readonly<Record<string, string>>;
  readonly method?: 'PUT';
  readonly body?: (request: ProbeRequest) => Readonly<Record<string, unknown>>;
  /** Makes the request that each operation needs first, and resolves to the token that it got. */
  readonly prepare?: (api: string, request: ProbeRequest) => Promise<string>;
}

const amountOf = ({ payload }: ProbeRequest): number => (payload === 'changed' ? 200 : 100);
const order = (request: ProbeRequest) => ({ order: request.operation, amount: amountOf(request) });
const inHeader = (name: string): Asks => ({ path: () => '/payments', headers: ({ key }) => ({ [name]: key }), body: order });
const payOrder: Asks = { path: ({ operation }) => `/orders/${operation}/pay` };

const signed = (id: string, body: string): Record<string, string> => {
  const time = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', Buffer.from(SECRET, 'base64')).update(`${id}.${time}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(time), 'webhook-signature': `v1,${signature}` };
};

const tokens = new Map<string, string>();
async function tokenFor(api: string, { key }: ProbeRequest): Promise<string> {
  const known = tokens.get(key);
  if (known !== undefined) return known;
  const given = await fetch(`${api}/tokens`, { method: 'POST', body: '{}' });
  const { token } = (await given.json()) as { token: string };
  // Ten copies ask for a token at once, and all of them use the first one that arrives.
  tokens.set(key, tokens.get(key) ?? token);
  return tokens.get(key) ?? token;
}

export const ASKS: Readonly<Record<string, Asks>> = {
  'idempotency-keys': inHeader('idempotency-key'),
  'duplicate-filter': inHeader('x-request-id'),
  'unique-constraint': { path: () => '/payments', body: (request) => ({ orderId: request.operation, amount: amountOf(request) }) },
  'optimistic-version': {
    path: ({ operation }) => `/accounts/${operation}/changes`,
    body: (request) => ({ amount: amountOf(request), version: 1, changeId: request.key }),
  },
  'operation-log': { path: () => '/transfers', body: (request) => ({ ...order(request), transferId: request.key }) },
  'one-time-token': { path: () => '/payments', body: order, prepare: tokenFor },
  'etag-if-match': {
    path: ({ operation }) => `/documents/${operation}`,
    method: 'PUT',
    headers: () => ({ 'if-match': '"1"' }),
    body: (request) => ({ editor: 'till', amount: amountOf(request) }),
  },
  'message-outbox': { path: () => '/messages', body: ({ key, operation }) => ({ messageId: key, order: operation }) },
  'select-then-insert': inHeader('x-request-id'),
  'state-machine': payOrder,
  'dedup-table': inHeader('x-idempotency-key'),
  'pessimistic-lock': payOrder,
  'distributed-lock': payOrder,
  'accepted-status': { path: () => '/exports', headers: ({ key }) => ({ 'idempotency-key': key }), body: (request) => ({ ...order(request), format: 'csv' }) },
  'query-after-timeout': {
    path: () => '/transfers',
    headers: () => ({ 'x-valid-until': String(Date.now() + 60_000) }),
    body: ({ operation }) => ({ reference: operation }),
  },
  'webhook-events': { path: () => '/hooks', headers: ({ key }, body) => signed(key, body), body: order },
  'snowflake-ids': { path: () => '/payments', body: (request) => ({ ...order(request), id: snowflakeOf(request.key) }) },
};

/** A number of at most 63 bits, made from the key. */
const snowflakeOf = (key: string): string => String(BigInt(`0x${key.replaceAll('-', '').slice(0, 15)}`));

/** Sends one request of the probe to the server of a scheme. `direct` is the server's own address, for the request that comes first. */
export async function askAs(asks: Asks, request: ProbeRequest, direct: string): Promise<Response> {
  const api = new URL(request.url).origin;
  const token = await asks.prepare?.(direct, request);
  const body = JSON.stringify({ ...asks.body?.(request), ...(token !== undefined && { token }) });
  return fetch(`${api}${asks.path(request)}`, { method: asks.method ?? 'POST', headers: { ...asks.headers?.(request, body) }, body });
}
