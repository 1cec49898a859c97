/** Interfaces of what the engine needs from outside. Types only; platforms, stores and tests implement them. */

/** The fields of a record that a store may look at. It must keep all others as they are. */
export interface Stored {
  readonly id: string;
  /** Digest of the namespace; records of different namespaces never meet in a scan. */
  readonly ns: string;
  readonly state: 'pending' | 'settled' | 'retired';
  /** The operation's name as text (see `core/name.ts`), or `~` and the fingerprint of an unnamed one. */
  readonly label: string;
  /** Wall clock, ms: when the sweep may remove it. */
  readonly forgetAt: number;
}

/** The result of a change. `next`: what to store, frozen, so copy it to add a member; `null` removes the record; absent changes nothing. */
export interface Changed<T> {
  readonly next?: Stored | null | undefined;
  readonly value: T;
}

/**
 * One change of one record: pure and synchronous. It gets what is stored (`undefined` if absent; anything at all if damaged) and the
 * store's own time in ms. A store may call it several times before it commits, and with guesses of both. What the last call gets must
 * be true when the update ends; if the store could not be read, the last call gets a damaged record.
 */
export type Change<T> = (current: unknown, now: number) => Changed<T>;

/** `strict`: the record is on the medium before the promise resolves. `relaxed`: it has been handed to the operating system. */
export type Durability = 'strict' | 'relaxed';

/**
 * How long a committed record lives: as long as this context (page, realm); beyond the end of the process; a crash of the machine; or the
 * failover of a server.
 */
export type Survives = 'context' | 'process' | 'machine' | 'failover';

/** Which records a scan looks for. */
export type ScanQuery =
  /**
   * Records of one namespace and state, ordered by label, then id, both by UTF-16 units, as `<` compares text. `prefix`: what the label's
   * text begins with. `after`: the JSON of `[label, id]` of a record, which need not exist any more. `limit`: at least 1.
   */
  | {
      readonly ns: string;
      readonly state: Stored['state'];
      readonly prefix?: string | undefined;
      readonly after?: string | undefined;
      readonly limit: number;
    }
  /** Records of every namespace whose `forgetAt` is before this time, the oldest first. */
  | { readonly before: number; readonly limit: number };

/** One page of a scan. */
export interface ScanPage {
  /** The records as stored. One whose id, ns, state, label or forgetAt is damaged is in no page, and must not make a scan fail. */
  readonly records: readonly unknown[];
  /** The `after` for the next page; absent on the last page, and for a query with `before`. */
  readonly next?: string | undefined;
}

/**
 * Why a store could not do its work: the `reason` of its rejections. `quota`: the store is full; earlier records are still there.
 * `newer`: the stored data was written by a newer version, and was not changed.
 */
export type StoreFaultReason = 'quota' | 'closed' | 'blocked' | 'denied' | 'timeout' | 'io' | 'corrupt' | 'newer';

/**
 * Where records live. Its contract is essentially one atomic read-modify-write; `storeContract` of `oncefetch/testing` tests it. Every
 * method rejects if it could not do its work, because "absent" and "could not look" are different.
 */
export interface Store {
  readonly kind: string;
  /**
   * Names the set of records: equal for two store objects in this context if they reach the same records, and different otherwise. If
   * tabs share the records (`shared: 'origin'`), it must be equal in all of them, because it is part of the names of locks.
   */
  readonly scope: string;
  readonly survives: Survives;
  /** Who shares the records: nobody but this context, the contexts of one origin, those of one machine, or many machines. */
  readonly shared: 'context' | 'origin' | 'machine' | 'cluster';
  /** Whether `update` is atomic among all contexts that share the records. */
  readonly atomic: boolean;
  /**
   * Whether the time that changes get is that of a server, which nobody sets on this machine. Without it, that time proves nothing about
   * how old a refusal is: somebody may have set the clock. @default false
   */
  readonly ownClock?: boolean | undefined;
  /** Where records really are, if that differs from what `survives` and `shared` suggest, such as a server's memory. */
  storedIn?(): 'disk' | 'session';
  /**
   * `false` if the platform has no such store or refuses it by policy; the chain then uses its next store from there on. Rejects if the
   * store could not find that out.
   */
  available?(): Promise<boolean>;
  /** Only of a store that chooses among others: the chosen one. Until then, its own members (`survives`, `shared`, `atomic`) promise the least. */
  ready?(): Promise<Store>;
  /**
   * The name of this process in leases, by which other processes can ask {@link isGone} whether it is gone; `undefined` if they can't.
   * It is valid until the process dies or closes the store.
   */
  holder?(): Promise<string | undefined>;
  /** Whether the process with this name is certainly gone; `false` if the store can't tell. */
  isGone?(holder: string): Promise<boolean>;
  update<T>(id: string, change: Change<T>, options?: { readonly durability?: Durability | undefined }): Promise<T>;
  read(id: string): Promise<unknown>;
  scan(query: ScanQuery): Promise<ScanPage>;
  close(): Promise<void>;
}

