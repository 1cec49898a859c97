/** Turns what the app's `verdict` hook said into a reading. */
import type { Answer, Reading } from '../core/dialect.js';
import { typeOf } from '../core/name.js';
import { NOT_A_VERDICT } from '../core/verdict.js';
import { READING_OF_VERDICT, type Verdict } from '../core/verdict-words.js';
import { isSamePerson } from '../engine/address.js';
import type { AttemptRequest, OperationRun } from '../engine/client.js';
import { guarded } from '../engine/observe.js';
import { wrong } from '../texts/full.js';

/**
 * The reading for what the hook `verdict` said. If the user has left, a verdict that nothing took effect does not count, because it may be
 * about the next user's operation. The hook says what a refusal means, but only the server's `answer` can say whether it is a repetition.
 */
export function hookReading(job: OperationRun, said: Verdict, answer?: Answer): Reading {
  const { client, settings } = job;
  const reading = READING_OF_VERDICT[said] ?? NOT_A_VERDICT;
  // Report what is not a verdict: `status === 402 && 'rejected'` gives `false` for other answers, and an async hook gives a promise. The outcome is unknown.
  if (reading === NOT_A_VERDICT)
    client.platform.report(new TypeError(wrong('verdict', 'verdict', typeof said === 'string' ? JSON.stringify(said) : typeOf(said))));
  if (/^(refused|not-sent)$/.test(reading.kind) && !isSamePerson(job)) return NOT_A_VERDICT;
  return reading.kind === 'refused' && answer ? { ...reading, replayed: settings.dialect.replayed(answer) } : reading;
}

/** What the app's `verdict` hook says of an answer; `undefined` if there is none, or if it leaves the answer to the built-in rules. */
export function askVerdict({ headers }: Response, answer: Answer, { job, number: attempt, ambiguous }: AttemptRequest, polled: boolean): Reading | undefined {
  const { status, json } = answer;
  // If the hook throws, nothing is known of what the answer means.
  let reading: Reading | undefined = NOT_A_VERDICT;
  guarded(job.client, () => {
    const said = job.settings.verdict?.({ attempt, ambiguous, polled, status, headers, json });
    reading = said === undefined ? undefined : hookReading(job, said, answer);
    return said;
  });
  return reading;
}
