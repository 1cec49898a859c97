/** What the caller's `verdict` hook said, as a reading. */
import type { Reading } from '../core/dialect.js';
import { NOT_A_VERDICT, READING_OF_VERDICT, type Verdict } from '../core/verdict.js';
import { isSamePerson } from '../engine/address.js';
import type { OperationRun } from '../engine/client.js';

/** "Nothing took effect" is not believed once the user has logged out: the hook, or the server that it asked, may speak of the next user's operation. */
export function hookReading({ client, namespace }: OperationRun, said: Verdict): Reading {
  const reading = READING_OF_VERDICT[said] ?? NOT_A_VERDICT;
  return /^(refused|not-sent)$/.test(reading.kind) && !isSamePerson(client, namespace) ? NOT_A_VERDICT : reading;
}
