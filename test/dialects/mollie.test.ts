/** Goal: mollie is spoken as documented. Method: `support/suite.ts`. */
import { speaksAndReads } from './support/suite.js';

speaksAndReads('mollie');
