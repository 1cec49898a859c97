/** One small world: the simulation's device, store, server, ledger and contexts, in which everything that happens is a step. */
import { hash } from 'node:crypto';
import type { OnceRecord } from '../../src/core/record.js';
import { readAnswer } from '../../src/core/verdict.js';
import { GENERIC } from '../../src/dialects/generic.js';
import { subscribe } from '../../src/entries/index.js';
import type { Evidence } from '../../src/option-types.js';
import type { Context } from '../simulation/context.js';
import { BEGAN, Device } from '../simulation/device.js';
import type { ByHand, Call, Commit, Effect, OpFacts, Send } from '../simulation/facts.js';
import { Books } from '../simulation/ledger.js';
import { Requests } from '../simulation/requests.js';
import { Server } from '../simulation/servers.js';
import { GUEST, personOf, type World } from '../simulation/world.js';
import type { Chooser } from './choices.js';
import { ExploredContext } from './context.js';
import { ChosenFaults } from './faults.js';
import { hashOf, textOfValue } from './hash.js';
import { hasActed, judged, judgedOf, judges } from './judges.js';
import { Steps } from './steps.js';
import type { Variant } from './variants.js';
import { short, Wire } from './wire.js';

export const USERS = ['alice', 'bob'] as const;
const USER_BY_NS = new Map([...USERS, GUEST].map((user) => [hash('sha256', JSON.stringify([user]), 'hex').slice(0, 32), user]));
/** The most time that the store and the wire add to the limits of a call. */
const SLACK_MS = 75_000;

/** A place for a context. A reload puts a new context into it. */
export interface Slot {
  readonly index: number;
  context: ExploredContext | undefined;
  restarts: number;
}

export class ExploredWorld {
  readonly variant: Variant;
  readonly chooser: Chooser;
  readonly steps = new Steps();
  readonly faults: ChosenFaults;
  readonly books: Books;
  readonly server: Server;
  readonly wire: Wire;
  readonly device: Device;
  readonly slots: readonly Slot[];
  readonly calls: Call[] = [];
  /** From now on, contexts that start have a `reconcile` that asks the app's server. */
  asks = false;
  readonly lines: string[] = [];
  /** The outcomes that people were told, for the statistics. */
  readonly ends = new Set<string>();
  /** The readings of answers, for the statistics. */
  readonly verdicts = new Set<string>();
  /** The operation of each record, by the record's id. */
  readonly #ids = new Map<string, OpFacts>();
  readonly #deeds = new Set<ByHand & { readonly context: string; readonly about: OpFacts | string; readonly began: string }>();
  readonly #requests = new Requests({});
  readonly #tracing: boolean;

  // ---- what the simulation's parts read of their world
  readonly seed = 1;
  readonly options: { readonly sharedStore: boolean };
  readonly network: { send: Wire['send'] };
  readonly time: { readonly now: number; after(ms: number, run: () => void): unknown };

  constructor(variant: Variant, chooser: Chooser, tracing: boolean) {
    this.variant = variant;
    this.#tracing = tracing;
    this.chooser = chooser;
    this.options = { sharedStore: false };
    const { steps } = this;
    this.faults = new ChosenFaults(chooser, variant.faults, !variant.server.keepsRefusals);
    this.wire = new Wire(this);
    this.network = { send: (context, url, init) => this.wire.send(context, url, init) };
    const { wire } = this;
    this.time = {
      get now() {
        return steps.now;
      },
      after: (ms, run) => (ms > LONG_MS ? steps.timer(wire, ms, 'server timer', run, wire.served) : steps.park(wire, 'the server works', run, wire.served)),
    };
    this.books = new Books(
      () => steps.now,
      {
        honours: true,
        replays: variant.replays === true,
        required: false,
        exact: false,
        quick: false,
        dueAt: (call) => call.begunAt + call.limitMs + SLACK_MS,
        isFrozen: () => false,
      },
      judges(variant.atomic),
    );
    const world = this as unknown as World;
    this.server = new Server(world, variant.server);
    this.device = new Device(world, 'device', variant.guest ? GUEST : USERS[0], { locks: variant.locks, atomic: variant.atomic, driftPpm: 0, skewMs: 0 });
    const { locks } = this.device;
    const locksFor = locks?.for.bind(locks);
    // The same locks, but each context is told when it asks to queue for one.
    if (locks && locksFor)
      locks.for = (context) => {
        const { acquire } = locksFor(context);
        return {
          acquire: (name, signal) => {
            if (signal) (context as ExploredContext).queued();
            return acquire(name, signal);
          },
        };
      };
    this.slots = variant.contexts.map((_, index) => ({ index, context: undefined, restarts: 0 }));
  }

