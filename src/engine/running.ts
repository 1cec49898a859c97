/** A payload that is a function: a provider's SDK, a message handler. */
import { childKey } from '../core/derived.js';
import type { Reading } from '../core/dialect.js';
import type { StoredAnswer } from '../core/record.js';
import { HOOKED, NO_ANSWER, NOT_A_VERDICT, NOT_SENT, type Verdict } from '../core/verdict.js';
import type { RunEnd } from '../option-types.js';
import type { Job } from './client.js';
import type { Attempting, Payload, Result, Sent } from './payload.js';
import { isSamePerson } from './place.js';
import { limit } from './wait.js';

/** What an effect gets. */
export interface Attempt {
  /** Pass it on, or write it in the effect's own transaction: after a crash the effect runs again with the same one. */
  readonly key: string;
  readonly attempt: number;
  readonly resumed: boolean;
  /** An earlier attempt may have had the effect. */
  readonly ambiguous: boolean;
  readonly signal: AbortSignal;
  /** A stable key for a call that this effect makes: the same label gives the same key. */
  child(label: string): string;
}

export const running = (effect: (attempt: Attempt) => unknown, verdict: ((end: RunEnd<never>) => Verdict | undefined) | undefined): Payload => ({
  origin: '',
  storable: () => undefined,
  send: (a) => run(effect, verdict, a),
});

export const valueResult = (value: unknown): Result => ({
  value,
  response: undefined,
  ok: true,
  lasting: true,
  copy: () => value,
  stored: () => atRest(value),
});

function atRest(value: unknown): StoredAnswer | undefined {
  try {
    return { json: JSON.stringify(value) };
  } catch {
    return undefined;
  }
}

async function run(effect: (attempt: Attempt) => unknown, verdict: ((end: RunEnd<never>) => Verdict | undefined) | undefined, a: Attempting): Promise<Sent> {
  if (!a.leaves()) return { reading: NOT_SENT, reached: false };
  const { clock } = a.job.client.platform;
  const controller = new AbortController();
  const { over, off } = limit(clock, a.ms, [a.job.stop]);
  const late = over.then((): undefined => {
    controller.abort();
  });
  const { key, number: attempt, resumed, ambiguous } = a;
  const child = (label: string): string => childKey(key, label);
  const done = (async (): Promise<RunEnd<unknown>> => {
    try {
      return { value: await effect({ key, attempt, resumed, ambiguous, signal: controller.signal, child }) };
    } catch (error) {
      return { error };
    }
  })();
  const end = await Promise.race([done, late]);
  off();
  return end ? read(end, verdict, a) : { reading: NO_ANSWER, reached: false };
}

/** A hook's word as a reading. That nothing took effect is not believed of a call whose user has logged out since: the hook or the server may have spoken of another one's. */
export function hookReading({ client, namespace }: Job, said: Verdict): Reading {
  const reading = HOOKED[said] ?? NOT_A_VERDICT;
  return /^(refused|not-sent)$/.test(reading.kind) && !isSamePerson(client, namespace) ? NOT_A_VERDICT : reading;
}

function read(end: RunEnd<unknown>, verdict: ((end: RunEnd<never>) => Verdict | undefined) | undefined, a: Attempting): Sent {
  let said: Verdict | undefined;
  try {
    said = verdict?.(end as RunEnd<never>);
  } catch (error) {
    a.job.client.platform.report(error);
    return { reading: NOT_A_VERDICT, cause: error, reached: true };
  }
  if ('value' in end) return { reading: hookReading(a.job, said ?? 'fresh'), result: valueResult(end.value), reached: true };
  return {
    reading: hookReading(a.job, said ?? 'ambiguous'),
    result: said === 'fresh' || said === 'replayed' ? valueResult(undefined) : undefined,
    cause: end.error,
    reached: said !== undefined,
  };
}
