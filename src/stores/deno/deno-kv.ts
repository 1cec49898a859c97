/** Records in Deno KV: a store for all processes that open the database. */
import type { ScanPage, ScanQuery, Store, Stored } from '../../ports.js';
import { createStore, isStored, type Next, pageOf } from '../base.js';
import { StoreFault } from '../fault.js';
import { numberOf } from '../number-of.js';
import { onlyOptions } from '../only-options.js';
import { dueOf, rangeOf, recordOf, textOf } from '../text.js';
import { timeLimit } from '../time-limit.js';
import { type DenoKvKey, type Head, LABEL_START, laidOut, piecesOf, placesKey, recordKey, timesKey } from './layout.js';

export type { DenoKvKey } from './layout.js';

/** An entry of Deno KV; `versionstamp` is `null` if there is no such entry. */
export interface DenoKvEntryLike {
  readonly key: readonly unknown[];
  readonly value: unknown;
  readonly versionstamp: string | null;
}

/** An atomic operation of Deno KV. */
export interface DenoKvAtomicLike {
  check(check: { readonly key: DenoKvKey; readonly versionstamp: string | null }): DenoKvAtomicLike;
  set(key: DenoKvKey, value: unknown): DenoKvAtomicLike;
  delete(key: DenoKvKey): DenoKvAtomicLike;
  commit(): Promise<{ readonly ok: boolean }>;
}

/** The part of a `Deno.Kv` that is used. */
export interface DenoKvLike {
  get(key: DenoKvKey): Promise<DenoKvEntryLike>;
  list(
    selector: { readonly prefix: DenoKvKey; readonly start?: DenoKvKey } | { readonly prefix: DenoKvKey; readonly end: DenoKvKey },
  ): AsyncIterable<DenoKvEntryLike>;
  atomic(): DenoKvAtomicLike;
}

/** How a Deno KV store keeps its records. */
export interface DenoKvStoreOptions {
  /** The first part of every key. @default 'oncefetch' */
  readonly prefix?: string | undefined;
  /** How long an update is tried again while others change the same record, ms; at most 10_000. @default 5_000 */
  readonly timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 5000;
/** The longest pause before an update is tried again, ms. */
const PAUSE_MS_MAX = 20;

/**
 * A store in Deno KV, shared by all processes that open the database. An update is one atomic operation, which checks that the record
 * has not changed since it was read.
 *
 * @param kv - what `await Deno.openKv()` gives; you close it yourself. Not of `Deno.openKv(':memory:')`: a `Deno.Kv` does not tell where it keeps
 * its entries, so the store says that they outlive the process
 * @throws TypeError if `kv` has no `atomic`
 * @example
 * const once = createOnce({ namespace: 'billing', store: denoKvStore(await Deno.openKv()) });
 */
export function denoKvStore(kv: DenoKvLike, options: DenoKvStoreOptions = {}): Store {
  onlyOptions('denoKvStore', options, { prefix: 'string', timeoutMs: 'number' });
  const { prefix = 'oncefetch', timeoutMs = TIMEOUT_MS } = options;
  if (typeof (kv as Partial<DenoKvLike> | null)?.atomic !== 'function') throw new TypeError('once: denoKvStore takes what Deno.openKv() gives');
  const scope = `deno-kv:${numberOf(kv)}:${prefix}`;
  const records = new Records(kv, [prefix], timeLimit('timeoutMs', timeoutMs));
  const guarded = <T>(work: Promise<T>): Promise<T> => work.catch((thrown) => Promise.reject(faultOf(scope, thrown)));
  return createStore(
    { kind: 'deno-kv', scope, survives: 'machine', shared: 'cluster', atomic: true },
    {
      update: (id, next) => guarded(records.update(id, next)),
      read: (id) => guarded(records.read(id)),
      scan: (query) => guarded(records.scan(query)),
    },
  );
}

class Records {
  readonly #kv: DenoKvLike;
  readonly #prefix: DenoKvKey;
  readonly #timeoutMs: number;

  constructor(kv: DenoKvLike, prefix: DenoKvKey, timeoutMs: number) {
    this.#kv = kv;
    this.#prefix = prefix;
    this.#timeoutMs = timeoutMs;
  }

