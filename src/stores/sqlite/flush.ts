/**
 * The flush of a strict commit, by ourselves. SQLite flushes the log while it holds the one writer's lock, and the thread stands still; here
 * it holds neither: processes share the disk, and one flush is for all that were committed before. Whoever sees a record before it is flushed
 * and builds on it flushes it with its own: the log is written in one order.
 */
import { StoreFault } from '../fault.js';

/** A flush that takes longer is left to another thread, ms; one that takes less than half of it is sooner done here. */
const SLOW_MS = 2;
/** Somebody who reads for long keeps the log from leaving; each try holds up the event loop: so long until the next one, ms. */
const AGAIN_MS = 1000;
/** What one flush counts for in the average. */
const SHARE = 0.2;

/** An update that is committed. */
export interface Committed {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const fs = () => globalThis.process.getBuiltinModule('node:fs');

/** Where a flush by the file's name is what SQLite's own would be. Elsewhere it may stop at the disk's cache, or the file be locked. */
export const canFlush = (): boolean => globalThis.process?.platform === 'linux' && !('Deno' in globalThis);

export class LogFlush {
  readonly #scope: string;
  /** The database's file, wherever the process goes. */
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

  /** @param checkpoint - brings all of the log into the database and that to the disk; `false`: somebody was in the way */
  constructor(scope: string, path: string, checkpoint: () => boolean) {
    this.#scope = scope;
    this.path = fs().realpathSync(path);
    this.#checkpoint = checkpoint;
  }

  /** `false`: SQLite has to flush the next strict commit. */
  get ready(): boolean {
    return this.#file !== undefined;
  }

  /**
   * After a commit that SQLite flushed. An error of the disk is told once to whoever has the file open at that time, and what it was about counts
   * as written from then on. So all that was written before the file is opened here must have left the log.
   *
   * @throws StoreFault where a flush has failed before, and the log is in use still: nobody knows what of it is on the disk
   */
  begin(): void {
    // Where a flush has failed, nothing is told as stored before the log has left.
    if (!this.#failed && performance.now() < this.#againAt) return;
    let whole = false;
    try {
      // As SQLite names its log.
      this.#file = fs().openSync(`${this.path}-wal`, 'r+');
      whole = this.#checkpoint();
    } catch {
      // A log that can't be opened or brought over is SQLite's to flush.
    }
    if (whole) this.#failed = false;
    else {
      this.#drop();
      this.#againAt = performance.now() + AGAIN_MS;
    }
    if (this.#failed) throw this.#fault(undefined);
  }

  /** Tells it when its commit is on the disk. */
  add(committed: readonly Committed[]): void {
    this.#waiting.push(...committed);
    this.#flush();
  }

  /**
   * Resolves when what can be seen now is on the disk, `undefined` where it is: what was committed here and not flushed passes for stored
   * with nobody who only reads.
   *
   * @throws StoreFault where a flush has failed, as {@link begin} does
   */
  settled(): Promise<void> | undefined {
    if (this.#failed) this.begin();
    if (!this.#underWay && this.#waiting.length === 0) return undefined;
    return new Promise((resolve, reject) => this.add([{ resolve, reject }]));
  }

  close(): void {
    this.#closed = true;
    if (!this.#underWay) this.#drop();
  }

  #flush(): void {
    const [file, mine] = [this.#file, this.#waiting];
    if (this.#underWay || mine.length === 0 || file === undefined) return;
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

  /** What was committed meanwhile is lost with it, for all that is known. */
  #fail(mine: readonly Committed[], error: unknown): void {
    const lost = [...mine, ...this.#waiting];
    this.#waiting = [];
    this.#failed = true;
    this.#drop();
    for (const { reject } of lost) reject(this.#fault(error));
  }

  #fault(error: unknown): StoreFault {
    return new StoreFault('io', `${this.#scope} could not be flushed to the disk, and what of the last updates is on it can not be told`, error);
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
