/** Other HTTP clients, each set up as docs/clients.md says. Each one pays for a cart and returns what the client returns. */
import { ApolloClient, gql as apolloGql, HttpLink, InMemoryCache } from '@apollo/client';
import { createClient as createSupabase } from '@supabase/supabase-js';
import { MutationObserver, QueryClient } from '@tanstack/query-core';
import { createTRPCUntypedClient, httpLink } from '@trpc/client';
import { fetchExchange, Client as UrqlClient, gql as urqlGql } from '@urql/core';
import axios from 'axios';
import { GraphQLClient, gql } from 'graphql-request';
import ky from 'ky';
import { createFetch } from 'ofetch';
import createOpenApi from 'openapi-fetch';
import Stripe from 'stripe';
import { fetch as undiciFetch, request as undiciRequest } from 'undici';
import { stripeVerdict } from '../../../src/entries/dialects.js';
import { type Once, type OnceInit, type OnceOptions, type OperationName, run } from '../../../src/entries/index.js';
import { withOnce } from '../../../src/integrations/ky.js';

export interface Order {
  readonly cart: string;
  readonly card: string;
}

export interface Paying {
  readonly once: Once;
  readonly origin: string;
  readonly order: Order;
  readonly name: OperationName;
}

export interface ClientCase {
  readonly client: string;
  /** How a call gets its name or its key. */
  readonly name: 'option' | 'operation()' | 'its own key' | 'run';
  /** Options of oncefetch, for clients that cannot pass `once` on to `fetch`. */
  readonly options?: OnceOptions;
  /** Resolves with what the client returns, and rejects with what it throws. */
  pay(paying: Paying): Promise<unknown>;
  /** The id of the charge in what the client returned. `undefined` if the client returned an error instead of throwing it. */
  charge(given: unknown): string | undefined;
}

const field = (...path: readonly string[]) => {
  return (given: unknown): string | undefined =>
    path.reduce<unknown>((at, name) => (at as Record<string, unknown> | null | undefined)?.[name], given) as string;
};
const byVariables: OnceOptions = { operation: ({ json }) => ['pay', (json as { variables: Order }).variables.cart] };
const byCart: OnceOptions = { operation: ({ json }) => ['pay', (json as Order).cart] };
const asFetch = (once: Once): typeof fetch => once.fetch as typeof fetch;

const PAY = 'mutation Pay($cart: String!, $card: String!) { pay(cart: $cart, card: $card) { id } }';

