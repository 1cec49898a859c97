/**
 * Flushes strict commits to the disk in place of SQLite. SQLite would flush the log while it holds the writer's lock and blocks the thread.
 * Here the flush comes after the lock is released, so other processes can commit meanwhile, and one flush serves all commits before it.
 * If somebody reads a record before it is flushed and writes something that depends on it, their flush covers it, because the log is sequential.
 */
import { StoreFault } from '../fault.js';

/** If flushes take longer than this on average, they are left to another thread, ms; if they take less than half of it, they are done here again. */
const SLOW_MS = 2;
/** The time between two checkpoints that are tried in vain, ms: a long read may be in the way, and each try blocks the event loop. */
const AGAIN_MS = 1000;
/** The weight of one flush in the average. */
const SHARE = 0.2;

/** The promise of an update that is committed. */
export interface Committed {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export const fs = () => globalThis.process.getBuiltinModule('node:fs');

/**
 * Whether our own flush is as good as SQLite's. On other systems it may stop at the disk's cache, or the file may be locked. With `--permission`,
 * Node opens the log, but refuses to flush it.
 */
export const canFlush = (): boolean => globalThis.process?.platform === 'linux' && !globalThis.process.permission && !('Deno' in globalThis);

export class LogFlush {
  readonly #scope: string;
  /** The database's file as an absolute path, because the process may change its working directory. */
  readonly path: string;
  readonly #checkpoint: () => boolean;
  #file: number | undefined;
  #waiting: Committed[] = [];
  #underWay = false;
  #closed = false;
  #failed = false;
  #averageMs = 0;
  #slow = false;
  #againAt = 0;

  /** @param checkpoint - moves the whole log into the database, and flushes that to the disk; `false` if somebody was in the way */
  constructor(scope: string, path: string, checkpoint: () => boolean) {
    this.#scope = scope;
    this.path = fs().realpathSync(path);
    this.#checkpoint = checkpoint;
  }

  /** `false` if SQLite itself must flush the next strict commit. */
  get ready(): boolean {
    return this.#file !== undefined;
  }

  /**
   * Called after a commit that SQLite flushed: opens the log for our own flushes. The system reports a disk error only once, to those who
   * have the file open then, and from then on treats the data as written. So everything written before must have left the log.
   *
   * @throws StoreFault if an earlier flush failed and the log is still in use: nobody knows how much of it is on the disk
   */
  begin(): void {
    // After a failed flush, try every time: nothing may be called stored before the whole log is in the database.
    if (!this.#failed && performance.now() < this.#againAt) return;
    let whole = false;
    try {
      // SQLite's name for its log.
      this.#file = fs().openSync(`${this.path}-wal`, 'r+');
      whole = this.#checkpoint();
    } catch {
      // If the log can't be opened or checkpointed, SQLite goes on flushing.
    }
    if (whole) this.#failed = false;
    else {
      this.#drop();
      this.#againAt = performance.now() + AGAIN_MS;
    }
    if (this.#failed) throw this.#fault(undefined);
  }

  /** Resolves these updates when their commit is on the disk. */
  add(committed: readonly Committed[]): void {
    this.#waiting.push(...committed);
    this.#flush();
  }

  /**
   * Resolves when everything that can be read now is on the disk; `undefined` if it is already. Called before a read is answered, so that
   * no reader takes a commit that is not flushed yet for stored.
   *
   * @throws StoreFault if an earlier flush failed, as {@link begin} does
   */
  settled(): Promise<void> | undefined {
    if (this.#failed) this.begin();
    if (!this.#underWay && !this.#waiting.length) return undefined;
    return new Promise((resolve, reject) => this.add([{ resolve, reject }]));
  }

  close(): void {
    this.#closed = true;
    if (!this.#underWay) this.#drop();
  }

  #flush(): void {
    const [file, mine] = [this.#file, this.#waiting];
    if (this.#underWay || !mine.length || file === undefined) return;
    this.#waiting = [];
    const start = performance.now();
    const end = (error?: unknown): void => {
      this.#learn(performance.now() - start);
      if (error) this.#fail(mine, error);
      else for (const { resolve } of mine) resolve();
    };
    if (!this.#slow) {
      try {
        fs().fdatasyncSync(file);
      } catch (error) {
        end(error);
        return;
      }
      end();
      return;
    }
    this.#underWay = true;
    fs().fdatasync(file, (error) => {
      this.#underWay = false;
      end(error);
      this.#flush();
      if (this.#closed && !this.#underWay) this.#drop();
    });
  }

  /** Rejects these updates, and also those committed meanwhile, of which nobody knows either whether they are on the disk. */
  #fail(mine: readonly Committed[], error: unknown): void {
    const lost = [...mine, ...this.#waiting];
    this.#waiting = [];
    this.#failed = true;
    this.#drop();
    for (const { reject } of lost) reject(this.#fault(error));
  }

  #fault(error: unknown): StoreFault {
    return new StoreFault('io', `${this.#scope} could not be flushed to the disk, and nothing tells which of the last updates are on it`, error);
  }

  #learn(ms: number): void {
    this.#averageMs += (ms - this.#averageMs) * SHARE;
    this.#slow = this.#averageMs > (this.#slow ? SLOW_MS / 2 : SLOW_MS);
  }

  #drop(): void {
    if (this.#file !== undefined) fs().closeSync(this.#file);
    this.#file = undefined;
  }
}
