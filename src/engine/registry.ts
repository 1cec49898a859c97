/** What all clients and all copies of the package in one realm share. */

import type { Namespace, OperationKey } from '../core/ids.js';
import type { Client, Registry } from './client.js';

/**
 * Tells every screen of this realm to look again. Not synchronously, because this may be called while a screen renders. `stored`: whether
 * it must read the store: each one (`true`), or that of this operation only.
 */
export function refreshScreens({ screens }: Registry, stored: boolean | OperationKey = false): void {
  if (screens.size) void Promise.resolve().then(() => [...screens].map((screen) => screen(stored)));
}

/** Adds an entry to a table as its newest, and drops the oldest ones beyond `max`; `dropped` gets their values. */
export function keepRecent<Key, T>(table: Map<Key, T>, key: Key, value: T, max: number, dropped?: (value: T) => unknown): void {
  table.delete(key);
  table.set(key, value);
  for (const [oldest, old] of table) {
    if (table.size <= max) break;
    table.delete(oldest);
    dropped?.(old);
  }
}

/** How many operations keep their payloads, their records or, before there is a screen, their states in this realm's memory. */
export const OPERATIONS_MAX = 32;
/** How many places this realm remembers something of, such as endpoints that ignore keys: a server may have one for each order. */
export const PLACES_MAX = 1000;

const nameOfLogOuts = ({ store }: Client, namespace: Namespace): string => `${store.scope} ${namespace}`;

/** How often this user has logged out in this realm. */
export const logOutsOf = (client: Client, namespace: Namespace): number => client.registry.logOuts.get(nameOfLogOuts(client, namespace)) ?? 0;

/** How many users' log-outs a realm remembers: many, because a process serves many users, and only calls under way need them. */
const LOG_OUTS_MAX = 10_000;

/** Notes a log-out. What this user has begun in this realm by now, and what waits, begins nothing any more. */
export function noteLogOut(client: Client, namespace: Namespace): void {
  keepRecent(client.registry.logOuts, nameOfLogOuts(client, namespace), logOutsOf(client, namespace) + 1, LOG_OUTS_MAX);
}

/**
 * All copies of the package find the tables by this symbol, copies of other versions too. If what a table holds gets another type, change
 * this name, because the other versions would misread the table.
 */
const KEY = Symbol.for('oncefetch');

/** The registry of this realm. It is created at first use, never on import. An older copy of the package may have created it with fewer tables. */
export function registry(): Registry {
  const realm = globalThis as { [KEY]?: Partial<Registry> };
  realm[KEY] ??= {};
  return Object.assign(realm[KEY], {
    flights: new Map(),
    screens: new Set(),
    answers: new Map(),
    payloads: new Map(),
    lastKnown: new Map(),
    states: new Map(),
    degraded: new Map(),
    budgets: new Map(),
    latest: new Map(),
    noticed: new Map(),
    ignored: new Map(),
    logOuts: new Map(),
    hearing: {},
    outcomes: new WeakMap(),
    ...realm[KEY],
  });
}
