/** Goal: Stripe is spoken as documented. Method: `support/suite.ts`, and what is Stripe's own. */
import { speaksAndReads } from './support/suite.js';

speaksAndReads('stripe');
speaksAndReads('stripeV2');
