/** The package's own dialects, with the code that makes each. */
import { adyen } from '../dialects/adyen.js';
import { aws } from '../dialects/aws.js';
import { braintree } from '../dialects/braintree.js';
import { checkout } from '../dialects/checkout.js';
import type { DefinedDialect } from '../dialects/define.js';
import { dwolla } from '../dialects/dwolla.js';
import { gocardless } from '../dialects/gocardless.js';
import { googleRequestId } from '../dialects/google-request-id.js';
import { ietf } from '../dialects/ietf.js';
import { increase } from '../dialects/increase.js';
import { klarna } from '../dialects/klarna.js';
import { mangopay } from '../dialects/mangopay.js';
import { mollie } from '../dialects/mollie.js';
import { paypal } from '../dialects/paypal.js';
import { razorpay } from '../dialects/razorpay.js';
import { repeatableRequests } from '../dialects/repeatable-requests.js';
import { resend } from '../dialects/resend.js';
import { shopify } from '../dialects/shopify.js';
import { square } from '../dialects/square.js';
import { stripe, stripeV2 } from '../dialects/stripe.js';
import { telnyx } from '../dialects/telnyx.js';
import { truelayer } from '../dialects/truelayer.js';
import { worldline } from '../dialects/worldline.js';

const named = (dialect: DefinedDialect, code: string): { readonly dialect: DefinedDialect; readonly code: string } => ({ dialect, code });

export const NAMED = [
  named(stripe(), 'stripe()'),
  named(stripeV2(), 'stripeV2()'),
  named(paypal(), 'paypal()'),
  named(braintree(), 'braintree()'),
  named(adyen(), 'adyen()'),
  named(checkout(), 'checkout()'),
  named(dwolla(), 'dwolla()'),
  named(klarna(), 'klarna()'),
  named(worldline(), 'worldline()'),
  named(gocardless(), 'gocardless()'),
  named(increase(), 'increase()'),
  named(mangopay(), 'mangopay()'),
  named(mollie(), 'mollie()'),
  named(razorpay({ makes: 'payout' }), `razorpay({ makes: 'payout' })`),
  named(razorpay({ makes: 'refund' }), `razorpay({ makes: 'refund' })`),
  named(razorpay({ makes: 'transfer' }), `razorpay({ makes: 'transfer' })`),
  named(truelayer(), 'truelayer()'),
  named(square(), 'square()'),
  named(shopify(), 'shopify()'),
  named(repeatableRequests(), 'repeatableRequests()'),
  named(aws(), 'aws()'),
  named(aws({ goes: 'query' }), `aws({ goes: 'query' })`),
  named(googleRequestId(), 'googleRequestId()'),
  named(resend(), 'resend()'),
  named(telnyx(), 'telnyx()'),
  named(ietf(), 'ietf()'),
] as const;
