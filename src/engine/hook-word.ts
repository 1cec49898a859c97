/** What the caller's `verdict` hook said, as a reading. */
import type { Reading } from '../core/dialect.js';
import { HOOKED, NOT_A_VERDICT, type Verdict } from '../core/verdict.js';
import type { Job } from './client.js';
import { isSamePerson } from './place.js';

/** "Nothing took effect" is not believed once the user has logged out: the hook, or the server that it asked, may speak of the next user's operation. */
export function hookReading({ client, namespace }: Job, said: Verdict): Reading {
  const reading = HOOKED[said] ?? NOT_A_VERDICT;
  return /^(refused|not-sent)$/.test(reading.kind) && !isSamePerson(client, namespace) ? NOT_A_VERDICT : reading;
}