  async read(id: string): Promise<unknown> {
    return (await this.#look(id)).record;
  }

  async update(id: string, next: (current: unknown) => Next): Promise<void> {
    // The name of the version that was written last.
    let name: string | undefined;
    for (const deadline = performance.now() + this.#timeoutMs; performance.now() < deadline; ) {
      const { entry, record } = await this.#look(id);
      // KV Connect sends a commit again if its answer is lost. The second copy is refused, because the first one has changed the record: it is
      // recognised by the version's name. A removal leaves no name, so nothing tells whose it was.
      if (name !== undefined && nameIn(entry) === name) return;
      const changed = asked(next, record);
      if (changed === undefined) return;
      name = changed ? crypto.randomUUID() : undefined;
      if (await this.#write(id, entry, changed, name)) return;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS_MAX));
    }
    throw new StoreFault('timeout', `others kept changing this record, or this process was too busy, for ${this.#timeoutMs} ms`);
  }

  async scan(query: ScanQuery): Promise<ScanPage> {
    if (!('before' in query)) return pageOf(await this.#placed(query), query);
    return dueOf((offset, count) => this.#due(query.before, offset, count), query);
  }

  /** Reads a record. If pieces of it are gone, it was replaced meanwhile, so it is read again. */
  async #look(id: string): Promise<{ readonly entry: DenoKvEntryLike; readonly record: unknown }> {
    for (let entry = await this.#kv.get(recordKey(this.#prefix, id)); ; ) {
      const head = entry.value as Head | null;
      if (head?.rev === undefined) return { entry, record: recordOf(head?.text) };
      const pieces = await Promise.all(piecesOf(this.#prefix, id, head).map(async (key) => (await this.#kv.get(key)).value));
      if (!pieces.includes(null)) return { entry, record: recordOf(pieces.join('')) };
      const again = await this.#kv.get(entry.key as DenoKvKey);
      if (again.versionstamp === entry.versionstamp) throw new StoreFault('corrupt', 'a piece of the record is missing');
      entry = again;
    }
  }

  /** Writes if the record has not changed; `false` if it has. */
  async #write(id: string, { key, value, versionstamp }: DenoKvEntryLike, next: Stored | null, name: string | undefined): Promise<boolean> {
    const step = this.#kv.atomic().check({ key: key as DenoKvKey, versionstamp });
    const earlier = value as Head | null;
    if (earlier) for (const old of [...(earlier.indexes ?? []), ...piecesOf(this.#prefix, id, earlier)]) step.delete(old);
    if (next) {
      const { head, pieces } = laidOut(this.#prefix, next, textOf(next));
      step.set(key as DenoKvKey, { ...head, name });
      for (const index of head.indexes) step.set(index, id);
      piecesOf(this.#prefix, id, head).forEach((piece, n) => void step.set(piece, pieces[n]));
    } else step.delete(key as DenoKvKey);
    return (await step.commit()).ok;
  }

  /**
   * The records from the beginning of a page, a few more than it needs, in any order. A key has only the beginning of a label, so records
   * whose labels begin alike are all read: the key does not tell which of them comes first.
   */
  async #placed(query: Extract<ScanQuery, { ns: string }>): Promise<readonly Stored[]> {
    const prefix = placesKey(this.#prefix, query.ns, query.state);
    const { label, end } = rangeOf(query);
    const found: Stored[] = [];
    let last: unknown;
    for await (const { key, value } of this.#kv.list({ prefix, start: [...prefix, label.slice(0, LABEL_START)] })) {
      const start = key[prefix.length] as string;
      if (start >= end || (start !== last && pageOf(found, query).next !== undefined)) break;
      last = start;
      const record = await this.read(value as string);
      if (isStored(record)) found.push(record);
    }
    return found;
  }

  async #due(before: number, offset: number, count: number): Promise<readonly unknown[]> {
    const prefix = timesKey(this.#prefix);
    const ids: string[] = [];
    for await (const { value } of this.#kv.list({ prefix, end: [...prefix, before] })) {
      ids.push(value as string);
      if (ids.length >= offset + count) break;
    }
    return Promise.all(ids.slice(offset).map((id) => this.read(id)));
  }
}

/** The name of the version that is stored. */
const nameIn = ({ value }: DenoKvEntryLike): string | undefined => (value as Head | null)?.name;

/** Wraps what a change threw, so that it is not taken for an error of the database. */
class Thrown {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

function asked(next: (current: unknown) => Next, record: unknown): Next {
  try {
    return next(record);
  } catch (error) {
    throw new Thrown(error);
  }
}

function faultOf(scope: string, thrown: unknown): unknown {
  if (thrown instanceof Thrown) return thrown.error;
  if (thrown instanceof StoreFault) return thrown;
  const { name, message } = Object(thrown) as Partial<Error>;
  const reason = name === 'BadResource' ? 'closed' : /too large/i.test(String(message)) ? 'quota' : 'io';
  return new StoreFault(reason, `${scope} failed: ${String(message ?? thrown)}`, thrown);
}
