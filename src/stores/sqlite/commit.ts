/** Group commit: all updates of one turn of the event loop are one transaction, because a commit costs the same for one or for many. */
import type { Durability, StoreFaultReason } from '../../ports.js';
import type { Next } from '../base.js';
import type { StoreFault } from '../fault.js';
import { ordered, recordOf, textOf } from '../text.js';
import { sqliteFault } from './fault.js';
import type { SqliteFile } from './file.js';
import { type Committed, fs, type LogFlush } from './flush.js';
import { inTransaction, refuseWithin } from './unfit.js';

/**
 * As they were when this module was loaded: the fake timers of a test mean the app's time, and calls would hang until somebody advances them. Of those
 * that were there before this module, sinon's have a `clock`, and Node's are bound functions.
 */
const { setImmediate, setTimeout } = globalThis;
/** Calls `run` in a later turn of the event loop, or after `ms`. Where that timer is fake, a question to the file system brings the next turn. */
function later(run: () => void, ms?: number): void {
  const timer: ((run: () => void, ms?: number) => unknown) & { readonly clock?: unknown } = ms === undefined ? setImmediate : setTimeout;
  if (timer.clock || /^bound/.test(timer.name)) fs().stat('.', run);
  else timer(run, ms);
}

/** The most updates in one transaction, which blocks the event loop and other processes. */
const GROUP_MAX = 256;
/** The longest pause between two tries for another process's lock, ms. It is random, so that processes do not always try at the same time. */
const PAUSE_MS_MAX = 4;

/** Reasons that may be about a single update of a transaction. */
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

/** Does `work` as soon as no other process has the lock; rejects after `busyTimeoutMs`. */
export async function patiently<T>({ scope, file, busyTimeoutMs }: Waiting, work: (file: SqliteFile) => T): Promise<T> {
  for (const deadline = performance.now() + busyTimeoutMs; ; ) {
    try {
      return work(file());
    } catch (error) {
      const fault = sqliteFault(scope, error);
      if (fault.reason !== 'blocked' || performance.now() > deadline) throw fault;
    }
    await new Promise<void>((resolve) => later(resolve, pause()));
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

  /** Commits the updates that still wait. What can't be committed now is rejected. */
  end(): void {
    while (this.#updates.length) this.#commit(this.#updates.splice(0, GROUP_MAX), false);
  }

  #schedule(delayMs?: number): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const run = (): void => {
      this.#scheduled = false;
      if (this.#updates.length) this.#commit(this.#updates.splice(0, GROUP_MAX), true);
      if (this.#updates.length) this.#schedule();
    };
    // Not a microtask, which would run before the turn has made all of its updates.
    later(run, delayMs);
  }

  #commit(updates: readonly Update[], mayWait: boolean): void {
    const { scope, file } = this.#waiting;
    let open: SqliteFile;
    let byUs: boolean;
    let ended: readonly Ended[];
    try {
      open = file();
      byUs = !!open.flush?.ready;
      ended = transact(open, updates, byUs);
    } catch (error) {
      this.#failed(updates, sqliteFault(scope, error), mayWait);
      return;
    }
    tell(ended, open.flush, byUs);
    open.committed(ended.length);
  }

  #failed(updates: readonly Update[], fault: StoreFault, mayWait: boolean): void {
    const now = performance.now();
    const waits = (update: Update): boolean => mayWait && fault.reason === 'blocked' && update.deadline > now;
    // An update that does not fit, or that needs a damaged page, must not make the others fail: commit each by itself.
    if (updates.length > 1 && ITS_OWN.includes(fault.reason)) {
      for (const update of updates) this.#commit([update], mayWait);
      return;
    }
    for (const update of updates) if (!waits(update)) update.reject(fault);
    // Put them before those that came meanwhile, so that updates of one record keep their order.
    this.#updates.unshift(...updates.filter(waits));
    if (updates.some(waits)) this.#schedule(pause());
  }
}

/** An update of a committed transaction. `strict`: it changed something, and must not be resolved before that is on the disk. */
interface Ended extends Committed {
  readonly strict: boolean;
}

/** Resolves the updates of a committed transaction. @param byUs - SQLite did not flush the commit, so we do */
function tell(ended: readonly Ended[], flush: LogFlush | undefined, byUs: boolean): void {
  const strict = ended.filter((one) => one.strict);
  for (const one of ended) if (!one.strict) one.resolve();
  if (!strict.length) return;
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

/** Runs one transaction, and gives how to resolve its updates. If SQLite throws, throws that too, and nothing is written. */
function transact(file: SqliteFile, updates: readonly Update[], byUs: boolean): readonly Ended[] {
  const { database } = file;
  // What is written within a transaction of the app's is not committed until that ends.
  refuseWithin(database);
  file.sync(!byUs && updates.some(({ durability }) => durability === 'strict'));
  try {
    // IMMEDIATE takes the writer's lock before the first read, so that nobody can change what was read.
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

/** Makes one change. It is called, and its record converted to text, before anything is written: if that throws, only this update is rejected. */
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
