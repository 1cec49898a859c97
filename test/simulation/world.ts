/** A world: one seed decides everything in it. */
import { hash } from 'node:crypto';
import { childKey } from '../../src/core/derived.js';
import type { Dialect } from '../../src/core/dialect.js';
import { type OnceRecord, readRecord } from '../../src/core/record.js';
import { CLOCK_BACK_MS } from '../../src/core/retention.js';
import { checkers as all } from './checkers/index.js';
import type { Context, ContextKind } from './context.js';
import { BEGAN, Device } from './device.js';
import { type ByHand, type Call, type Checker, type Commit, type Effect, isWhole, type KeyFacts, type OpFacts, PARTS, type Send } from './facts.js';
import { type FaultName, Faults } from './faults.js';
import { Books } from './ledger.js';
import { Network } from './network.js';
import { Random } from './random.js';
import { type Endpoint, Requests } from './requests.js';
import type { ClientOptions, WorldOptions } from './scenario.js';
import { Server } from './servers.js';
import { Timeline } from './timeline.js';

/** Many more events than a world of a sensible size needs. */
const EVENTS_MAX = 3_000_000;
const LOG_LINES_MAX = 4000;
export const USERS = ['alice', 'bob'] as const;
/** The first user is this guest until the log-in. */
export const GUEST = 'guest';
const USER_BY_NS = new Map([...USERS, GUEST].map((user) => [hash('sha256', JSON.stringify([user]), 'hex').slice(0, 32), user]));

export interface Slot {
  readonly name: string;
  readonly device: Device;
  readonly kind: ContextKind;
  context: Context | undefined;
  restarts: number;
}

export class World {
  readonly seed: number;
  readonly options: WorldOptions;
  readonly time = new Timeline(EVENTS_MAX);
  readonly faults: Faults;
  readonly books: Books;
  readonly network: Network;
  readonly server: Server;
  /** All servers of this world, each behind one endpoint or more. */
  readonly servers: Server[] = [];
  readonly slots: Slot[] = [];
  readonly devices: Device[] = [];
  readonly calls = new Map<string, Call>();
  readonly struck = new Map<FaultName, number>();
  readonly lines: string[] = [];
  /** How many operations the calm found pending, and how many of them only an app with `reconcile` could end. */
  readonly stats = { leftPending: 0, onlyReconcile: 0 };
  /** By how much the clock of the store that all machines share was set, ms. */
  storeSetMs = 0;
  /** How often a user became a guest again, with another cart. */
  carts = 0;
  attempts = 0;
  copies = 0;
  readonly random: Random;
  /** The `repeat` of the release that allows the most. */
  readonly #repeat: OpFacts['repeat'];
  readonly #parts: readonly string[];
  readonly contexts = new Map<string, Context>();
  /** Functions of a `run` that are at work, and make calls under names of their own. */
  readonly functions = new Set<{ readonly op: OpFacts; readonly context: Context }>();
  readonly requests: Requests;
  /** The context that wrote the record of an operation last, by label. */
  readonly #writers = new Map<string, string>();
  /** What the app has contexts do by hand at this moment, such as `settle` or `forget`. */
  readonly #deeds = new Set<ByHand & { readonly context: string; readonly about: OpFacts | string }>();
  readonly #tracing: boolean;

  constructor(seed: number, options: WorldOptions, { tracing = false, checkers = all }: { tracing?: boolean; checkers?: readonly Checker[] } = {}) {
    this.seed = seed;
    this.options = options;
    this.#tracing = tracing;
    this.faults = new Faults(seed ^ 0x5eed, options.faults, this.struck);
    const exact = options.devices.every(({ atomic }) => atomic) && !options.faults.storeHangs;
    this.books = new Books(
      () => this.time.now,
      {
        honours: options.server.honours || options.client.dialect === 'none',
        replays: (options.client.dialect as Dialect | undefined)?.replays === true,
        required: options.client.durability === 'required' && (options.client.other?.durability ?? 'required') === 'required',
        exact,
        quick: exact && !options.faults.storeSlow,
        dueAt: (call) => this.#dueAt(call),
        isFrozen: (context) => this.contexts.get(context)?.frozen === true,
      },
      checkers,
    );
    const { client, laterClient = client } = options;
    this.#repeat = REPEATS.find((one) => [client, laterClient, client.other].some((options) => options?.repeat === one)) ?? 'never';
    this.#parts = client.runs === 'children' || client.runs === 'calls' ? PARTS : [];
    this.requests = new Requests(client);
    this.network = new Network(this);
    this.server = this.serverAt({});
    this.random = new Random(seed).of('world');
    for (const [index, { slots, ...device }] of options.devices.entries()) {
      const made = new Device(this, `device-${index}`, options.guests ? GUEST : USERS[0], device, options.sharedStore ? this.devices[0]?.medium : undefined);
      this.devices.push(made);
      for (const kind of slots) this.slots.push({ name: `${kind}-${this.slots.length}`, device: made, kind, context: undefined, restarts: 0 });
    }
  }