  /** Log lines are built only if somebody reads them. Lines after a violation are left out, because they did not lead to it. */
  log(line: () => string): void {
    if (!this.#tracing || this.books.violations.length) return;
    const text = line();
    const { lines } = this;
    // Repeated pairs of lines come from a client that asks again and again.
    if (text === lines.at(-2) && lines.at(-1) === lines.at(-3) && lines.length > 3) lines.push('…');
    else if (lines.at(-1) === '…' && (text === lines.at(-2) || text === lines.at(-3))) return;
    else lines.push(text);
  }

  /** The context in this slot. Starts one if the last one is gone. */
  open(slot: Slot): ExploredContext {
    const { context } = slot;
    if (context && !context.dead && !context.closed) return context;
    const kind = this.variant.contexts[slot.index] as Context['kind'];
    const name = `${kind} ${slot.index + 1}`;
    const made = new ExploredContext(
      this.steps,
      () => this.wire.sends,
      this.faults,
      this as unknown as World,
      `${name}${"'".repeat(slot.restarts++)}`,
      name,
      kind,
      this.device,
    );
    slot.context = made;
    const reconcile = this.asks ? { reconcile: ({ key }: { readonly key: string }) => this.ask(made, key) } : {};
    made.boot({ ...this.variant.client?.(this, made), ...reconcile, namespace: () => this.device.user, verdict: (evidence) => this.#read(evidence) });
    subscribe(made.once, (event) => {
      if (event.type === 'attempt') made.attempt = event.attempt;
    });
    return made;
  }

  // ---- what happens, as the ledger is told

  committed(before: OnceRecord | undefined, after: OnceRecord | undefined, context: string, memory: boolean, why: Commit['why']): void {
    const record = after ?? before;
    if (!record) return;
    const user = USER_BY_NS.get(record.ns) ?? '?';
    const op = this.#opOf(record, user);
    this.#ids.set(record.id, op);
    const storeNow = this.storeNow();
    // A log-out shortens the time until a record is forgotten. A note by a sweep does not extend it.
    const over = before && Math.min(before.forgetAt, this.books.keys.get(before.key)?.forgetAt ?? before.forgetAt) <= storeNow;
    const expired = over ? 'yes' : 'no';
    const isMoved = why === 'written' && before && !after && user === GUEST && this.#brought(before);
    const acts = [...this.device.contexts].some((one) => one.id === context && (one as ExploredContext).byHand);
    const byHand = [...this.#deeds].filter((deed) => acts && deed.context === context && (deed.about === op || deed.about === user));
    this.books.see({ kind: 'commit', op, user, before, after, context, memory, why: isMoved ? 'moved' : why, storeNow, expired, byHand });
    if (print(before) === print(after)) return;
    const key = this.books.keyOf(op, record.key, record.random, context);
    if (after?.ending?.type === 'fresh' && !after.ending.certain) key.doubtful = true;
    this.log(
      () => `${context}: ${memory ? 'memory' : 'store'} has ${print(after)}${after ? ` under ${short(key)}` : ''}${why === 'written' ? '' : ` (${why})`}`,
    );
  }

  /** The number of the last request that had left any context when this context last looked at a record of this operation. */
  lookedAt({ looked }: ExploredContext, op: OpFacts): number | undefined {
    const at = [...looked].flatMap(([id, sends]) => (this.#ids.get(id) === op ? [sends] : []));
    return at.length ? Math.max(...at) : undefined;
  }

  /** The record was also moved into the namespace of the user who logged in. */
  #brought({ ns, key }: OnceRecord): boolean {
    return [...this.device.medium.records.values()].some((one) => (one as OnceRecord).key === key && (one as OnceRecord).ns !== ns);
  }

  refused(record: OnceRecord | undefined): void {
    if (record) this.#opOf(record, USER_BY_NS.get(record.ns) ?? '?').refused = true;
  }

  sent(send: Send): void {
    this.log(() => `${send.context}: sends payload ${send.payload} under ${short(send.key)}`);
    this.books.see({ kind: 'sent', send });
  }

  effected(effect: Effect): void {
    this.log(() => `EFFECT of payload ${effect.payload} under ${short(effect.key)}`);
    this.books.see({ kind: 'effect', effect });
  }

  reported(): void {}

  trueWall(): number {
    return BEGAN + this.steps.now;
  }

  /** The simulation notes here what a context has seen. */
  read(): void {}

  storeNow(): number {
    return this.trueWall();
  }

  /**
   * Like `doing` of the simulation's world. The state must also have what the deed asks for (`how`) and what the judges knew when it began,
   * because no answer of a port shows that.
   */
  doing<T>(context: Context, what: ByHand['what'], about: OpFacts | string, work: () => Promise<T>, how = ''): Promise<T> {
    const deed = { context: context.id, what, about, since: this.steps.now, began: `${how} ${hashOf(this.#judged())}` };
    this.#deeds.add(deed);
    return work().finally(() => this.#deeds.delete(deed));
  }

  // ---- who is who

  /** The operation behind a button. Without a name, each payload is an operation of its own. */
  opFor(user: string, name: string | null, payload: number): OpFacts {
    const { repeat } = this.variant;
    return this.books.op(personOf(user), name === null ? ['pay', payload] : ['pay', name], { repeat, unnamed: name === null });
  }

  body(op: OpFacts, payload: number): string {
    return this.#requests.body(op, payload);
  }

  requestOf(body: unknown): { readonly op: OpFacts; readonly payload: number; readonly text: string } {
    return this.#requests.content(body);
  }

  callOf(context: Context, id: string | null, op: OpFacts): Call | undefined {
    const named = id === null ? undefined : this.calls[Number(id)];
    if (named && !named.told && !named.dead && named.context === context.id) return named;
    // Calls of one context are driven one after the other, so the first open one is sending.
    return op.calls.find((call) => call.context === context.id && !call.told && !call.dead) ?? context.sweep?.callFor(op) ?? named;
  }

  /** What an app could find out from its server. It can say "none" only when nothing is on the wire any more. */
  truth(op: OpFacts): 'done' | 'none' | 'unknown' {
    if ([...op.keys.values()].some((key) => key.epoch === op.epoch && key.effects.length)) return 'done';
    const under = [...this.steps.parked, ...this.steps.held].some(({ owner }) => owner === this.wire);
    return under || this.server.works(op) ? 'unknown' : 'none';
  }

  /** The app asks its server, which knows only the orders of the session's user. */
  ask(context: ExploredContext, key: string): Promise<'done' | 'none' | 'unknown'> {
    const op = this.books.keys.get(key)?.op;
    const look = (): 'done' | 'none' | 'unknown' => (op && op.user === personOf(this.device.user) ? this.truth(op) : 'none');
    return context.port('asks', (resolve) => void this.steps.park(this.wire, 'the app asks its server', () => resolve(look())));
  }

  /** Like {@link ExploredWorld.state}, for the end of a schedule: every context is about to be killed, so its memory does not count any more. */
  end(): string {
    return [this.steps.now, this.device.user, this.#records(), this.wire.history.value, this.#judged()].join('\n\n');
  }

  /** Everything on which the future and the judges depend, as text. */
  state(turn: string): string {
    const contexts = this.slots.map(({ context, restarts }) =>
      context && !context.dead ? `${context.id} ${context.closed} ${context.frozen} ${[...context.looked].join()} ${context.history.value}` : restarts,
    );
    return [turn, this.device.user, contexts.join('\n'), this.steps.state(this.wire), this.#records(), this.wire.history.value, this.#judged()].join('\n\n');
  }

  #records(): string {
    const { records } = this.device.medium;
    return [...records]
      .map(([id, record]) => `${id} ${textOfValue(record)}`)
      .sort()
      .join('\n');
  }

  #judged(): string {
    const of = (op: OpFacts): string =>
      JSON.stringify([
        op.label,
        op.user,
        op.epoch,
        op.refused,
        op.damaged,
        op.payloads,
        op.wishes,
        [...op.keys.values()].map((key) => [
          key.key,
          key.epoch,
          [key.durable, key.memoryOnly, key.pendingInStore, key.told, key.byHand, key.revived],
          [key.end, key.endedAt, key.endedIn, key.reportedAt, key.none?.at, key.noneAt, key.touchedAt, key.rebornAt, key.user, key.bornIn],
          [key.wish, key.swept, key.clearedAt, key.held?.context, key.held?.until, key.doubtful, key.forgetAt],
          judged(key),
          key.sends.map(({ at, heard, copies, payload, context }) => [at, heard, copies, payload, context]),
          key.effects.map(({ at, payload }) => [at, payload]),
        ]),
        op.calls.map((call) => {
          const { told, dead, payload, verb, context, begunAt } = call;
          return [told?.at, told?.code, told?.outcome?.type, dead, payload, verb, context, begunAt, judgedOf(call)];
        }),
      ]);
    const deeds = [...this.#deeds].map((deed) => `${deed.context} ${deed.what} ${deed.since} ${deed.began} ${hasActed(deed)}`);
    return [...deeds, ...[...this.books.ops.values()].map(of)].join('\n');
  }

  /** Notes, for the statistics, how the generic dialect reads an answer, and gives no verdict of its own. */
  #read({ status, headers, json, ambiguous }: Evidence): undefined {
    const answer = { status, type: 'basic', redirected: false, header: (name: string) => headers.get(name), text: JSON.stringify(json) ?? '', json };
    const { kind, sticky } = readAnswer(answer, { method: 'POST', key: '', refusesHtml: true, otherPayloads: false }, GENERIC, ambiguous);
    this.verdicts.add(`${kind}${sticky ? ', sticky' : ''}${ambiguous ? ' after ambiguity' : ''}`);
  }

  #opOf({ label }: OnceRecord, user: string): OpFacts {
    return this.#requests.labelled(label) ?? this.books.op(personOf(user), JSON.parse(label) as string[], { repeat: this.variant.repeat });
  }
}

/** Waits of the server longer than this become timers: the lock of a server that died. */
const LONG_MS = 10_000;

const print = (record: OnceRecord | undefined): string =>
  record ? (record.state === 'pending' ? `pending${record.ambiguous ? '' : ', not sent'}` : `${record.state} (${record.ending?.type})`) : 'nothing';
