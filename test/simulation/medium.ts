/** The storage that holds the records, and a store over it with the faults that stores have. */
import { type OnceRecord, readRecord } from '../../src/core/record.js';
import type { Change, ScanPage, ScanQuery, Store, Stored } from '../../src/ports.js';
import { isStored, pageOf } from '../../src/stores/base.js';
import type { Context } from './context.js';
import type { Commit } from './facts.js';
import type { Random } from './random.js';
import type { World } from './world.js';

interface Unflushed {
  readonly id: string;
  readonly before: unknown;
}

export class Medium {
  readonly records = new Map<string, unknown>();
  /** The storage is full. */
  full = false;
  /** The storage cannot be read. */
  deaf = false;
  readonly #world: World;
  /** Relaxed commits that a power loss would undo, in order. */
  #unflushed: Unflushed[] = [];
  /** What damaged records were before the damage, by id. */
  readonly #torn = new Map<string, unknown>();

  constructor(world: World) {
    this.#world = world;
  }

  commit(id: string, next: unknown, by: string, strict: boolean): void {
    const before = this.records.get(id);
    this.#put(id, next);
    // `move` copied a damaged record as it is.
    if (next !== null && !readRecord(next)) {
      this.#torn.set(id, next);
      return;
    }
    // Once a strict commit is on the disk, all earlier commits are there, too.
    if (strict) this.#unflushed = [];
    else this.#unflushed.push({ id, before });
    this.#tell(this.#torn.get(id) ?? before, next, by, 'written');
    this.#torn.delete(id);
  }

  /** Half of a record reached the disk; or all of it with one bit wrong, so that its name can still be read. */
  tear(id: string, next: Stored, by: string, half: boolean): void {
    const { revision } = next as unknown as OnceRecord;
    this.#put(id, half ? JSON.stringify(next).slice(0, 40) : { ...next, revision: revision ^ 1 });
    this.#torn.set(id, next);
    this.#tell(next, undefined, by, half ? 'torn' : 'flipped');
  }

  /** The user or the browser removes everything. */
  evict(): void {
    for (const [id, before] of [...this.records]) {
      this.records.delete(id);
      if (asRecord(before)) this.#torn.delete(id);
      this.#tell(before, undefined, 'browser', 'evicted');
    }
    this.#unflushed = [];
  }

  powerLoss(): void {
    for (const { id, before } of this.#unflushed.reverse()) {
      const lost = this.records.get(id);
      this.#put(id, before ?? null);
      this.#tell(lost, before, 'power', 'power-loss');
    }
    this.#unflushed = [];
  }

  scan(query: ScanQuery): ScanPage {
    return pageOf([...this.records.values()].filter(isStored), query);
  }

  #put(id: string, next: unknown): void {
    if (next === null || next === undefined) this.records.delete(id);
    else this.records.set(id, typeof next === 'object' ? Object.freeze(next) : next);
  }

  #tell(before: unknown, after: unknown, by: string, why: Commit['why']): void {
    this.#world.committed(asRecord(before), asRecord(after), by, false, why);
  }
}

const asRecord = (stored: unknown): OnceRecord | undefined => (typeof stored === 'object' && stored !== null ? (stored as OnceRecord) : undefined);

/** Longer than the engine ever waits for a store. */
const HANG_MS = 15_000;
/** Much longer than usual, but less than the time limit of a store. */
const SLOW_MS_MAX = 4000;

/** The port name of a scan that finds nothing to remove, so that nobody waits for it and nothing follows from it. */
export const IDLE_SWEEP = 'idle sweep';

/** The store of one context. */
export function storeOn(world: World, medium: Medium, context: Context, options: { readonly atomic: boolean; readonly scope: string }): Store {
  const { faults } = world;
  const now = (): number => world.storeNow(context.device);
  let closed = false;
  const died = (what: string): Error => new Error(`simulated: ${what}`);

  /** Sometimes the store is busy with something else first. */
  const soon = (random: Random, work: () => void): void => {
    if (faults.hits(random, 'storeSlow')) context.later(random.int(50, SLOW_MS_MAX), work);
    else work();
  };

  const look = <T>(place: string, read: () => T, port = place): Promise<T> =>
    context.port(port, (resolve, reject) => {
      const random = faults.occasion(`${context.slot} ${place}`);
      if (faults.hits(random, 'storeHangs')) {
        if (random.chance(0.5)) context.later(HANG_MS, () => resolve(read()));
      } else if (faults.hits(random, 'lookFails') || medium.deaf || closed) reject(died('the store could not be read'));
      else soon(random, () => resolve(read()));
    });

  /** Whether the scan belongs to a sweep that finds nothing to remove. */
  const isIdle = (query: ScanQuery): boolean => 'before' in query && medium.scan(query).records.length === 0;

  /** Writes, and returns the failure to report, if any. The record may be written all the same. */
  const commit = (id: string, next: Stored | null, strict: boolean, random: Random): string | undefined => {
    if (next !== null && medium.full) return 'quota';
    if (faults.hits(random, 'commitFails')) return 'the commit failed';
    const torn = next !== null && faults.hits(random, 'torn');
    if (torn) medium.tear(id, next, context.id, random.chance(0.5));
    else medium.commit(id, next, context.id, strict);
    return torn || faults.hits(random, 'failAfterCommit') ? 'the commit was reported as failed' : undefined;
  };

  const update = <T>(id: string, change: Change<T>, strict: boolean): Promise<T> =>
    context.port('update', (resolve, reject) => {
      const random = faults.occasion(`${context.slot} update`);
      const write = (current: unknown, report: boolean) => {
        // A store may run the change more than once before it commits.
        if (random.chance(0.1)) change(current, now());
        world.read(current, context);
        const { next, value } = change(current, now());
        const fails = next === undefined ? undefined : commit(id, next, strict, random);
        if (!report) return;
        if (fails === undefined) return resolve(value);
        world.refused(asRecord(next) ?? asRecord(current));
        reject(died(fails));
      };
      if (faults.hits(random, 'storeHangs')) {
        // The store hangs before or after it read, and the write comes late or never.
        if (random.chance(0.5)) {
          const current = medium.records.get(id);
          context.shows(current);
          change(current, now());
        }
        if (random.chance(0.5)) context.later(HANG_MS, () => write(medium.records.get(id), false));
      } else if (faults.hits(random, 'lookFails') || medium.deaf || closed) reject(died('the store could not be opened'));
      else if (options.atomic) soon(random, () => write(medium.records.get(id), true));
      else {
        // The store reads now and writes a moment later: the write overwrites what came in between.
        const current = medium.records.get(id);
        context.shows(current);
        context.later(random.int(0, 3), () => write(current, true));
      }
    });

  return {
    kind: 'simulated',
    scope: options.scope,
    survives: 'machine',
    shared: 'origin',
    atomic: options.atomic,
    update(id, change, how) {
      context.looksAt(id);
      return update(id, change, how?.durability !== 'relaxed');
    },
    read(id) {
      context.looksAt(id);
      return look('read', () => {
        const stored = medium.records.get(id);
        world.read(stored, context);
        return stored;
      });
    },
    scan: (query) => look('scan', () => medium.scan(query), isIdle(query) ? IDLE_SWEEP : 'scan'),
    async close() {
      closed = true;
      if (!context.closed && !context.client?.apart) world.books.violate('scenario', undefined, `${context.id} closed its store under a client that is open`);
    },
  };
}
