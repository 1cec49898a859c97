/** Goes on with stored operations, and brings them from one namespace to another. */
import { decodeName, type OperationName } from '../core/name.js';
import type { Outcome } from '../core/outcome.js';
import { readRecord, seal } from '../core/record.js';
import { isOnceError } from '../errors.js';
import type { Client, Place } from './client.js';
import { abortReason } from './flight.js';
import { diagnose } from './observe.js';
import { NOTHING_TO_READ, operate } from './operate.js';
import { idsOf, slotOf } from './place.js';
import { scanPending, slotOfRecord } from './records.js';
import { timed } from './storing.js';
import { pendingInTurns, type Waiting } from './turns.js';

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
  const next = async (): Promise<Resumed | undefined> => {
    const [done, end] = await Promise.race([...running].map((one) => one.then((value) => [one, value] as const)));
    running.delete(done);
    return end;
  };
  for await (const record of pendingInTurns(client, namespace, prefix)) {
    if (signal?.aborted) throw abortReason(signal);
    running.add(resumeOne(client, namespace, record, signal));
    const end = running.size >= concurrency ? await next() : undefined;
    if (end) yield end;
  }
  while (running.size) {
    const end = await next();
    if (end) yield end;
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
  if (typeof from !== 'string' || from === '')
    throw new TypeError(`once: move takes the namespace to move from, got ${from === '' ? 'an empty string' : typeof from}`);
  if (from === to) return;
  for await (const { record, slot } of scanPending(client, from, undefined, undefined)) {
    const place = { namespace: to, label: record.label, id: record.label[0] === '~' ? record.id : undefined };
    const { id, ns } = await idsOf(client, place);
    const target = slotOf(client, to, record.label, place.id);
    const store = client.registry.degraded.get(slot) ?? client.store;
    const now = client.platform.clock.now();
    // Where a key counts for one account only, the new account's server has never seen it.
    const scoped = client.settings.dialect.perAccount ? { windowEndsAt: now } : {};
    const moved = seal({ ...record, ...scoped, id, ns, revision: record.revision + 1 });
    if (place.id === undefined) {
      const free = await timed(
        client,
        store.update(
          id,
          (stored) => {
            const there = readRecord(stored);
            return stored === undefined || there?.state === 'retired' || there?.key === record.key ? { next: moved, value: true } : { value: false };
          },
          { durability: 'strict' },
        ),
      );
      if (!free) {
        diagnose(
          client,
          { name: decodeName(record.label), label: record.label },
          record.key,
          'move-conflict',
          'an operation of this name exists in both namespaces; the older one stays where it was',
        );
        continue;
      }
      await timed(
        client,
        store.update(record.id, (stored) =>
          stored !== undefined && readRecord(stored)?.key === record.key ? { next: null, value: undefined } : { value: undefined },
        ),
      );
    } else
      await timed(
        client,
        store.update(id, (stored) => (readRecord(stored)?.state === 'pending' ? { next: moved, value: undefined } : { value: undefined }), {
          durability: 'strict',
        }),
      );
    if (client.registry.degraded.delete(slot)) client.registry.degraded.set(target, store);
  }
}
