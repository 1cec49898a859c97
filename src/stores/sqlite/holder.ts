/**
 * Who is alive: a lease says who drives an operation, and whoever waits for it asks here whether that process is gone. Each process
 * holds the lock of a file of its own beside the database. The operating system frees it when the process dies, however it dies,
 * and no number that is given out anew (such as a process id) can be mistaken for it. Containers that share the file share the
 * kernel, and so its locks.
 */
import type { SqliteDatabase } from './file.js';

type Opens = new (path: string) => SqliteDatabase;

const NAME = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const GONE = '.gone';
/** A file that is younger may not be locked yet. */
const YOUNG_MS = 60_000;
/** Longer than any lease: until then others may ask. */
const GONE_KEPT_MS = 3_600_000;

/** What is held in this process, by any copy of the package. Opening and closing such a file here would free its lock. */
const REALM = Symbol.for('oncefetch.holders');
const own = (): Set<string> => {
  const realm = globalThis as { [REALM]?: Set<string> };
  realm[REALM] ??= new Set();
  return realm[REALM];
};

/** Throws where it is held. Nothing is ever written, so no journal is wanted beside it. */
const lock = (database: SqliteDatabase): unknown => database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');

export class Holder {
  readonly #folder: string;
  readonly #opens: () => Opens;
  #held: { readonly name: string; readonly database: SqliteDatabase } | undefined;

  constructor(path: string, opens: () => Opens) {
    this.#folder = `${path}-holders`;
    this.#opens = opens;
  }

  /** The name under which this process can be asked after; `undefined` where no file can be made, so that leases must run out. */
  name(): string | undefined {
    if (this.#held) return this.#held.name;
    const name = crypto.randomUUID();
    try {
      fs().mkdirSync(this.#folder, { recursive: true });
      const database = new (this.#opens())(this.#file(name));
      // Known before it is locked.
      own().add(name);
      lock(database);
      this.#held = { name, database };
      this.#tidy();
    } catch {
      own().delete(name);
      return undefined;
    }
    return name;
  }

  /** Whether the process of this name is gone for sure. */
  isGone(name: string): boolean {
    if (!NAME.test(name) || own().has(name)) return false;
    const file = this.#file(name);
    if (fs().existsSync(file + GONE)) return true;
    // Without a file nothing can be told: it may have been closed, or removed by somebody.
    if (!fs().existsSync(file)) return false;
    let database: SqliteDatabase | undefined;
    try {
      database = new (this.#opens())(file);
      lock(database);
      database.exec('ROLLBACK');
      return true;
    } catch {
      return false;
    } finally {
      database?.close();
    }
  }

  close(): void {
    if (!this.#held) return;
    const { name, database } = this.#held;
    this.#held = undefined;
    database.close();
    own().delete(name);
    fs().rmSync(this.#file(name), { force: true });
  }

  #file(name: string): string {
    return `${this.#folder}/${name}`;
  }

  /** Removes what the dead have left, some time after they were found dead. */
  #tidy(): void {
    for (const name of fs().readdirSync(this.#folder)) {
      const file = this.#file(name);
      try {
        const ageMs = Date.now() - fs().statSync(file).mtimeMs;
        if (name.endsWith(GONE)) {
          if (ageMs > GONE_KEPT_MS) fs().rmSync(file);
        } else if (ageMs > YOUNG_MS && this.isGone(name)) {
          fs().utimesSync(file, new Date(), new Date());
          fs().renameSync(file, file + GONE);
        }
      } catch {
        // Another process was faster.
      }
    }
  }
}

/** Found without an import, which a bundler for browsers would stumble over. */
const fs = () => globalThis.process.getBuiltinModule('node:fs');
