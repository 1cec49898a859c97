/** Goes on with stored operations, and brings them from one namespace to another. */
import { decodeName, type OperationName, typeOf } from '../core/name.js';
import type { Outcome } from '../core/outcome.js';
import { isOnceError } from '../errors.js';
import type { Client, Place } from './client.js';
import { abortReason } from './flight.js';
import { moveOne } from './move.js';
import { changed } from './observe.js';
import { NOTHING_TO_READ, operate } from './operate.js';
import { isSamePerson } from './place.js';
import { scanPending, slotOfRecord } from './records.js';
import { pendingInTurns, type Waiting } from './turns.js';
import { OVER } from './wait.js';

/** How one resumed operation ended this time. */
export interface Resumed {
  readonly name: OperationName;
  readonly outcome: Outcome;
  readonly response: Response | undefined;
}

/** A few at a time, kinds of names in turns, in the order in which they end. */
export async function* resumeAll(
  client: Client,
  namespace: string,
  options: { prefix?: OperationName | undefined; concurrency?: number | undefined; signal?: AbortSignal | undefined },
): AsyncGenerator<Resumed> {
  const { prefix, concurrency = client.settings.tuning.resumeConcurrency, signal } = options;
  if (!(concurrency >= 1)) throw new RangeError(`once: concurrency must be at least 1, got ${concurrency}`);
  const running = new Set<Promise<Resumed | undefined>>();
  const over = new AbortController();
  const cut = (): void => over.abort(signal && abortReason(signal));
  const next = async (): Promise<Resumed | undefined> => {
    const [done, end] = await Promise.race([...running].map((one) => one.then((value) => [one, value] as const)));
    running.delete(done);
    return end;
  };
  // The next user is shown nothing of the one who asked.
  const goesOn = (): boolean => isSamePerson(client, namespace) && !client.closing.signal.aborted;
  signal?.addEventListener('abort', cut);
  try {
    for await (const record of pendingInTurns(client, namespace, prefix)) {
      if (signal?.aborted) throw abortReason(signal);
      if (!goesOn()) return;
      running.add(resumeOne(client, namespace, record, over.signal));
      const end = running.size >= concurrency ? await next() : undefined;
      if (end && goesOn()) yield end;
    }
    while (running.size) {
      const end = await next();
      if (end && isSamePerson(client, namespace)) yield end;
    }
  } finally {
    // Whoever stops listening, or cannot read on, has nothing sent behind their back.
    signal?.removeEventListener('abort', cut);
    over.abort(OVER);
  }
}

async function resumeOne(client: Client, namespace: string, record: Waiting, signal: AbortSignal | undefined): Promise<Resumed | undefined> {
  const name = decodeName(record.label);
  const place: Place = { name, label: record.label, namespace, slot: slotOfRecord(client, namespace, record), id: name.length ? undefined : record.id };
  let outcome: Outcome | undefined;
  const settings = {
    ...client.settings,
    operation: name,
    onOutcome: (told: Outcome) => {
      outcome = told;
      client.settings.onOutcome?.(told);
    },
  };
  try {
    const response = (await operate({ client, settings, place, read: NOTHING_TO_READ, signal, request: undefined })) as Response;
    return outcome && { name, outcome, response };
  } catch (error) {
    const known = outcome ?? (isOnceError(error) ? error.outcome : undefined);
    // An abort, or a bug: it is still pending.
    return known && { name, outcome: known, response: isOnceError(error) ? error.response : undefined };
  }
}

/** Inserted under the new namespace before it is removed under the old one: a crash in between leaves both, with one key. */
export async function moveAll(client: Client, from: string, to: string): Promise<void> {
  if (typeof from !== 'string' || from === '') throw new TypeError(`once: move takes the namespace to move from, got ${typeOf(from)}`);
  if (from === to) return;
  for await (const { record, slot } of scanPending(client, from, undefined, undefined)) await moveOne(client, from, to, record, slot);
  changed(client);
}
