/** What all clients and all copies of the package in one realm share. */
import type { Outcome } from '../core/outcome.js';
import type { Store } from '../ports.js';
import type { InFlightOperation } from './in-flight.js';
import type { ObservableState } from './observe.js';
import type { Payload, Result } from './payload.js';

export interface Registry {
  /** Operations under way, by operation key. */
  readonly flights: Map<string, InFlightOperation>;
  /** What screens see, by operation key. */
  readonly lives: Map<string, ObservableState>;
  /** Screens, which look again when they are told to. `elsewhere`: what is stored may have changed in another tab. */
  readonly screens: Set<(elsewhere: boolean) => void>;
  /** Answers of settled operations, the oldest first, by operation key and idempotency key. */
  readonly answers: Map<string, Result>;
  /** Payloads of operations that have not settled, by operation key and idempotency key, then by fingerprint. */
  readonly payloads: Map<string, Map<string, Payload>>;
  /** The memory for records whose first write failed, by operation key. */
  readonly degraded: Map<string, Store>;
  /** What is left of each origin's retry budget. */
  readonly budgets: Map<string, number>;
  /** The latest call without a key, by URL. */
  readonly latest: Map<string, symbol>;
  /** Diagnostics told, and endpoints that ignore keys. */
  readonly noticed: Set<string>;
  readonly ignored: Set<string>;
  readonly outcomes: WeakMap<object, Outcome>;
}

/** Tells every screen of this realm to look again: soon, because this may be in the middle of a screen's own rendering. */
export function look({ screens }: Registry, elsewhere = false): void {
  if (screens.size) void Promise.resolve().then(() => [...screens].map((screen) => screen(elsewhere)));
}

/** Adds to one of the tables above, and drops the oldest entries beyond `max`. */
export function keepRecent<T>(table: Map<string, T>, key: string, value: T, max: number): void {
  table.delete(key);
  table.set(key, value);
  for (const oldest of table.keys()) {
    if (table.size <= max) break;
    table.delete(oldest);
  }
}

const KEY = Symbol.for('oncefetch');

const blank = (): Registry => ({
  flights: new Map(),
  lives: new Map(),
  screens: new Set(),
  answers: new Map(),
  payloads: new Map(),
  degraded: new Map(),
  budgets: new Map(),
  latest: new Map(),
  noticed: new Set(),
  ignored: new Set(),
  outcomes: new WeakMap(),
});

/** Created at first use, never on import. An older copy of the package may have created it with fewer tables. */
export function registry(): Registry {
  const realm = globalThis as { [KEY]?: Partial<Registry> };
  realm[KEY] ??= {};
  for (const [name, table] of Object.entries(blank())) (realm[KEY] as Record<string, unknown>)[name] ??= table;
  return realm[KEY] as Registry;
}
