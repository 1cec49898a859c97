import type { Scenario } from '../scenario.js';
import { attacks } from './attacks.js';
import { moreAttacks } from './attacks-more.js';
import { killedAt } from './killed-at.js';
import * as storms from './storms.js';

/** Drawn from the seed. */
export const drawn: readonly Scenario[] = Object.values(storms);
/** Deterministic, but for the milliseconds of ports and backoff. */
export const sequences: readonly Scenario[] = [...attacks, ...moreAttacks];
export const scenarios: readonly Scenario[] = [...drawn, ...sequences, ...killedAt];
