/** What one client's calls share, and what one call brings. Types only. */
import type { OperationName } from '../core/name.js';
import type { OnceOptions } from '../option-types.js';
import type { Settings } from '../options.js';
import type { Platform, Store, Transport } from '../ports.js';
import type { Closing } from './closing.js';
import type { Extensions } from './extensions.js';
import type { Listener } from './observe.js';
import type { Parts } from './parts.js';
import type { Payload } from './payload.js';
import type { Registry } from './registry.js';
import type { Sweeps } from './sweep.js';

export interface Client {
  readonly settings: Settings;
  /** What it was made with, for clients that are extended from it. */
  readonly made: { readonly platform: Platform; readonly options: OnceOptions };
  readonly platform: Platform;
  readonly store: Store;
  /** The store was given to this client, and not to the one that it was extended from. */
  readonly ownsStore: boolean;
  /** Clients that were extended from this one. */
  readonly extensions: Extensions;
  /** Memory that belongs to `store`, for records whose first write failed there. */
  readonly fallback: () => Store;
  readonly transport: Transport;
  readonly registry: Registry;
  readonly listeners: Set<Listener>;
  /** What its features add. */
  readonly parts: Partial<Parts>;
  /** The settings for a request, where the dialect depends on it. */
  withDialect(settings: Settings, request: { readonly method: string; readonly url: string }): Settings;
  /** Aborted by `close()`: no new attempt, every wait is cut. */
  readonly closing: Closing;
  readonly sweeps: Sweeps;
  /** The digest of the namespace that was asked for last. */
  ns: { readonly of: string; readonly digest: string } | undefined;
  /** The last value of `namespace`; screens are told when it changes. */
  seen: unknown;
  /** Its name in leases; made at the first one. */
  owner: string | undefined;
}

/** Where an operation is: who asks for it, under which name, and its ids. */
export interface OperationAddress {
  readonly name: OperationName;
  readonly label: string;
  readonly namespace: string;
  /** Its key in the tables of this realm. */
  readonly operationKey: string;
  /** Its id in the store, if that is no digest of the name. */
  readonly id: string | undefined;
}

/** One call on its way to its outcome. */
export interface OperationRun extends Omit<OperationAddress, 'id'> {
  readonly address: OperationAddress;
  readonly client: Client;
  readonly settings: Settings;
  readonly id: string;
  readonly ns: string;
  /** Absent when there is nothing to send: a `resume` without a stored request. */
  readonly payload: Payload | undefined;
  readonly fingerprint: string;
  readonly raw: string;
  /** Aborted when no caller is left. */
  readonly stop: AbortSignal;
  readonly startedAt: number;
  readonly deadline: number;
  readonly resumeOnly: boolean;
  /** Another context holds the lock and does not release it, so this call goes on without. */
  readonly unlocked?: boolean | undefined;
}
