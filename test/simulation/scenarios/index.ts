import type { Scenario } from '../scenario.js';
import { checkout } from './checkout.js';

export const scenarios: readonly Scenario[] = [checkout];
