/** Goes on with stored operations, and brings them from one namespace to another. */
import { decodeName, type OperationName, typeOf } from '../core/name.js';
import type { Outcome } from '../core/outcome.js';
import { type OnceRecord, readRecord, seal } from '../core/record.js';
import { isOnceError } from '../errors.js';
import type { Client, Place } from './client.js';
import { abortReason } from './flight.js';
import { changed, diagnose, pendingOf, publish } from './observe.js';
import { NOTHING_TO_READ, operate } from './operate.js';
import { idsOf, slotOf } from './place.js';
import { scanPending, slotOfRecord } from './records.js';
import { timed } from './storing.js';
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
  signal?.addEventListener('abort', cut);
  try {
    for await (const record of pendingInTurns(client, namespace, prefix)) {
      if (signal?.aborted) throw abortReason(signal);
      running.add(resumeOne(client, namespace, record, over.signal));
      const end = running.size >= concurrency ? await next() : undefined;
      if (end) yield end;
    }
    while (running.size) {
      const end = await next();
      if (end) yield end;
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
  for await (const { record, slot } of scanPending(client, from, undefined, undefined)) await moveOne(client, to, record, slot);
  changed(client);
}

async function moveOne(client: Client, to: string, { key, label, id: old }: OnceRecord, slot: string): Promise<void> {
  const own = label[0] === '~' ? old : undefined;
  const { id, ns } = await idsOf(client, { namespace: to, label, id: own });
  const store = client.registry.degraded.get(slot) ?? client.store;
  const update = <T>(of: string, change: (there: OnceRecord | undefined, stored: unknown) => { next?: OnceRecord | null; value: T }): Promise<T> =>
    timed(
      client,
      store.update(of, (stored) => change(readRecord(stored), stored), { durability: 'strict' }),
    );
  const moved = (before: OnceRecord, generation = 0): OnceRecord => {
    // Where a key counts for one account only, the new account's server does not know what was sent under it.
    const scoped = client.settings.dialect.perAccount && before.ambiguous ? { windowEndsAt: client.platform.clock.now() } : {};
    return seal({ ...before, ...scoped, id, ns, generation: Math.max(generation, before.generation), revision: before.revision + 1 });
  };
  // First its drivers lose it: what one of them settled from here on would stay open in the other namespace.
  const taken = await update(old, (there) => {
    if (there?.state !== 'pending' || there.key !== key) return { value: undefined };
    const next = own === undefined ? seal({ ...there, revision: there.revision + 1 }) : moved(there);
    return { next, value: next };
  });
  if (!taken) return;
  if (own === undefined) {
    const free = await update(id, (there, stored) => {
      // It came with an earlier move that did not come to its end, and may have gone on since.
      if (there?.key === key) return { value: true };
      return stored === undefined || there?.state === 'retired' ? { next: moved(taken, there?.generation), value: true } : { value: false };
    });
    if (!free) {
      const says = 'an operation of this name exists in both namespaces; the older one stays where it was';
      diagnose(client, { name: decodeName(label), label }, key, 'move-conflict', says);
      return;
    }
    await update(old, (there) => (there?.key === key && there.revision === taken.revision ? { next: null, value: undefined } : { value: undefined }));
  }
  const there = slotOf(client, to, label, own);
  if (client.registry.degraded.delete(slot)) client.registry.degraded.set(there, store);
  publish(client, slot, { phase: 'idle' });
  if (!client.registry.flights.has(there)) publish(client, there, { phase: 'unsettled', pending: pendingOf(taken) });
}