export const clients: readonly ClientCase[] = [
  {
    client: 'ky',
    name: 'option',
    pay: ({ once, origin, order, name }) => withOnce(ky, once).post(`${origin}/pay`, { json: order, once: name }),
    charge: (given) => ((given as Response).ok ? 'ch_1' : undefined),
  },
  {
    client: 'ky `.json()`',
    name: 'option',
    pay: ({ once, origin, order, name }) => withOnce(ky, once).post(`${origin}/pay`, { json: order, once: name }).json(),
    charge: field('id'),
  },
  {
    client: 'axios',
    name: 'option',
    pay: ({ once, origin, order, name }) =>
      axios.create({ adapter: 'fetch', env: { fetch: asFetch(once) } }).post(`${origin}/pay`, order, { fetchOptions: { once: name } }),
    charge: field('data', 'id'),
  },
  {
    client: 'openapi-fetch',
    name: 'option',
    pay({ once, origin, order, name }) {
      interface Paths {
        '/pay': { post: { requestBody: { content: { 'application/json': Order } }; responses: { 201: { content: { 'application/json': { id: string } } } } } };
      }
      const fetch = (request: Request & { once?: OnceInit }) => once.fetch(request, { once: request.once });
      const init = { body: order, once: name };
      return createOpenApi<Paths>({ baseUrl: origin, fetch }).POST('/pay', init as { body: Order });
    },
    charge: field('data', 'id'),
  },
  {
    client: 'ofetch',
    name: 'option',
    pay: ({ once, origin, order, name }) =>
      createFetch({ fetch: asFetch(once) })(`${origin}/pay`, { method: 'POST', body: { ...order }, retry: 0, ...{ once: name } }),
    charge: field('id'),
  },
  {
    client: '`ofetch.raw`',
    name: 'option',
    pay: ({ once, origin, order, name }) =>
      createFetch({ fetch: asFetch(once) }).raw(`${origin}/pay`, { method: 'POST', body: { ...order }, retry: 0, ...{ once: name } }),
    charge: field('_data', 'id'),
  },
  {
    client: 'tRPC',
    name: 'operation()',
    options: byCart,
    pay: ({ once, origin, order }) =>
      createTRPCUntypedClient({ links: [httpLink({ url: `${origin}/trpc`, fetch: once.fetch as never })] }).mutation('pay', order),
    charge: field('id'),
  },
  {
    client: 'graphql-request',
    name: 'operation()',
    options: byVariables,
    pay: ({ once, origin, order }) => new GraphQLClient(`${origin}/graphql`, { fetch: asFetch(once) }).request(gql`${PAY}`, { ...order }),
    charge: field('pay', 'id'),
  },
  {
    client: 'Apollo',
    name: 'option',
    pay: ({ once, origin, order, name }) =>
      new ApolloClient({ link: new HttpLink({ uri: `${origin}/graphql`, fetch: asFetch(once) }), cache: new InMemoryCache() }).mutate({
        mutation: apolloGql(PAY),
        variables: order,
        context: { fetchOptions: { once: name } },
      }),
    charge: field('data', 'pay', 'id'),
  },
  {
    client: 'urql',
    name: 'option',
    pay: ({ once, origin, order, name }) =>
      new UrqlClient({ url: `${origin}/graphql`, fetch: asFetch(once), exchanges: [fetchExchange], preferGetMethod: false })
        .mutation(urqlGql(PAY), { ...order }, { fetchOptions: { once: name } as RequestInit })
        .toPromise(),
    charge: field('data', 'pay', 'id'),
  },
  {
    client: 'supabase-js `from().insert()`',
    name: 'operation()',
    options: byCart,
    pay: async ({ once, origin, order }) => {
      const auth = { persistSession: false, autoRefreshToken: false };
      return await createSupabase(origin, 'key', { auth, global: { fetch: asFetch(once) } })
        .from('payments')
        .insert(order)
        .select();
    },
    charge: field('data', 'id'),
  },
  {
    client: 'supabase-js `functions.invoke()`',
    name: 'operation()',
    options: byCart,
    pay: ({ once, origin, order }) => {
      const auth = { persistSession: false, autoRefreshToken: false };
      return createSupabase(origin, 'key', { auth, global: { fetch: asFetch(once) } }).functions.invoke('pay', { body: order });
    },
    charge: field('data', 'id'),
  },
  {
    client: 'stripe-node',
    name: 'its own key',
    pay({ once, origin, order }) {
      const { hostname, port } = new URL(origin);
      const httpClient = Stripe.createFetchHttpClient(once.fetch as never);
      const stripe = new Stripe('sk_test_1', { httpClient, host: hostname, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false });
      return stripe.paymentIntents.create({ amount: 4200, currency: 'eur' }, { idempotencyKey: `${order.card}-${order.cart}` });
    },
    charge: field('id'),
  },
  {
    client: 'stripe-node in `run`',
    name: 'run',
    pay({ once, origin, name, order }) {
      const { hostname, port } = new URL(origin);
      const httpClient = Stripe.createFetchHttpClient();
      const stripe = new Stripe('sk_test_1', { httpClient, host: hostname, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false, timeout: 500 });
      const create = ({ key }: { key: string }) => stripe.paymentIntents.create({ amount: 4200, currency: 'eur' }, { idempotencyKey: `${order.card}-${key}` });
      return run(once, name, create, { verdict: stripeVerdict });
    },
    charge: field('id'),
  },
  {
    client: "undici's fetch beneath",
    name: 'option',
    options: { fetch: undiciFetch as unknown as typeof fetch },
    pay: async ({ once, origin, order, name }) => once.fetch(`${origin}/pay`, { method: 'POST', body: JSON.stringify(order), once: name }),
    charge: (given) => ((given as Response).ok ? 'ch_1' : undefined),
  },
  {
    client: '`undici.request` in `run`',
    name: 'run',
    pay: ({ once, origin, order, name }) =>
      run(
        once,
        name,
        async ({ key, signal }) => {
          const headers = { 'content-type': 'application/json', 'idempotency-key': key };
          const { statusCode, body } = await undiciRequest(`${origin}/pay`, { method: 'POST', headers, body: JSON.stringify(order), signal });
          const answer = (await body.json()) as { id?: string };
          if (statusCode >= 400) throw Object.assign(new Error(`payment: ${statusCode}`), { statusCode });
          return answer;
        },
        { verdict: (end) => ('error' in end && (end.error as { statusCode?: number }).statusCode === 402 ? 'rejected' : undefined) },
      ),
    charge: field('id'),
  },
  {
    client: 'TanStack Query mutation',
    name: 'option',
    pay: ({ once, origin, order, name }) =>
      new MutationObserver(new QueryClient(), {
        mutationFn: async (variables: Order) => {
          const response = await once.fetch(`${origin}/pay`, { method: 'POST', body: JSON.stringify(variables), once: name });
          if (!response.ok) throw new Error(`payment: ${response.status}`, { cause: response });
          return (await response.json()) as { id: string };
        },
      }).mutate(order),
    charge: field('id'),
  },
];
