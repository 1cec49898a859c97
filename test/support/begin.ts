/** The three rules of `begin` as one, chosen as the engine chooses them. */
import { begin as beginPlain } from '../../src/core/begin.js';
import { beginDerived } from '../../src/core/begin-derived.js';
import { beginResumed } from '../../src/core/begin-resumed.js';
import type { Begun, Claimant } from '../../src/core/claimant.js';

/** `resumeOnly`: the call brings no payload, and only goes on with what is stored. */
export type Call = Claimant & { readonly resumeOnly: boolean };

export const begin = (stored: unknown, call: Call, now: number, storeNow: number): Begun =>
  (call.resumeOnly ? beginResumed : call.keyKind === 'derived' ? beginDerived : beginPlain)(stored, call, now, storeNow);