/** Tells the time, and sets timers. */
export interface Clock {
  /** Wall clock, ms since 1970. */
  now(): number;
  /** Calls `fire` once after `ms`; the result cancels it. */
  timer(ms: number, fire: () => void): () => void;
}

/** A device's clock, whose time people and time servers may set, and which may jump after a sleep. */
export interface DeviceClock extends Clock {
  /** The time since some fixed moment, ms. Setting the wall clock does not change it. It may stand still while the device sleeps. */
  monotonic(): number;
}

export interface Randomness {
  /** Uniform in [0, 1). Used only to spread waits and sweeps, never for keys. */
  random(): number;
  /** A random UUID v4 from a cryptographic source. */
  uuid(): string;
}

/** SHA-256, lower-case hex. */
export type Digest = (data: string | Uint8Array) => string | Promise<string>;

export interface Locks {
  /** Takes the lock, and gives its release. With `signal` it waits for the lock, and rejects when that aborts; without one, it gives `undefined` if the lock is held elsewhere. */
  acquire(name: string, signal?: AbortSignal): Promise<(() => void) | undefined>;
  /** The locks that are held, here or elsewhere. */
  query?(): Promise<Pick<LockManagerSnapshot, 'held'>>;
}

/** A channel on which the tabs of an origin hear each other, but not themselves. */
export type TabChannel = Pick<BroadcastChannel, 'onmessage' | 'postMessage' | 'close'>;

/** Other tabs of this origin, and what happens to this one. */
export interface Tabs {
  /** A channel to the other tabs; `undefined` if the browser has none or refuses it to this page. */
  open(): TabChannel | undefined;
  /** Calls back on events of the window and of the document, by their types; on `visibilitychange` only when the page is shown. The result unsubscribes. */
  listening(heard: Readonly<Record<string, () => void>>): () => void;
}

export interface Transport {
  send(url: string, init: RequestInit): Promise<Response>;
  /** True only if it is certain that no byte of this request was sent. */
  neverSent(error: unknown, init: RequestInit): boolean;
  /** True if a request may be sent twice unseen, so that an answer is about one copy only. `carrier`: where its key is; empty without one. */
  mayResend(init: RequestInit, carrier?: string): boolean;
}

/** Tells whether the device is online. This is only a hint, which makes waits longer or shorter; it never proves anything. */
export interface Connectivity {
  /** `false` if the device is known to be offline, `undefined` if nothing is known. */
  online(): boolean | undefined;
  /** Calls back when there is no reason to wait any longer (online again, shown again). The result unsubscribes. */
  subscribe(wake: () => void): () => void;
}

/** Calls of one operation that a function has made. `open`: how many of them have no outcome yet. `effect`: what the last outcome said. */
export interface NestedCalls {
  open: number;
  effect: 'done' | 'none' | 'unknown';
}

/** The function of an operation that is at work. */
export interface Nested {
  readonly operation: string;
  /** The calls that it has made and that may have had an effect, by operation. */
  readonly calls: Map<string, NestedCalls>;
  /** Whether another driver has taken its operation over. */
  overtaken(): Promise<boolean>;
}

/** Tells inside of which functions of operations the caller is. */
export interface Nesting {
  run<T>(nested: Nested, work: () => T): Promise<Awaited<T>>;
  /** The innermost first. */
  around(): readonly Nested[];
}

export interface Platform {
  readonly clock: DeviceClock;
  readonly randomness: Randomness;
  readonly digest: Digest;
  /** Absent if contexts have no common lock manager. */
  readonly locks?: Locks | undefined;
  readonly connectivity: Connectivity;
  /** Absent if there are no other tabs. */
  readonly tabs?: Tabs | undefined;
  transport(fetch: typeof globalThis.fetch | undefined): Transport;
  /** The absolute URL without its fragment, and its origin. Throws a TypeError on a relative one without a base. */
  resolve(url: string, base?: string): { readonly url: string; readonly origin: string };
  /** The page's own origin, if there is a page. */
  readonly origin?: string | undefined;
  /** The channel on which tools of the process hear the events of every client. */
  readonly channel?: { readonly hasSubscribers: boolean; publish(event: unknown): void } | undefined;
  /** Absent if the platform can't tell that, or not cheaply. */
  readonly nesting?: Nesting | undefined;
  /** Called with the signal of each call. Many calls may share one, so the platform must not warn that it has many listeners. */
  readonly shares?: ((signal: AbortSignal) => void) | undefined;
  /** Wraps `memory` in a store that warns the developer that its records end with the process. */
  readonly forgets?: ((memory: Store) => Store) | undefined;
  /** Reports an error that a listener or hook of the app threw. Never throws. */
  report(error: unknown): void;
  /** True if one context makes calls for many users. */
  readonly server: boolean;
  /** True if a request must not wait for what another request began: then calls meet only in the store. */
  readonly isolated?: boolean;
  /** True in a service worker, through which requests of pages pass. */
  readonly relay?: boolean;
}
