import type { Scenario } from '../scenario.js';
import * as storms from './storms.js';

export const scenarios: readonly Scenario[] = Object.values(storms);
