/**
 * One context: a tab, a worker, a process. It has its own realm (in-flight table, default memory), clock and transport,
 * and shares storage, locks and server with the others of its world. It can be killed at any await, frozen and thawed.
 */
import { createHash } from 'node:crypto';
import { generic } from '../../src/dialects/generic.js';
import { type OnceOptions, type Outcome, outcomeOf } from '../../src/entries/index.js';
import { everything } from '../../src/everything.js';
import { createOn, type Once } from '../../src/once.js';
import { resolveUrl } from '../../src/platform/shared.js';
import type { DeviceClock, Durability, Platform, Store, Stored } from '../../src/ports.js';
import { type MemoryMedium, memoryMedium, memoryStore } from '../../src/stores/memory.js';
import { faultyStore, StoreFaults } from '../../src/testing/faulty-store.js';
import { NeverConnected } from './server.js';
import type { World } from './world.js';

export interface TabOptions {
  readonly name?: string | undefined;
  /** `false`: contexts cannot exclude one another. @default true */
  readonly locks?: boolean | undefined;
  /** The context is a server, in which the calls of many users meet. Its store has a clock of its own. @default false */
  readonly server?: boolean | undefined;
  /** The store has a clock of its own, which is right. @default server */
  readonly ownClock?: boolean | undefined;
  /** The platform may repeat a request unseen, as browsers do. @default false */
  readonly resends?: boolean | undefined;
  /** What the store says of itself. @default { survives: 'process', shared: 'origin', atomic: true } */
  readonly claims?: Partial<Pick<Store, 'survives' | 'shared' | 'atomic' | 'ownClock'>> | undefined;
}

const REALM = [Symbol.for('oncefetch'), Symbol.for('oncefetch.memory')] as const;

/** The dialect of the scripted server: guests and users share its keys, so the key of a guest's operation still counts after the log-in. */
const SHARED_KEYS = generic({ perAccount: false });

let tabs = 0;

export class Tab {
  readonly name: string;
  readonly world: World;
  readonly faults = new StoreFaults();
  readonly store: Store;
  readonly platform: Platform;
  /** Errors that a listener or hook threw. */
  readonly reported: unknown[] = [];
  /** Whether the device says that it is online. */
  online: boolean | undefined = undefined;
  /** By how much the device's clock is wrong, ms. */
  skewMs = 0;
  readonly #options: TabOptions;
  readonly #realm = new Map<symbol, unknown>();
  /** Records that are in memory only, because the store refused them. */
  readonly degraded = new Map<string, unknown>();
  readonly #memory = noting(memoryMedium('memory'), this.degraded);
  readonly #wakers = new Set<() => void>();
  readonly #number = ++tabs;
  #uuids = 0;
  #state: 'running' | 'frozen' | 'dead' = 'running';
  #thaw: Promise<void> = Promise.resolve();
  #thawed: () => void = () => {};

  constructor(world: World, options: TabOptions = {}) {
    this.world = world;
    this.name = options.name ?? `tab ${this.#number}`;
    this.#options = options;
    this.#realm.set(REALM[1], this.#memory);
    this.store = this.#storage(options.claims);
    this.platform = this.#platform();
  }

  /** A client in this tab. */
  once(options: OnceOptions = {}): Once {
    return this.in(() => createOn(this.platform, { store: this.store, use: everything(), dialect: SHARED_KEYS, ...options }));
  }

  /** The tab's own fetch, for calls that oncefetch has nothing to do with. */
  readonly fetch: typeof globalThis.fetch = (input, init = {}) => this.#send(typeof input === 'object' && 'url' in input ? input.url : String(input), init);

  /** What `outcomeOf` says in this tab. */
  outcomeOf(of: unknown): Outcome | undefined {
    return this.in(() => outcomeOf(of));
  }

  /** Runs something synchronous in this tab's realm. */
  in<T>(work: () => T): T {
    const realm = globalThis as unknown as Record<symbol, unknown>;
    const outside = REALM.map((symbol) => realm[symbol]);
    for (const symbol of REALM) realm[symbol] = this.#realm.get(symbol);
    try {
      return work();
    } finally {
      for (const [index, symbol] of REALM.entries()) {
        this.#realm.set(symbol, realm[symbol]);
        realm[symbol] = outside[index];
      }
    }
  }

  /** The tab is closed, crashes or navigates away: none of its promises settles any more, and its locks are released. */
  kill(): void {
    this.#state = 'dead';
    this.world.locks.die(this);
  }

