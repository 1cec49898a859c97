/** Metrics. Operation names and keys are not attributes, because each would have as many values as there are orders. */
import type { Attributes, Meter, ObservableGauge } from '@opentelemetry/api';
import type { Once, Outcome, UnknownReason } from 'oncefetch';
import { namespace, pending } from 'oncefetch';
import type { Client } from '../../engine/client.js';
import { ATTRIBUTES, METRICS } from './names.js';
import { safely } from './safely.js';
import { sharedTable } from './shared.js';

/** How many unsettled operations of a store and namespace each report reads at most, and how many namespaces of a store. */
const PENDING_MAX = 1000;
const NAMESPACES_MAX = 20;

/** The bucket bounds of the conventions for requests, in seconds, and more up to a day, because an operation may outlive its page. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 300, 3600, 86_400];
const COUNTS = [1, 2, 3, 4, 5, 10];

const CONFLICTS = ['in-progress', 'mismatch', 'busy', 'claim-lost'] as const;
export type Conflict = (typeof CONFLICTS)[number];

type ReplayedFrom = Extract<Outcome, { type: 'replayed' }>['from'];

/** All reasons. As a record, so that the compiler reports a missing one. */
const REASONS: Readonly<Record<UnknownReason, 0>> = {
  'no-answer': 0,
  'refused-after-ambiguity': 0,
  refused: 0,
  'not-a-verdict': 0,
  'in-progress': 0,
  unavailable: 0,
  burnt: 0,
  mismatch: 0,
  elsewhere: 0,
  bytes: 0,
  'key-expired': 0,
  identity: 0,
  offline: 0,
  store: 0,
  busy: 0,
  record: 0,
  aborted: 0,
};
const FROM: Readonly<Record<ReplayedFrom, 0>> = { server: 0, store: 0, memory: 0, reconcile: 0, elsewhere: 0 };

/** Attributes for how an operation ended. */
export const endingOf = (outcome: Outcome): Attributes => ({
  [ATTRIBUTES.effect]: outcome.effect,
  [ATTRIBUTES.type]: outcome.type,
  ...('reason' in outcome && { [ATTRIBUTES.reason]: outcome.reason }),
});

/** Whether the answer was known before this call. Then the call did not make anything certain. */
const wasKnown = (outcome: Outcome): boolean => outcome.type === 'replayed' && outcome.attempts === 0 && /^(store|memory)$/.test(outcome.from);

export function metricsOf(meter: Meter) {
  const operations = meter.createCounter(METRICS.operations, { unit: '{operation}', description: 'Operations by what became of them.' });
  const duplicates = meter.createCounter(METRICS.duplicates, {
    unit: '{call}',
    description: 'Calls that were answered without a second effect: they joined one under way, or got the answer of an earlier one.',
  });
  const conflicts = meter.createCounter(METRICS.conflicts, {
    unit: '{conflict}',
    description: 'Operations that met another one: at work, with another payload, or in the way.',
  });
  const attempts = meter.createHistogram(METRICS.attempts, {
    unit: '{attempt}',
    description: 'Attempts of an operation in one call.',
    advice: { explicitBucketBoundaries: COUNTS },
  });
  const certainty = meter.createHistogram(METRICS.certainty, {
    unit: 's',
    description: 'From the call, or from the first attempt if that was earlier, until it is certain what became of the operation.',
    advice: { explicitBucketBoundaries: SECONDS },
  });
  const suppressed = (by: 1 | 0, kind: 'joined' | 'replayed', from?: string): void =>
    duplicates.add(by, { [ATTRIBUTES.duplicate]: kind, ...(from !== undefined && { [ATTRIBUTES.replayedFrom]: from }) });
  // Start each counter at 0. A counter that appears only with its first event has no rate then, so an alert would miss that event in each process.
  safely(() => {
    for (const kind of CONFLICTS) conflicts.add(0, { [ATTRIBUTES.conflict]: kind });
    for (const reason of Object.keys(REASONS)) operations.add(0, { [ATTRIBUTES.effect]: 'unknown', [ATTRIBUTES.type]: 'unknown', [ATTRIBUTES.reason]: reason });
    suppressed(0, 'joined');
    for (const from of Object.keys(FROM)) suppressed(0, 'replayed', from);
  });
  const told = (outcome: Outcome, startedAt: number, now: number): void => {
    const { effect, type, firstSentAt = startedAt } = outcome;
    operations.add(1, endingOf(outcome));
    if (outcome.attempts > 0) attempts.record(outcome.attempts);
    if (type === 'replayed') suppressed(1, 'replayed', outcome.from);
    if (effect === 'unknown' || wasKnown(outcome)) return;
    const since = Math.min(startedAt, firstSentAt);
    certainty.record(Math.max(0, now - since) / 1000, { [ATTRIBUTES.effect]: effect, [ATTRIBUTES.type]: type });
  };
  return {
    conflict: (kind: Conflict): void => void safely(() => conflicts.add(1, { [ATTRIBUTES.conflict]: kind })),
    /** Times in ms. */
    ended: (outcome: Outcome, startedAt: number, now: number): void =>
      void safely(() => (outcome.joined ? suppressed(1, 'joined') : told(outcome, startedAt, now))),
    watch: watcherOf(meter),
  };
}

