/** A page whose browser has no room left. */
import * as oncefetch from 'oncefetch';
import { faultyStore } from 'oncefetch/testing';
import { show } from '../support/stage.js';

const store = faultyStore({ ...oncefetch.memoryStore(), survives: 'process' });
store.faults.rate('full', 1);
export const once = oncefetch.createOnce({ namespace: 'u-7', store });
export { show };