  /** Log lines are built only if somebody prints them. */
  log(line: () => string): void {
    if (!this.#tracing) return;
    this.lines.push(`${String(this.time.now).padStart(9)}  ${line()}`);
    if (this.lines.length > LOG_LINES_MAX) this.lines.splice(0, LOG_LINES_MAX / 2);
  }

  // ---- what happens, as the ledger is told

  committed(before: OnceRecord | undefined, after: OnceRecord | undefined, context: string, memory: boolean, why: Commit['why']): void {
    const record = after ?? before;
    if (!record) return;
    const op = this.#opOf(record);
    const user = USER_BY_NS.get(record.ns) ?? '?';
    if (!memory) this.#writers.set(op.label, context);
    this.log(
      () => `  ${memory ? 'memory' : 'store'} of ${context}: ${op.user} ${op.label} ${print(before)} -> ${print(after)}${why === 'written' ? '' : ` (${why})`}`,
    );
    this.books.see({
      kind: 'commit',
      op,
      user,
      before,
      after,
      context,
      memory,
      storeNow: this.storeNow(this.contexts.get(context)?.device),
      expired: this.#expired(before, this.contexts.get(context)?.device),
      byHand: [...this.#deeds].filter((deed) => deed.context === context && (deed.what === 'move' || deed.about === op || deed.about === user)),
      why: why === 'written' && before && !after && this.#brought(before) ? 'moved' : why,
    });
  }

  /** The record was also moved into the namespace of the user who logged in. */
  #brought({ ns, key }: OnceRecord): boolean {
    if (USER_BY_NS.get(ns) !== GUEST) return false;
    return this.devices.some(({ medium }) => [...medium.records.values()].some((one) => (one as OnceRecord).key === key && (one as OnceRecord).ns !== ns));
  }

  /** A call of this context read a record, or a sweep did. Not what the app does by hand. */
  read(stored: unknown, { id }: Context): void {
    const { state, ambiguous, key = '' } = (stored ?? {}) as Partial<OnceRecord>;
    const known = state === 'pending' && ambiguous ? this.books.keys.get(key) : undefined;
    if (known && ![...this.#deeds].some(({ context }) => context === id)) known.seen.set(id, this.time.now);
  }

  /** The store reported that it did not write this record. */
  refused(record: OnceRecord | undefined): void {
    if (record) this.#opOf(record).refused = true;
  }

  sent(send: Send): void {
    this.attempts++;
    this.copies += send.copies;
    this.log(
      () => `  ${send.context} sends ${send.key.key.slice(0, 8)} of ${send.key.op.user} ${send.key.op.label}, payload ${send.payload}, ${send.copies} copies`,
    );
    this.books.see({ kind: 'sent', send });
  }

  effected(effect: Effect): void {
    this.log(() => `  EFFECT under ${effect.key.key.slice(0, 8)} of ${effect.key.op.user} ${effect.key.op.label}, payload ${effect.payload}`);
    this.books.see({ kind: 'effect', effect });
    const { key, send } = effect;
    // What such a call brings about is an effect of the run, too, under the key that its function was given.
    const within = send.call?.within ?? key.sends.filter(({ call }) => call?.within).at(-1)?.call?.within;
    if (!within) return;
    within.key.inner.add(key);
    const part = { ...send, key: within.key, call: within.call, part: String(key.op.name[0]) };
    this.books.see({ kind: 'effect', effect: { ...effect, key: within.key, send: part } });
  }

  /** The operation that the function of a run makes for one part of it. */
  partOf({ user, name }: OpFacts, part: string): OpFacts {
    return this.books.op(user, [part, ...name.slice(1)]);
  }

  /** The run whose function makes this operation again; without one, the operation itself. If the app said that the run is done, no function runs any more. */
  pressed(op: OpFacts): OpFacts {
    const { user, name } = op;
    const run = this.#parts.includes(String(name[0])) ? this.books.ops.get(`${user} ${JSON.stringify(['pay', ...name.slice(1)])}`) : undefined;
    return run && ![...run.keys.values()].some(({ end, epoch, user: of }) => end === 'settled' && epoch === run.epoch && of === user) ? run : op;
  }

  /** No function of this run is at work in a context that may go on, and nothing that one has done is on its way. */
  #leftNothing(op: OpFacts): boolean {
    const made = op.parts.map((part) => this.books.ops.get(`${op.user} ${JSON.stringify([part, ...op.name.slice(1)])}`));
    return ![...this.functions].some((one) => one.op === op && !one.context.dead) && made.every((one) => !one || (this.idle(one) && this.network.quiet(one)));
  }

  /** A listener or hook of the app failed. That is allowed, and must change nothing. */
  reported(context: Context, error: unknown): void {
    this.log(() => `  ${context.id} reports ${String(error)}`);
  }

  // ---- who is who

  #opOf({ ns, label }: OnceRecord): OpFacts {
    return this.requests.labelled(label) ?? this.books.op(personOf(USER_BY_NS.get(ns) ?? '?'), JSON.parse(label), { repeat: this.#repeat, parts: this.#parts });
  }

  /**
   * The record under this button's name in the session of this page's device, unless it has ended and is due to be forgotten. If the store did not take
   * the page's record, the page goes on with the one in its memory, whatever other pages store.
   */
  storedFor({ device, kept }: Context, name: number): OnceRecord | undefined {
    const label = JSON.stringify(['pay', name]);
    const found = (records: Iterable<unknown>) => [...records].map(readRecord).find((one) => one?.label === label && USER_BY_NS.get(one.ns) === device.user);
    const stored = found(kept) ?? found(device.medium.records.values());
    return stored?.state === 'pending' || (stored && stored.forgetAt > this.storeNow(device)) ? stored : undefined;
  }

  /** The last writer of this operation's record died before it could tell the other pages, or was the browser itself. */
  untold({ label }: OpFacts): boolean {
    return this.contexts.get(this.#writers.get(label) ?? '')?.dead !== false;
  }

  /** The operation behind a button. Without names, each payload is an operation of its own. */
  opFor(user: string, name: number, payload: number): OpFacts {
    const { client, workload } = this.options;
    const { unnamed, byContent } = client;
    const button = name + this.carts * workload.operations;
    return this.books.op(personOf(user), unnamed || byContent ? ['pay', button, payload] : ['pay', button], {
      repeat: this.#repeat,
      unnamed,
      byContent,
      parts: this.#parts,
    });
  }

  serverAt({ server: own = this.options.server }: Pick<Endpoint, 'server'>): Server {
    const known = this.servers.find(({ options }) => options === own);
    if (known) return known;
    const made = new Server(this, own, this.servers.length);
    this.servers.push(made);
    return made;
  }

  /** The key from which this child key was made. */
  parentOf(op: OpFacts, key: string, part: string): string {
    return [...op.keys.keys()].find((one) => childKey(one, part) === key) ?? '';
  }

  /** Where the client sends no key, it still stores a record with a key: that key. */
  unkeyed(op: OpFacts): string {
    return [...op.keys.values()].filter(({ end }) => end === undefined).at(-1)?.key ?? '';
  }

  keyOf(op: OpFacts, key: string): KeyFacts {
    return this.books.keyOf(op, key);
  }

  /** The call that made an attempt, as its `x-call` header tells, or as well as can be guessed. */
  callOf(context: Context, id: string | null, op: OpFacts, payload: number): Call | undefined {
    const named = id === null ? undefined : this.calls.get(id);
    if (named && !named.told && !named.dead && named.context === context.id) return named;
    // A stored request has the header of the call that first sent it. A call with another payload waits for its turn.
    const open = op.calls.filter((call) => call.context === context.id && !call.told && !call.dead);
    const own = open.filter((call) => call.verb === 'resume' || call.payload === payload);
    return own[0] ?? open[0] ?? context.sweep?.callFor(op) ?? named;
  }

  /** A database that several machines share has a clock of its own. */
  storeNow(device: Device | undefined): number {
    return this.options.sharedStore || !device ? this.trueWall() + this.storeSetMs : device.wall();
  }

  #expired(record: OnceRecord | undefined, device: Device | undefined): Commit['expired'] {
    if (!record) return 'no';
    const { forgetAt } = this.books.keys.get(record.key) ?? record;
    if (forgetAt <= this.trueWall() + CLOCKS_APART_MS) return 'yes';
    return forgetAt <= this.storeNow(device) ? 'by-its-clock' : 'no';
  }

  /** Does something by hand to one operation, or to all of a user's, and lists it among the deeds while it lasts. */
  doing<T>(context: Context, what: ByHand['what'], about: OpFacts | string, work: () => Promise<T>): Promise<T> {
    const deed = { context: context.id, what, about, since: this.time.now };
    this.#deeds.add(deed);
    return work()
      .then((value) => {
        this.#dropped(deed);
        return value;
      })
      .finally(() => this.#deeds.delete(deed));
  }

  /** A context drops what it remembers by itself of an operation that the app has ended or forgotten, and at a log-out of what it knows to be done. */
  #dropped({ context, what, about }: ByHand & { readonly context: string; readonly about: OpFacts | string }): void {
    if (what === 'move') return;
    const heard = ({ key, op, saidDoneTo }: KeyFacts): boolean =>
      saidDoneTo.has(context) || op.calls.some(({ context: of, told }) => of === context && told?.outcome?.effect === 'done' && told.outcome.key === key);
    const isOver = ({ op }: KeyFacts): boolean => [...op.keys.values()].some((key) => key.end === 'settled' || heard(key));
    for (const key of this.books.keys.values())
      if (key.op === about || (personOf(String(about)) === key.op.user && (what === 'clear-forget' || isOver(key)))) key.droppedAt.set(context, this.time.now);
  }

  /** A correct wall clock. */
  trueWall(): number {
    return BEGAN + this.time.now;
  }

  // ---- contexts

  /** The client options of what starts next in this slot: every restart brings the next release. */
  releaseFor({ restarts }: Slot): ClientOptions {
    return (restarts > 0 && this.options.laterClient) || this.options.client;
  }

  /** The slot with this index, and its context unless that is dead or closed. */
  at(index: number): { readonly slot: Slot; readonly context: Context | undefined } {
    const slot = this.slots[index % this.slots.length] as Slot;
    return { slot, context: slot.context && !slot.context.dead && !slot.context.closed ? slot.context : undefined };
  }

  /** No call of this operation is under way in any context, except in `but`. */
  idle(op: OpFacts, but?: string): boolean {
    return op.calls.every((call) => call.told !== undefined || call.dead || call.context === but);
  }

  /** What an app could find out from its server. It can say "none" only when nothing is on the wire any more. */
  truth(
    op: OpFacts,
    {
      but,
      key,
      byKey = op.unnamed,
      soon = false,
    }: { readonly but?: string; readonly key?: KeyFacts | undefined; readonly byKey?: boolean; readonly soon?: boolean } = {},
  ): 'done' | 'none' | 'unknown' {
    if (op.elsewhere) return 'done';
    if (byKey && key) return key.effects.length ? (isWhole(key) ? 'done' : 'unknown') : this.idle(op, but) && this.network.quiet(op) ? 'none' : 'unknown';
    // A key that is not random is used again, and an effect that it had in an earlier epoch is the only one that it can have. An app that asks by key
    // means this key.
    const counts = (one: KeyFacts): boolean => one === key || one.epoch === op.epoch || (!one.random && key === undefined) || this.#isLastKnown(one);
    const done = [...op.keys.values()].filter((one) => one.effects.length && counts(one));
    // An operation that took effect in part must go on.
    if (done.length) return done.some(isWhole) ? 'done' : 'unknown';
    // `soon`: what the app's server knows at this moment, whatever is on its way.
    return soon || (this.idle(op, but) && this.network.quiet(op) && this.#leftNothing(op)) ? 'none' : 'unknown';
  }

  /** A page goes on with this key, although a log-out dropped its record while the page was sending it. */
  #isLastKnown({ key }: KeyFacts): boolean {
    return [...this.contexts.values()].some(({ dead, registry }) => !dead && [...(registry?.lastKnown.values() ?? [])].some((one) => one.key === key));
  }

  #dueAt(call: Call): number {
    const context = this.contexts.get(call.context);
    const { storeHangs, storeSlow } = this.options.faults;
    const slack = storeHangs || storeSlow ? STORE_SLACK_MS : SLACK_MS;
    // A clock that goes back by hours ends the call, so each time it costs no more than this.
    const { setBackMs = 0, setsBack = 0 } = context?.device ?? {};
    const setBack = Math.min(setBackMs - call.setBackMs, (setsBack - call.setsBack) * (CLOCK_BACK_MS + call.limitMs));
    return Math.max(call.begunAt + call.limitMs, context?.thawedAt ?? 0) + slack + setBack;
  }
}

const REPEATS = ['always', 'if-changed'] as const;
/** By how much two working clocks may differ. */
const CLOCKS_APART_MS = 600_000;
/** The most time that the store and the wire of this world add to a call. */
const SLACK_MS = 3000;
/** The same for a slow store: each read and each write may use the store's whole time limit, before and after the call's own limit. */
const STORE_SLACK_MS = 60_000;

/** The user to whom a session's cart belongs: a guest's cart belongs to the user who logs in. */
export const personOf = (user: string): string => (user === GUEST ? USERS[0] : user);

const print = (record: OnceRecord | undefined): string =>
  record
    ? `${record.state} ${record.key.slice(0, 8)} g${record.generation} r${record.revision}${record.state === 'pending' ? (record.ambiguous ? ' sent?' : ' clean') : ` ${record.ending?.type}`}`
    : 'nothing';
