/** The app's functions that take part in calls. Types only. */

import type { Begun } from '../core/claimant.js';
import type { Answer, Reading } from '../core/dialect.js';
import type { Settings } from '../options.js';
import type { ReplayableRequest } from './request.js';

export interface Hooks<Attempt, Run> {
  /** The request with the headers of the hook `headers`, and with its key; `undefined` if it has no place for the key. */
  headers(prepared: ReplayableRequest, attempt: Attempt): Promise<ReplayableRequest | undefined>;
  /** What the hook `verdict` says of an answer; `undefined` if it leaves the answer to the rules. */
  verdict(response: Response, answer: Answer, attempt: Attempt, polled: boolean): Reading | undefined;
  /** What the hook `fingerprint` says of a body; `undefined` if its bytes count. */
  fingerprint(settings: Settings, prepared: ReplayableRequest, body: string | Uint8Array, json: boolean): Promise<string | undefined>;
  /** Begins the operation, with a key from the key strategy if it needs a new one. */
  key(run: Run): Promise<Begun>;
  /** The settings with the dialect for this request. */
  dialect(settings: Settings, request: { readonly method: string; readonly url: string }): Settings;
}
