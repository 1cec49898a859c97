/** Turns what the app's `verdict` hook said into a reading. */
import type { Reading } from '../core/dialect.js';
import { NOT_A_VERDICT, READING_OF_VERDICT, type Verdict } from '../core/verdict.js';
import { isSamePerson } from '../engine/address.js';
import type { OperationRun } from '../engine/client.js';

/** If the user has left, a verdict that nothing took effect does not count, because it may be about the next user's operation. */
export function hookReading({ client, namespace }: OperationRun, said: Verdict): Reading {
  const reading = READING_OF_VERDICT[said] ?? NOT_A_VERDICT;
  return /^(refused|not-sent)$/.test(reading.kind) && !isSamePerson(client, namespace) ? NOT_A_VERDICT : reading;
}
