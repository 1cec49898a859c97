/** Every dialect there is, with a request that can carry its key. */
import type { Dialect } from '../../../src/core/dialect.js';
import * as entry from '../../../src/entries/dialects.js';

export interface Sample {
  readonly dialect: Dialect;
  readonly body: string;
  /** Another payload of the same operation. */
  readonly other: string;
  /** The same fixtures may serve several dialects of one family. */
  readonly fixtures: string;
}

const JSON_BODY = { body: '{"amount":10}', other: '{"amount":20}' };
const REFUND = 'mutation refund($input: RefundInput!) { refundCreate(input: $input) { refund { id } userErrors { code message } } }';
const graphql = (amount: number): string => JSON.stringify({ query: REFUND, variables: { input: { amount } } });
const GRAPHQL = { body: graphql(10), other: graphql(20) };

const sample = (dialect: Dialect, more: Partial<Sample> = {}): Sample => ({ dialect, fixtures: dialect.name, ...JSON_BODY, ...more });

export const samples: Readonly<Record<string, Sample>> = {
  generic: sample(entry.generic()),
  ietf: sample(entry.ietf()),
  stripe: sample(entry.stripe()),
  stripeV2: sample(entry.stripeV2()),
  paypal: sample(entry.paypal()),
  adyen: sample(entry.adyen()),
  repeatableRequests: sample(entry.repeatableRequests()),
  'repeatableRequests, refusals kept': sample(entry.repeatableRequests({ keepsRefusals: true })),
  gocardless: sample(entry.gocardless()),
  increase: sample(entry.increase()),
  mangopay: sample(entry.mangopay()),
  mollie: sample(entry.mollie()),
  checkout: sample(entry.checkout()),
  dwolla: sample(entry.dwolla()),
  razorpay: sample(entry.razorpay({ makes: 'payout' })),
  resend: sample(entry.resend()),
  square: sample(entry.square()),
  aws: sample(entry.aws()),
  'aws, in a form': sample(entry.aws({ token: 'ClientToken' }), { body: 'Action=RunInstances&MaxCount=1', other: 'Action=RunInstances&MaxCount=2' }),
  'aws, in the query': sample(entry.aws({ goes: 'query' })),
  googleRequestId: sample(entry.googleRequestId()),
  shopify: sample(entry.shopify(), GRAPHQL),
  'shopify, in an argument': sample(entry.shopify({ field: 'variables.input.idempotencyKey' }), GRAPHQL),
  braintree: sample(entry.braintree(), GRAPHQL),
  telnyx: sample(entry.telnyx()),
  truelayer: sample(entry.truelayer()),
  klarna: sample(entry.klarna()),
  worldline: sample(entry.worldline()),
};

/** What the entry exports besides dialects. */
const HELPERS = ['defineDialect', 'inBody', 'inDirective', 'inHeader', 'inQuery', 'stripeVerdict'];
export const factories: readonly string[] = Object.keys(entry).filter((name) => !HELPERS.includes(name));
