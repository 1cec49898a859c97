/** Group commit: what is asked for in one turn of the event loop is one transaction, because a commit costs the same for all. */
import type { Durability, StoreFaultReason } from '../../ports.js';
import type { Next } from '../base.js';
import { StoreFault } from '../fault.js';
import { ordered, recordOf, textOf } from '../text.js';
import { sqliteFault } from './fault.js';
import { inTransaction, type SqliteFile } from './file.js';
import type { Committed, LogFlush } from './flush.js';

/** Updates in one transaction: it holds up the event loop and other processes. */
const GROUP_MAX = 256;
/** Between two tries for a lock that another process has, ms; spread, so that several do not meet for ever. */
const PAUSE_MS_MAX = 4;

/** What may be the matter with one update and not with the others of its transaction. */
const ITS_OWN: readonly StoreFaultReason[] = ['quota', 'io', 'corrupt'];

interface Update {
  readonly id: string;
  readonly next: (current: unknown) => Next;
  readonly durability: Durability;
  readonly deadline: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface Waiting {
  readonly scope: string;
  /** The connection; opens it if there is none. */
  readonly file: () => SqliteFile;
  readonly busyTimeoutMs: number;
}

const pause = (): number => 1 + Math.random() * PAUSE_MS_MAX;

/** Does `work` as soon as no other process stands in its way, and no later than the store may wait. */
export async function patiently<T>({ scope, file, busyTimeoutMs }: Waiting, work: (file: SqliteFile) => T): Promise<T> {
  for (const deadline = performance.now() + busyTimeoutMs; ; ) {
    try {
      return work(file());
    } catch (error) {
      const fault = sqliteFault(scope, error);
      if (fault.reason !== 'blocked' || performance.now() > deadline) throw fault;
    }
    await new Promise((resolve) => setTimeout(resolve, pause()));
  }
}

/** Updates that wait for their commit. */
export class GroupCommit {
  readonly #waiting: Waiting;
  #updates: Update[] = [];
  #scheduled = false;

  constructor(waiting: Waiting) {
    this.#waiting = waiting;
  }

  /** Resolves after the commit. */
  update(id: string, next: (current: unknown) => Next, durability: Durability): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#updates.push({ id, next, durability, deadline: performance.now() + this.#waiting.busyTimeoutMs, resolve, reject });
      this.#schedule();
    });
  }

  /** Commits what still waits, now or never. */
  end(): void {
    while (this.#updates.length > 0) this.#commit(this.#updates.splice(0, GROUP_MAX), false);
  }

  #schedule(delayMs?: number): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const run = (): void => {
      this.#scheduled = false;
      if (this.#updates.length > 0) this.#commit(this.#updates.splice(0, GROUP_MAX), true);
      if (this.#updates.length > 0) this.#schedule();
    };
    // After everything that this turn has to say, and not in the midst of it, as a microtask would be.
    if (delayMs === undefined) setImmediate(run);
    else setTimeout(run, delayMs);
  }

  #commit(updates: readonly Update[], mayWait: boolean): void {
    const { scope, file } = this.#waiting;
    let told: () => void;
    try {
      const open = file();
      const byUs = open.flush?.ready === true;
      const ended = transact(scope, open, updates, byUs);
      told = () => {
        tell(ended, open.flush, byUs);
        open.committed(ended.length);
      };
    } catch (error) {
      this.#failed(updates, sqliteFault(scope, error), mayWait);
      return;
    }
    told();
  }

  #failed(updates: readonly Update[], fault: StoreFault, mayWait: boolean): void {
    const now = performance.now();
    const waits = (update: Update): boolean => mayWait && fault.reason === 'blocked' && update.deadline > now;
    // One that does not fit, or a damaged page that it needs, must not take others with it.
    if (updates.length > 1 && ITS_OWN.includes(fault.reason)) {
      for (const update of updates) this.#commit([update], mayWait);
      return;
    }
    for (const update of updates) if (!waits(update)) update.reject(fault);
    // Before those that came meanwhile: updates of one record keep their order.
    this.#updates.unshift(...updates.filter(waits));
    if (updates.some(waits)) this.#schedule(pause());
  }
}

/** An update in a transaction that is committed. `strict`: it changed something, and is to be on the disk before it is told so. */
interface Ended extends Committed {
  readonly strict: boolean;
}

/** @param byUs - the commit was not flushed by SQLite */
function tell(ended: readonly Ended[], flush: LogFlush | undefined, byUs: boolean): void {
  const strict = ended.filter((one) => one.strict);
  for (const one of ended) if (!one.strict) one.resolve();
  if (strict.length === 0) return;
  if (byUs) {
    flush?.add(strict);
    return;
  }
  try {
    flush?.begin();
  } catch (error) {
    for (const { reject } of strict) reject(error);
    return;
  }
  for (const { resolve } of strict) resolve();
}

/** One transaction. What the updates are to be told when it is committed; throws what SQLite throws, and then nothing is written. */
function transact(scope: string, file: SqliteFile, updates: readonly Update[], byUs: boolean): readonly Ended[] {
  const { database } = file;
  // Synchronous code never leaves one open; but its owner may await in the middle of it, and what is written there is not
  // committed until that ends.
  if (inTransaction(database)) throw new StoreFault('blocked', `the connection to ${scope} is in the middle of a transaction`);
  file.sync(!byUs && updates.some(({ durability }) => durability === 'strict'));
  try {
    // IMMEDIATE: takes the one writer's lock before it looks, so that nothing it saw can be overtaken.
    file.begin();
    file.check();
    const ended = updates.map((update) => apply(file, update));
    database.exec('COMMIT');
    return ended;
  } catch (error) {
    if (inTransaction(database)) database.exec('ROLLBACK');
    throw error;
  } finally {
    file.restore();
  }
}

/** A change that throws has written nothing, and neither has one that gives what is no text: both are asked before. */
function apply(file: SqliteFile, { id, next, durability, resolve, reject }: Update): Ended {
  const key = ordered(id);
  const current = recordOf(file.get(key)?.data);
  let record: Next;
  let row: Parameters<SqliteFile['put']> | undefined;
  try {
    record = next(current);
    row = record ? [key, ordered(record.ns), ordered(record.state), ordered(record.label), record.forgetAt, textOf(record)] : undefined;
  } catch (error) {
    return { resolve: () => reject(error), reject, strict: false };
  }
  if (row) file.put(...row);
  else if (record === null) file.remove(key);
  return { resolve, reject, strict: durability === 'strict' && record !== undefined };
}
