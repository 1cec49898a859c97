/** A world: one seed decides everything in it. */
import { hash } from 'node:crypto';
import { childKey } from '../../src/core/derived.js';
import type { Dialect } from '../../src/core/dialect.js';
import { type OnceRecord, readRecord } from '../../src/core/record.js';
import { checkers as all } from './checkers/index.js';
import type { Context, ContextKind } from './context.js';
import { BEGAN, Device } from './device.js';
import { type ByHand, type Call, type Checker, type Commit, type Effect, isWhole, type KeyFacts, type OpFacts, type Send } from './facts.js';
import { type FaultName, Faults } from './faults.js';
import { Books } from './ledger.js';
import { Network } from './network.js';
import { Random } from './random.js';
import { type Endpoint, Requests } from './requests.js';
import type { ClientOptions, WorldOptions } from './scenario.js';
import { Server } from './servers.js';
import { Timeline } from './timeline.js';

/** Far more than any world of a sensible size needs. */
const EVENTS_MAX = 3_000_000;
const LOG_LINES_MAX = 4000;
export const USERS = ['alice', 'bob'] as const;
/** Who the first of them is until the log-in. */
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
  /** All that there are, behind one endpoint or another. */
  readonly servers: Server[] = [];
  readonly slots: Slot[] = [];
  readonly devices: Device[] = [];
  readonly calls = new Map<string, Call>();
  readonly struck = new Map<FaultName, number>();
  readonly lines: string[] = [];
  /** Operations that the calm found pending, and those of them that only an app that asks its server could end. */
  readonly stats = { leftPending: 0, onlyReconcile: 0 };
  attempts = 0;
  copies = 0;
  readonly random: Random;
  /** What a name may stand for, in whichever release asks for the most. */
  readonly #repeat: OpFacts['repeat'];
  readonly #parts: readonly string[];
  readonly contexts = new Map<string, Context>();
  readonly requests: Requests;
  /** Who wrote the record of a key last. */
  readonly #writers = new Map<string, string>();
  /** What the app has contexts do by hand at this moment. */
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
        required: options.client.durability === 'required',
        exact,
        quick: exact && !options.faults.storeSlow,
        dueAt: (call) => this.#dueAt(call),
      },
      checkers,
    );
    const { client, laterClient = client } = options;
    this.#repeat = REPEATS.find((one) => one === client.repeat || one === laterClient.repeat) ?? 'never';
    this.#parts = client.runs === 'children' ? PARTS : [];
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

  /** Lines that nobody prints are never put together. */
  log(line: () => string): void {
    if (!this.#tracing) return;
    this.lines.push(`${String(this.time.now).padStart(9)}  ${line()}`);
    if (this.lines.length > LOG_LINES_MAX) this.lines.splice(0, LOG_LINES_MAX / 2);
  }

  // ---- what happens, told to the books

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

  /** It lies in the namespace of who logged in, too. */
  #brought({ ns, key }: OnceRecord): boolean {
    if (USER_BY_NS.get(ns) !== GUEST) return false;
    return this.devices.some(({ medium }) => [...medium.records.values()].some((one) => (one as OnceRecord).key === key && (one as OnceRecord).ns !== ns));
  }

  /** The store said that it did not take this record. */
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
  }

  /** A listener or hook of the app failed; that is allowed, and changes nothing. */
  reported(context: Context, error: unknown): void {
    this.log(() => `  ${context.id} reports ${String(error)}`);
  }

  // ---- who is who

  #opOf({ ns, label }: OnceRecord): OpFacts {
    return this.requests.labelled(label) ?? this.books.op(personOf(USER_BY_NS.get(ns) ?? '?'), JSON.parse(label), { repeat: this.#repeat, parts: this.#parts });
  }

  /** What is stored under this button's name in the session of this device, unless it has ended and its time is over. */
  storedFor(device: Device, name: number): OnceRecord | undefined {
    const label = JSON.stringify(['pay', name]);
    const found = [...device.medium.records.values()].map(readRecord);
    const stored = found.find((one) => one?.label === label && USER_BY_NS.get(one.ns) === device.user);
    return stored?.state === 'pending' || (stored && stored.forgetAt > this.storeNow(device)) ? stored : undefined;
  }

  /** Whoever wrote about this operation last died before it could tell the other pages, or was the browser itself. */
  untold({ label }: OpFacts): boolean {
    return this.contexts.get(this.#writers.get(label) ?? '')?.dead !== false;
  }

  /** The operation behind a button. Without names, each payload of it is one of its own. */
  opFor(user: string, name: number, payload: number): OpFacts {
    const { unnamed, byContent } = this.options.client;
    return this.books.op(personOf(user), unnamed || byContent ? ['pay', name, payload] : ['pay', name], {
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

  /** The key of the record from which this key is made. */
  parentOf(op: OpFacts, key: string, part: string): string {
    return [...op.keys.keys()].find((one) => childKey(one, part) === key) ?? '';
  }

  /** Where no key is sent, its client stores a record under one all the same. */
  unkeyed(op: OpFacts): string {
    return [...op.keys.values()].filter(({ end }) => end === undefined).at(-1)?.key ?? '';
  }

  keyOf(op: OpFacts, key: string): KeyFacts {
    return this.books.keyOf(op, key);
  }

  /** The call that drives an attempt, as far as its header tells. */
  callOf(context: Context, id: string | null, op: OpFacts, payload: number): Call | undefined {
    const named = id === null ? undefined : this.calls.get(id);
    if (named && !named.told && !named.dead && named.context === context.id) return named;
    // A stored request bears the number of the call that brought it. Who brings another payload waits for its turn.
    const open = op.calls.filter((call) => call.context === context.id && !call.told && !call.dead);
    const own = open.filter((call) => call.verb === 'resume' || call.payload === payload);
    return own.at(-1) ?? open.at(-1) ?? context.sweep?.callFor(op) ?? named;
  }

  /** A database of many machines has one clock, which is none of theirs. */
  storeNow(device: Device | undefined): number {
    return this.options.sharedStore || !device ? this.trueWall() : device.wall();
  }

  #expired(record: OnceRecord | undefined, device: Device | undefined): Commit['expired'] {
    if (!record) return 'no';
    const { forgetAt } = this.books.keys.get(record.key) ?? record;
    if (forgetAt <= this.trueWall() + CLOCKS_APART_MS) return 'yes';
    return forgetAt <= this.storeNow(device) ? 'by-its-clock' : 'no';
  }

  /** Does something by hand to one operation, or to all of a user's, and says so in the books for as long as it takes. */
  doing<T>(context: Context, what: ByHand['what'], about: OpFacts | string, work: () => Promise<T>): Promise<T> {
    const deed = { context: context.id, what, about, since: this.time.now };
    this.#deeds.add(deed);
    return work().finally(() => this.#deeds.delete(deed));
  }

  /** A correct wall clock. */
  trueWall(): number {
    return BEGAN + this.time.now;
  }

  // ---- contexts

  /** What starts next in this slot: every restart brings the next release. */
  releaseFor({ restarts }: Slot): ClientOptions {
    return (restarts > 0 && this.options.laterClient) || this.options.client;
  }

  /** The context in this slot; a new one if the last one is gone. */
  at(index: number): { readonly slot: Slot; readonly context: Context | undefined } {
    const slot = this.slots[index % this.slots.length] as Slot;
    return { slot, context: slot.context && !slot.context.dead && !slot.context.closed ? slot.context : undefined };
  }

  /** Nobody is busy with this operation, in any context. */
  idle(op: OpFacts, but?: string): boolean {
    return op.calls.every((call) => call.told !== undefined || call.dead || call.context === but);
  }

  /** What an app could find out from its server, once nothing is on the wire any more. */
  truth(
    op: OpFacts,
    { but, key, byKey = op.unnamed }: { readonly but?: string; readonly key?: KeyFacts | undefined; readonly byKey?: boolean } = {},
  ): 'done' | 'none' | 'unknown' {
    if (op.elsewhere) return 'done';
    if (byKey && key) return key.effects.length ? 'done' : this.idle(op, but) && this.network.quiet(op) ? 'none' : 'unknown';
    // A key that is not random comes round again, and what it had then is all that it ever has; who asks by key means this one.
    const counts = (one: KeyFacts): boolean => one.epoch === op.epoch || (!one.random && (key === undefined || key === one));
    const done = [...op.keys.values()].filter((one) => one.effects.length && counts(one));
    // What is done in part is to be gone on with.
    if (done.length) return done.some(isWhole) ? 'done' : 'unknown';
    return this.idle(op, but) && this.network.quiet(op) ? 'none' : 'unknown';
  }

  #dueAt(call: Call): number {
    const context = this.contexts.get(call.context);
    const { storeHangs, storeSlow } = this.options.faults;
    const slack = storeHangs || storeSlow ? STORE_SLACK_MS : SLACK_MS;
    const setBack = (context?.device.setBackMs ?? 0) - call.setBackMs;
    return Math.max(call.begunAt + call.limitMs, context?.thawedAt ?? 0) + slack + setBack;
  }
}

/** What the function of a `run` does, one after another, each under a key of its own. */
export const PARTS = ['charge', 'fee'];
const REPEATS = ['always', 'if-changed'] as const;
/** Clocks that are as right as clocks are. */
const CLOCKS_APART_MS = 600_000;
/** What a store and a wire of this world take at most to do their work. */
const SLACK_MS = 3000;
/** Each look and each write may take a store's time, before and behind the limit. */
const STORE_SLACK_MS = 60_000;

/** A guest's cart is the cart of who logs in. */
export const personOf = (user: string): string => (user === GUEST ? USERS[0] : user);

const print = (record: OnceRecord | undefined): string =>
  record
    ? `${record.state} ${record.key.slice(0, 8)} g${record.generation} r${record.revision}${record.state === 'pending' ? (record.ambiguous ? ' sent?' : ' clean') : ` ${record.ending?.type}`}`
    : 'nothing';
