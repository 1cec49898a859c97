/** A tab, a worker or a process: a realm of its own, which can freeze, thaw and die at any await. */
import { hash } from 'node:crypto';
import type { Outcome } from '../../src/core/outcome.js';
import type { OnceRecord } from '../../src/core/record.js';
import type { Registry } from '../../src/engine/client.js';
import { outcomeOf } from '../../src/engine/outcome-of.js';
import { everything } from '../../src/everything.js';
import { createOn, type Once } from '../../src/once.js';
import type { OnceOptions } from '../../src/option-types.js';
import { nesting } from '../../src/platform/node/nesting.js';
import type { Platform } from '../../src/ports.js';
import type { MemoryMedium } from '../../src/stores/memory.js';
import type { Device } from './device.js';
import type { KeyFacts, OpFacts } from './facts.js';
import { Medium, storeOn } from './medium.js';
import { Random } from './random.js';
import type { ClientOptions } from './scenario.js';
import type { Screens } from './screens.js';
import type { Sweep } from './sweep.js';
import type { World } from './world.js';

const REGISTRY = Symbol.for('oncefetch');
const MEMORY = Symbol.for('oncefetch.memory');

/** `tab`: has Web Locks if its device has them, and cannot tell from fetch's rejection whether a request left. `process`: has no Web Locks, and can tell. */
export type ContextKind = 'tab' | 'process';

type Fate = 'lives' | 'dies-before' | 'dies-after';

export class Context {
  readonly id: string;
  /** The slot in which this context runs. A restart puts a new context into the same slot. */
  readonly slot: string;
  readonly device: Device;
  readonly kind: ContextKind;
  dead = false;
  frozen = false;
  closed = false;
  thawedAt = 0;
  /** How often its hooks were asked about each operation. */
  readonly asked = new Map<OpFacts, number>();
  /** When the last hook that this context waited for was asked, and when it answered. */
  hook = { askedAt: Number.NEGATIVE_INFINITY, answeredAt: Number.NEGATIVE_INFINITY };
  /** What the app's hooks sometimes do with the client before they answer. The app sets it at boot (`calls-back.ts`). */
  callBack = (_random: Random, _op?: OpFacts): Promise<unknown> | undefined => undefined;
  /** The number of the current attempt, as the client's last `attempt` event gave it. */
  attempt = 1;
  /** The key of the last attempt of each operation, as the client's events gave it: a function of `run` that reads its key says that it has used it. */
  readonly keys = new Map<OpFacts, KeyFacts>();
  /**
   * The port call at which this context dies: twice the number of the call to die before it does anything, plus one to die right after it.
   * -1: chance decides.
   */
  dieAt = -1;
  ports = 0;
  once!: Once;
  /** The client options of this release of the app. */
  client!: ClientOptions;
  /** A second client with other options over the same store. */
  other: Once | undefined;
  /** What this page shows, if the world has screens. */
  screens: Screens | undefined;
  /** Listeners of the screens in this page. Each is called when the screen should read its record again. */
  readonly looks = new Set<() => void>();
  /** The run of `resume` through all pending operations that is under way in this context. */
  sweep: Sweep | undefined;
  /** The user whose session this page still has, if it is not that of the device. */
  session: string | undefined;
  /** Called when this context dies. */
  readonly mourners = new Set<() => void>();
  readonly #world: World;
  readonly #random: Random;
  readonly #realm: { registry?: unknown; memory: MemoryMedium };
  readonly #memory = new Map<string, OnceRecord>();
  readonly #wakes = new Set<() => void>();
  #held: { run: (() => void) | undefined }[] = [];

  constructor(world: World, id: string, slot: string, kind: ContextKind, device: Device) {
    this.#world = world;
    this.id = id;
    this.slot = slot;
    this.kind = kind;
    this.device = device;
    this.#random = new Random(world.seed).of('context', id);
    this.#realm = { memory: this.#memoryMedium() };
    device.contexts.add(this);
  }

  /** The registry that all clients of this context share in memory. */
  get registry(): Registry | undefined {
    return this.#realm.registry as Registry | undefined;
  }