  /** Kills the tab and opens the page again in a new one. */
  reload(): Tab {
    this.kill();
    const next = new Tab(this.world, { ...this.#options, name: `${this.name}, reloaded` });
    next.skewMs = this.skewMs;
    next.online = this.online;
    return next;
  }

  /** Stops everything in the tab until {@link thaw}. The tab keeps its locks. */
  freeze(): void {
    this.#state = 'frozen';
    this.#thaw = new Promise((resolve) => void (this.#thawed = resolve));
  }

  thaw(): void {
    this.#state = 'running';
    this.#thawed();
  }

  /** The device says that its connection changed. */
  connect(online: boolean | undefined): void {
    this.online = online;
    this.wake();
  }

  wake(): void {
    for (const wake of [...this.#wakers]) wake();
  }

  /** Runs `act` at the `count`th crossing from now: each call to the storage, the locks or the network crosses twice, there and back. The first is 1. */
  at(count: number, act: () => void): void {
    this.#due = { count: this.crossings + count, act };
  }

  /** How often the tab has crossed to storage, locks and the network and back so far. */
  crossings = 0;
  #due: { readonly count: number; readonly act: () => void } | undefined;

  #note(): void {
    if (++this.crossings !== this.#due?.count) return;
    const { act } = this.#due;
    this.#due = undefined;
    act();
  }

  /** Waits while the tab is frozen, and for ever if it is dead. */
  async #pass(): Promise<void> {
    if (this.#state === 'frozen') await this.#thaw;
    if (this.#state === 'dead') await new Promise(() => {});
  }

  /** Every call to the world outside of the tab. The tab may freeze or die before it and after it. */
  readonly #cross = async <T>(work: () => T | Promise<T>): Promise<T> => {
    this.#note();
    await this.#pass();
    try {
      return await work();
    } finally {
      this.#note();
      await this.#pass();
    }
  };

  #storage(claims: TabOptions['claims']): Store {
    const { medium, writes } = this.world;
    const { server, ownClock = server } = this.#options;
    const memory = memoryStore({ medium, now: () => (ownClock ? this.world.clock : this.#clock).now() });
    const noting: Store = {
      ...memory,
      kind: 'disk',
      survives: 'process',
      shared: 'origin',
      ...claims,
      update: (id, change, options) =>
        memory.update(
          id,
          (current, now) => {
            const changed = change(current, now);
            if (changed.next !== undefined) writes.push({ from: this.name, id, next: changed.next, durability: options?.durability });
            return changed;
          },
          options,
        ),
    };
    const faulty = faultyStore(noting, { faults: this.faults, clock: this.world.clock });
    return {
      ...noting,
      update: (...call) => this.#cross(() => faulty.update(...call)) as Promise<never>,
      read: (id) => this.#cross(() => faulty.read(id)),
      scan: (query) => this.#cross(() => faulty.scan(query)),
    };
  }

  readonly #clock: DeviceClock = {
    now: () => this.world.clock.now() + this.skewMs,
    monotonic: () => this.world.clock.monotonic(),
    timer: (ms, fire) => this.world.clock.timer(ms, () => void this.#pass().then(fire)),
  };

  #platform(): Platform {
    const { world } = this;
    return {
      clock: this.#clock,
      randomness: { random: () => world.random(), uuid: () => `00000000-0000-4000-8000-${String(this.#number * 1000 + ++this.#uuids).padStart(12, '0')}` },
      digest: async (data) => createHash('sha256').update(data).digest('hex'),
      locks: this.#options.locks === false ? undefined : { acquire: (name, signal) => this.#cross(() => world.locks.acquire(this, name, signal)) },
      connectivity: {
        online: () => this.online,
        subscribe: (wake) => {
          this.#wakers.add(wake);
          return () => this.#wakers.delete(wake);
        },
      },
      transport: (fetch) => ({
        send: (url, init) => (fetch ? fetch(url, init) : this.#send(url, init)),
        mayResend: () => this.#options.resends ?? false,
        neverSent: (error) => error instanceof NeverConnected,
      }),
      resolve: (url, base) => resolveUrl(url, base ?? (this.#options.server ? undefined : 'https://shop.example/checkout')),
      origin: 'https://shop.example',
      report: (error) => void this.reported.push(error),
      server: this.#options.server ?? false,
    };
  }

  #send(url: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    const arrival = {
      from: this.name,
      method: init.method ?? 'GET',
      url,
      key: this.world.keyOf({ url, headers, body: init.body }),
      headers,
      body: init.body ?? null,
      at: this.#clock.now(),
      signal: init.signal ?? new AbortController().signal,
    };
    return this.#cross(() => {
      this.world.arrives(arrival, [...this.degraded.values()]);
      return this.world.server.receive(arrival);
    });
  }
}

const noting = (medium: MemoryMedium, seen: Map<string, unknown>): MemoryMedium => ({
  ...medium,
  beside: (scope) => noting(medium.beside?.(scope) ?? medium, seen),
  set(id, value) {
    medium.set(id, value);
    seen.set(id, value);
  },
});

/** One write that a tab made. */
export interface Write {
  readonly from: string;
  readonly id: string;
  readonly next: Stored | null;
  readonly durability: Durability | undefined;
}
