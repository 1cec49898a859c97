/** What all clients and all copies of the package in one realm share. */
import type { Outcome } from '../core/outcome.js';
import type { Store } from '../ports.js';
import type { Flight } from './flight.js';
import type { Live } from './observe.js';
import type { Prepared, Result } from './prepared.js';

export interface Registry {
  /** Operations under way, by slot. */
  readonly flights: Map<string, Flight>;
  /** What screens see, by slot. */
  readonly lives: Map<string, Live>;
  /** Answers of settled operations, the oldest first, by slot and key. */
  readonly answers: Map<string, Result>;
  /** Requests of operations that have not settled, by slot and key, then by fingerprint. */
  readonly requests: Map<string, Map<string, Prepared>>;
  /** Where records live whose first write failed, by slot. */
  readonly degraded: Map<string, Store>;
  readonly outcomes: WeakMap<object, Outcome>;
}

/** Adds to one of the tables above, which forgets its oldest entry beyond `max`. */
export function keepRecent<T>(table: Map<string, T>, key: string, value: T, max: number): void {
  table.delete(key);
  table.set(key, value);
  for (const oldest of table.keys()) if (table.size > max) table.delete(oldest);
}

const KEY = Symbol.for('oncefetch');

/** Made at the first use, never at import. */
export function registry(): Registry {
  const realm = globalThis as { [KEY]?: Registry };
  realm[KEY] ??= { flights: new Map(), lives: new Map(), answers: new Map(), requests: new Map(), degraded: new Map(), outcomes: new WeakMap() };
  return realm[KEY];
}
