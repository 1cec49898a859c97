/** What the caller's `verdict` hook said, as a reading. */
import type { Reading } from '../core/dialect.js';
import { NOT_A_VERDICT, READING_OF_VERDICT, type Verdict } from '../core/verdict.js';
import { isSamePerson } from '../engine/address.js';
import type { OperationRun } from '../engine/client.js';

/** Once the user has logged out, a verdict that nothing took effect does not count: it may be about the next user's operation. */
export function hookReading({ client, namespace }: OperationRun, said: Verdict): Reading {
  const reading = READING_OF_VERDICT[said] ?? NOT_A_VERDICT;
  return /^(refused|not-sent)$/.test(reading.kind) && !isSamePerson(client, namespace) ? NOT_A_VERDICT : reading;
}
