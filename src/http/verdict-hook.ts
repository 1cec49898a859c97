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
 * If the user has left, a verdict that nothing took effect does not count, because it may be about the next user's operation. The hook
 * says what a refusal means; whether it is a repetition, only the server's `answer` can say.
 */
export function hookReading({ client, namespace, settings }: OperationRun, said: Verdict, answer?: Answer): Reading {
  const reading = READING_OF_VERDICT[said] ?? NOT_A_VERDICT;
  // Report what is no verdict: `status === 402 && 'rejected'` gives `false` for other answers, an async hook a promise, and the outcome is unknown.
  if (reading === NOT_A_VERDICT)
    client.platform.report(new TypeError(wrong('verdict', 'verdict', typeof said === 'string' ? JSON.stringify(said) : typeOf(said))));
  if (/^(refused|not-sent)$/.test(reading.kind) && !isSamePerson(client, namespace)) return NOT_A_VERDICT;
  return reading.kind === 'refused' && answer ? { ...reading, replayed: settings.dialect.replayed(answer) } : reading;
}

/** What the app's `verdict` hook says of an answer; `undefined` if there is none, or if it leaves the answer to the built-in rules. */
export function hookSays({ headers }: Response, answer: Answer, { job, number: attempt, ambiguous }: AttemptRequest, polled: boolean): Reading | undefined {
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
