/** What the engine needs of the world around it. Types only; a platform, a store or a test supplies them. */

/** The fields of a record that a store may look at; it hands all others through untouched. */
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

/** `next`: what to store; `null` removes; absent leaves things as they are. */
export interface Changed<T> {
  readonly next?: Stored | null;
  readonly value: T;
}

/**
 * One step on one record: pure and synchronous. It gets what is stored (`undefined` when absent; anything at all when
 * it was damaged) and the store's own time in ms. It may be called more than once before a commit, and on a guess of both;
 * what its last call saw was so when the update ends, or is damaged if the store could not be looked at.
 */
export type Change<T> = (current: unknown, now: number) => Changed<T>;

/** `strict`: on the medium before the promise resolves. `relaxed`: handed to the operating system. */
export type Durability = 'strict' | 'relaxed';

/** What a committed record survives: the end of this context (page, realm), of the process, a crash of the machine, the failover of a server. */
export type Survives = 'context' | 'process' | 'machine' | 'failover';

/** Which records a scan looks for. */
export type ScanQuery =
  /**
   * Records of one namespace and state, ordered by label, then id. `prefix` is an exact start of the label's text, `after`
   * the JSON of `[label, id]` of a record that need not be there any more. `limit`: from 1.
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
  /** As stored. One whose id, ns, state, label or forgetAt is damaged is in no page, and breaks none. */
  readonly records: readonly unknown[];
  /** Hand it in as `after` for the next page; absent on the last one, and where `before` was asked. */
  readonly next?: string | undefined;
}

/**
 * Why a store could not do its work: what its rejections bear as `reason`. `quota`: full, earlier records are still there.
 * `newer`: what is there was written by a version that knows more, and was left as it is.
 */
export type StoreFaultReason = 'quota' | 'closed' | 'blocked' | 'denied' | 'timeout' | 'io' | 'corrupt' | 'newer';

/**
 * Where records live. Its contract is one atomic read-modify-write; `storeContract` of `oncefetch/testing` is the
 * contract as tests. Every method rejects when it could not do its work: "absent" and "could not look" are different.
 */
export interface Store {
  readonly kind: string;
  /**
   * Equal for any two objects that reach the same records from this context, and different for any that do not. Where tabs
   * share the records (`shared: 'origin'`), equal in all of them: locks are named by it.
   */
  readonly scope: string;
  readonly survives: Survives;
  /** Who may share the records: this context only, the contexts of one origin or machine, or many machines. */
  readonly shared: 'context' | 'origin' | 'machine' | 'cluster';
  /** Whether `update` is atomic among all who share the records. */
  readonly atomic: boolean;
  /** Where records are, if that is less than `survives` and `shared` make of it: in a server's memory. */
  storedIn?(): 'disk' | 'session';
  /**
   * `false` when the platform has no such store or refuses it by policy: the next one in a chain is taken, for good.
   * Rejects when that could not be found out.
   */
  available?(): Promise<boolean>;
  /** The store that does the work, once it is chosen; before that, a store that chooses makes the weakest claims. */
  ready?(): Promise<Store>;
  /**
   * The name under which other processes can ask {@link isGone} after this one, for leases. `undefined`: they can't.
   * It holds until the process dies or closes the store.
   */
  holder?(): Promise<string | undefined>;
  /** Whether the process of this holder is gone for sure; `false` where that can't be told. */
  isGone?(holder: string): Promise<boolean>;
  update<T>(id: string, change: Change<T>, options?: { readonly durability?: Durability | undefined }): Promise<T>;
  read(id: string): Promise<unknown>;
  scan(query: ScanQuery): Promise<ScanPage>;
  close(): Promise<void>;
}

/** Time, and waiting in it. */
export interface Clock {
  /** Wall clock, ms since 1970. */
  now(): number;
  /** Calls `fire` once after `ms`; the result cancels it. */
  timer(ms: number, fire: () => void): () => void;
}

/** A clock of the device, which people, time servers and a sleep may set. */
export interface DeviceClock extends Clock {
  /** Time that has passed since some moment, ms: whoever sets the wall clock does not change it. It may stand still while the device sleeps. */
  monotonic(): number;
}

export interface Randomness {
  /** Uniform in [0, 1). Only ever used to spread waits. */
  random(): number;
  /** A random UUID v4 from a cryptographic source. */
  uuid(): string;
}

/** SHA-256, lower-case hex. */
export type Digest = (data: string | Uint8Array) => string | Promise<string>;

export interface Locks {
  /** The release; `undefined` when it is held elsewhere and `wait` is false. Rejects when `signal` aborts the wait. */
  acquire(name: string, options: { readonly wait: boolean; readonly signal?: AbortSignal | undefined }): Promise<(() => void) | undefined>;
  /** The names of those that are held, here or elsewhere. */
  held?(): Promise<ReadonlySet<string>>;
}

/** Other tabs of this origin. Nothing but "look again" is said. */
export interface Tabs {
  tell(): void;
  /** Calls back when another tab says so, and when this one is shown or gets the focus. The result unsubscribes. */
  listen(look: () => void): () => void;
}

export interface Transport {
  send(url: string, init: RequestInit): Promise<Response>;
  /** True only if it is certain that no byte of this request left. */
  neverSent(error: unknown, init: RequestInit): boolean;
  /** True where the platform may send a request again without telling, so that an answer or an error is of one copy only. */
  mayResend(init: RequestInit): boolean;
}

/** Says whether the device is online: a hint that lengthens and shortens waits, and never a proof. */
export interface Connectivity {
  readonly kind: string;
  /** `false`: known to be offline. */
  online(): boolean | undefined;
  /** Calls back when waiting on is no longer sensible (online again, shown again). The result unsubscribes. */
  subscribe(wake: () => void): () => void;
}

export interface Platform {
  readonly clock: DeviceClock;
  readonly randomness: Randomness;
  readonly digest: Digest;
  /** Absent where contexts cannot exclude one another. */
  readonly locks?: Locks | undefined;
  readonly connectivity: Connectivity;
  /** Absent where there are no other tabs. */
  readonly tabs?: Tabs | undefined;
  transport(fetch: typeof globalThis.fetch | undefined): Transport;
  /** The absolute URL without its fragment, and its origin. Throws a TypeError on a relative one without a base. */
  resolve(url: string, base?: string): { readonly url: string; readonly origin: string };
  /** The page's own origin, where there is a page. */
  readonly origin?: string | undefined;
  /** Where a process's tools listen to every client's events. */
  readonly channel?: { readonly hasSubscribers: boolean; publish(event: unknown): void } | undefined;
  /** A store over `memory` that tells a developer that it ends with the process. */
  readonly forgets?: ((memory: Store) => Store) | undefined;
  /** Where a listener's own error goes. */
  report(error: unknown): void;
  /** True where many people's calls meet in one context. */
  readonly server: boolean;
  /** True where no request may wait for what another one began: calls meet in the store alone. */
  readonly isolated?: boolean;
  /** True in a service worker, which pages' own requests pass through. */
  readonly relay?: boolean;
}