export type Metrics = ReturnType<typeof metricsOf>;

/** When the set has this many clients, those that are gone are removed from it. */
const LOOK_AT_MIN = 64;

/** Clients whose stores are already observed through another client. Held weakly, because a server may make one for each request and drop it. */
class Others {
  readonly #clients = new Set<WeakRef<Client>>();
  #lookAt = LOOK_AT_MIN;

  add(client: Client): void {
    if (typeof WeakRef === 'undefined') return;
    this.#clients.add(new WeakRef(client));
    if (this.#clients.size < this.#lookAt) return;
    for (const ref of this.#clients) if (!this.#living(ref)) this.#clients.delete(ref);
    this.#lookAt = Math.max(LOOK_AT_MIN, this.#clients.size * 2);
  }

  /** The open clients over a store with this scope. */
  over(scope: string): Client[] {
    return [...this.#clients].map(this.#living).filter((client) => client?.store.scope === scope) as Client[];
  }

  readonly #living = (ref: WeakRef<Client>): Client | undefined => {
    const client = ref.deref();
    return client?.closing.aborted ? undefined : client;
  };
}

/** One watcher for all features on a meter: a gauge has one value, and each feature would report only its own clients. */
function watcherOf(meter: Meter): ReturnType<typeof watchUnsettled> {
  const watchers = sharedTable<Meter, ReturnType<typeof watchUnsettled>>('watchers');
  const watcher = watchers.get(meter) ?? watchUnsettled(meter);
  watchers.set(meter, watcher);
  return watcher;
}

/** What functions of a client take. */
const face = (client: Client): Once => ({ '~oncefetch': () => client }) as Once;

/** Of clients with the same store, one for each namespace. */
const eachNamespace = (clients: readonly Client[]): Client[] =>
  [...new Map([...clients].reverse().map((client) => [namespace(face(client)), client] as const)).values()].slice(-NAMESPACES_MAX);

/** Reports the unsettled operations of all clients' stores. A store is observed until its clients are closed. */
function watchUnsettled(meter: Meter): (client: Client) => void {
  const count = meter.createObservableGauge(METRICS.unsettled, { unit: '{operation}', description: 'Operations that nobody has settled.' });
  const age = meter.createObservableGauge(METRICS.age, { unit: 's', description: 'Age of the oldest operation that nobody has settled.' });
  // One client for each store. Others with the same store would report the same, unless they have another namespace.
  const clients = new Map<string, Client>();
  const others = new Others();
  const observe = async (report: { observe(gauge: ObservableGauge, value: number): void }): Promise<void> => {
    // If a store can't be read, or nobody is logged in, there is nothing to report.
    const watched = [...clients.values()].flatMap((client) => eachNamespace([client, ...others.over(client.store.scope)]));
    const looks = await Promise.all(watched.map((client) => look(client).catch(() => undefined)));
    const seen = looks.filter((one) => one !== undefined);
    if (!seen.length) return;
    report.observe(
      count,
      seen.reduce((sum, { left }) => sum + left, 0),
    );
    report.observe(age, Math.max(...seen.map(({ oldestS }) => oldestS)));
  };
  const watch = (client: Client): void => {
    clients.set(client.store.scope, client);
    client.closing.addEventListener('abort', () => {
      clients.delete(client.store.scope);
      const [next] = others.over(client.store.scope);
      if (next) watch(next);
      else if (clients.size === 0) safely(() => meter.removeBatchObservableCallback(observe, [count, age]));
    });
  };
  return (client) => {
    if (client.closing.aborted) return;
    if (clients.has(client.store.scope)) {
      others.add(client);
      return;
    }
    if (clients.size === 0) meter.addBatchObservableCallback(observe, [count, age]);
    watch(client);
  };
}

async function look(client: Client): Promise<{ readonly left: number; readonly oldestS: number }> {
  const left = await pending(face(client), { limit: PENDING_MAX });
  const now = client.platform.clock.now();
  return { left: left.length, oldestS: Math.max(0, ...left.map(({ createdAt }) => now - createdAt)) / 1000 };
}