  /** What this context keeps in its memory because the store did not take it. */
  get kept(): readonly OnceRecord[] {
    return [...this.#memory.values()];
  }

  /** The user whose session it is, for its namespace and for the server. */
  get user(): string {
    return this.session ?? this.device.user;
  }

  boot(options: OnceOptions): this {
    this.once = this.make(options);
    return this;
  }

  /** Makes a client. `which`: its name, if it is not the only one. */
  make(options: OnceOptions, ...which: readonly string[]): Once {
    const { medium, options: of } = this.device;
    const store = storeOn(this.#world, medium, this, { atomic: of.atomic, scope: 'simulated' });
    return this.enter(() => createOn(this.#platform(), { store, ...this.features(options, ...which) }));
  }

  /** The options of the client, and those of the second one, if there is one. */
  get releases(): readonly ClientOptions[] {
    const { client } = this;
    return client.other ? [client, { ...client, ...client.other } as ClientOptions] : [client];
  }

  /** The client through which the app does something by hand: if the second one was made by itself, either. */
  get anyOnce(): Once {
    const { other, closed } = this;
    return other && this.client.apart && !closed && this.#world.random.of('any', this.id, this.#world.time.now).chance(0.5) ? other : this.once;
  }

  /** Some releases of the app store no requests or no answers, and meet records in which another release stored them. */
  protected features(options: OnceOptions, ...which: readonly string[]): OnceOptions {
    const { client } = this;
    const random = new Random(this.#world.seed).of('features', this.id, ...which);
    /** Features by one of their parts. */
    const lacks = [...(random.chance(0.3) ? ['answers'] : []), ...(random.chance(0.3) && client.consentMs === undefined ? ['requests'] : [])];
    const idle = {
      poll: options.accepted !== 'poll',
      ask: !options.reconcile,
      hooks: !options.headers && !options.verdict && typeof options.dialect !== 'function' && !client.picks && client.keys !== 'derived',
      retry: true,
    };
    // A release may also leave out features that its options do not use.
    for (const [part, unused] of Object.entries(idle)) if (random.chance(0.3) && unused) lacks.push(part);
    const { use: own = [] } = options;
    if (client.other && !client.apart) return { ...options, use: [...everything(), ...own] };
    const keep = { ...options.keep, ...(lacks.includes('requests') && { request: false }), ...(lacks.includes('answers') && { response: undefined }) };
    return { ...options, use: [...everything().filter(({ parts }) => !lacks.some((part) => part in parts)), ...own], keep };
  }

  /** Runs `work` with this context's two globals of oncefetch. oncefetch reads them synchronously only, so they are put back when `work` returns. */
  enter<T>(work: () => T): T {
    const globals = globalThis as { [REGISTRY]?: unknown; [MEMORY]?: unknown };
    const outer = [globals[REGISTRY], globals[MEMORY]];
    globals[REGISTRY] = this.#realm.registry;
    globals[MEMORY] = this.#realm.memory;
    try {
      return work();
    } finally {
      this.#realm.registry = globals[REGISTRY];
      [globals[REGISTRY], globals[MEMORY]] = outer;
    }
  }

  outcomeOf(answer: unknown): Outcome | undefined {
    return this.enter(() => outcomeOf(answer));
  }

  /** Called before this context reads a record. The exploration overrides it for its judges. */
  looksAt(_id: string): void {}

  /**
   * Called when a store reads a record for a write that it makes later, or never, so that no answer of a port shows what was read. The
   * exploration overrides it.
   */
  shows(_stored: unknown): void {}

  /** Schedules an event of this context. The event waits while the context is frozen, and never happens once the context is dead. */
  later(ms: number, run: () => void): () => void {
    const entry: { run: (() => void) | undefined } = { run };
    const callOff = this.#world.time.after(ms, () => {
      if (this.dead) return;
      if (this.frozen) this.#held.push(entry);
      else entry.run?.();
    });
    return () => {
      entry.run = undefined;
      callOff();
    };
  }

  readonly sleep = (ms: number): Promise<void> => new Promise((resolve) => void this.later(ms, resolve));

  /**
   * One call to the world outside of the context. At each the context may freeze, or die: before the call has done anything, or after it,
   * so that nobody is left to hear the answer.
   */
  /** Whether the lock manager never answers the present request. */
  lockHangs(): boolean {
    const { faults } = this.#world;
    return faults.hits(faults.occasion(`${this.slot} lock`), 'lockHangs');
  }

  port<T>(place: string, start: (resolve: (value: T) => void, reject: (reason: unknown) => void) => void, at: 'once' | 'soon' = 'soon'): Promise<T> {
    const random = this.#world.faults.occasion(`${this.slot} port`);
    const fate = this.#fate(random);
    if (this.dead) return new Promise(() => {});
    this.#world.log(() => `${this.id} ${place}`);
    return new Promise((resolve, reject) => {
      const settle = (tell: () => void): void => {
        if (fate === 'dies-after') this.kill();
        else this.later(random.int(0, 2), tell);
      };
      const begin = (): void =>
        start(
          (value) => settle(() => resolve(value)),
          (reason) => settle(() => reject(reason)),
        );
      // A request leaves at once, whatever happens to the context then.
      if (at === 'once') begin();
      else this.later(random.int(0, 1), begin);
    });
  }

  freeze(ms: number): void {
    if (this.dead || this.frozen) return;
    this.frozen = true;
    this.#world.log(() => `${this.id} freezes for ${ms} ms`);
    this.#world.time.after(ms, () => this.thaw());
  }

  thaw(): void {
    if (!this.frozen || this.dead) return;
    this.frozen = false;
    this.thawedAt = this.#world.time.now;
    this.#world.log(() => `${this.id} thaws`);
    const held = this.#held;
    this.#held = [];
    for (const entry of held) this.later(0, () => entry.run?.());
    this.wakeUp();
    this.lookAgain();
  }

  /** None of the context's promises ever settles. Its locks are released, and records that were only in its memory are lost. */
  kill(): void {
    if (this.dead) return;
    this.dead = true;
    this.#world.log(() => `${this.id} dies`);
    this.#held = [];
    this.device.contexts.delete(this);
    this.device.locks?.free(this);
    for (const record of this.#memory.values()) this.#world.committed(record, undefined, this.id, true, 'died');
    for (const mourn of this.mourners) mourn();
  }

  /** The device is online again, or the page is shown again. */
  wakeUp(): void {
    for (const wake of [...this.#wakes]) this.later(0, wake);
  }

  /** The page is shown again, or another tab told it to look. */
  lookAgain(): void {
    for (const look of this.looks) this.later(0, look);
  }

  #fate(random: Random): Fate {
    const { faults } = this.#world;
    const at = 2 * this.ports++;
    const dies = faults.hits(random, 'killed') || this.dieAt === at || this.dieAt === at + 1;
    const after = this.dieAt < 0 ? random.chance(0.5) : this.dieAt === at + 1;
    if (this.dieAt === at || this.dieAt === at + 1) faults.count('killed');
    if (dies && !after) this.kill();
    if (faults.hits(random, 'frozen')) this.freeze(random.int(1, faults.rates.frozenMsMax ?? 60_000));
    return dies ? (after ? 'dies-after' : 'dies-before') : 'lives';
  }

  #platform(): Platform {
    const { device, kind } = this;
    const world = this.#world;
    const sha256 = (data: string | Uint8Array): string => hash('sha256', data, 'hex');
    return {
      clock: { now: () => device.wall(), monotonic: () => world.time.now, timer: (ms, fire) => this.later(ms, fire) },
      randomness: { random: () => this.#random.next(), uuid: () => this.#random.uuid() },
      digest: kind === 'tab' ? async (data) => sha256(data) : sha256,
      locks: kind === 'tab' ? device.locks?.for(this) : undefined,
      connectivity: {
        online: () => (kind === 'tab' ? device.online : undefined),
        subscribe: (wake) => {
          this.#wakes.add(wake);
          return () => void this.#wakes.delete(wake);
        },
      },
      tabs: kind === 'tab' && world.options.screens ? device.tabsOf(this) : undefined,
      transport: () => ({
        send: (url, init) => world.network.send(this, url, init),
        // As on the real platforms: a page cannot tell that nothing was sent, and Node can only tell for a request that follows no redirect.
        neverSent: (error, init) =>
          kind === 'process' && init.redirect === 'manual' && (error as { cause?: { code?: string } })?.cause?.code === 'ECONNREFUSED',
        // A browser repeats a request by itself when the connection that it chose turns out to be dead.
        mayResend: () => kind === 'tab',
      }),
      resolve: (url, base) => {
        const { href, origin } = new URL(url, base);
        return { url: href, origin };
      },
      report: (error) => world.reported(this, error),
      server: kind === 'process',
      nesting: kind === 'process' ? nesting : undefined,
    };
  }

  /** The memory of this realm. It holds the records that the store refused. */
  #memoryMedium(): MemoryMedium {
    const scratch = new Medium(this.#world);
    return {
      scope: `memory:${this.id}`,
      get: (id) => this.#memory.get(id),
      set: (id, value) => {
        const before = this.#memory.get(id);
        if (value === null) this.#memory.delete(id);
        else this.#memory.set(id, value as OnceRecord);
        this.#world.committed(before, (value ?? undefined) as OnceRecord | undefined, this.id, true, 'written');
      },
      scan: (query) => {
        scratch.records.clear();
        for (const [id, record] of this.#memory) scratch.records.set(id, record);
        return scratch.scan(query);
      },
    };
  }
}
