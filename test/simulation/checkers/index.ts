import type { Checker } from '../facts.js';
import { atMostOne } from './at-most-one.js';
import { nothingLost } from './nothing-lost.js';
import { oneKey } from './one-key.js';
import { outcomeIsTrue } from './outcome-is-true.js';
import { screensAreTrue } from './screens-are-true.js';
import { settlesWhenCalm } from './settles-when-calm.js';
import { storedBeforeSent } from './stored-before-sent.js';

/** The seven promises, in the order in which docs/simulation.md lists them. */
export const checkers: readonly Checker[] = [atMostOne, storedBeforeSent, oneKey, outcomeIsTrue, nothingLost, settlesWhenCalm, screensAreTrue];
