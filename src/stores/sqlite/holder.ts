/**
 * Tells which processes are alive. A lease says who drives an operation; contexts that wait for it ask here whether that process is gone.
 * Each process locks a file of its own beside the database, and the operating system releases that lock however the process dies.
 * Unlike a process id, a lock can't be confused with that of a later process. Containers that share the file share the kernel, and so
 * its locks. On Linux, a process that can be seen at work is not gone whatever its lock says.
 */
import type { SqliteDatabase } from './file.js';

type Opens = new (path: string) => SqliteDatabase;

const NAME = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-(\d+)-(\d+))?$/;
const GONE = '.gone';
/** A file younger than this may not be locked yet, ms. */
const YOUNG_MS = 60_000;
/** How long it is remembered that a process is gone, ms: longer than any lease, because others may ask until then. */
const GONE_KEPT_MS = 3_600_000;

/** Names that this process holds, by any copy of the package. Their files must not be opened here: closing one would release its lock. */
const REALM = Symbol.for('oncefetch.holders');
const own = (): Set<string> => {
  const realm = globalThis as { [REALM]?: Set<string> };
  realm[REALM] ??= new Set();
  return realm[REALM];
};

/**
 * When the process with this id was started, as Linux tells it: a later process with the same id has another time. `undefined` if no such process
 * runs, and on other systems.
 */
function startOf(pid: string | number): string | undefined {
  try {
    // The name of the program comes second, in brackets, and may contain anything.
    const [state = '', ...more] = fs().readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return /[ZX]/.test(state) ? undefined : more[18];
  } catch {
    return undefined;
  }
}

/** Locks a file; throws if it is locked. Nothing is ever written to it, so its journal is only in memory. */
const lock = (database: SqliteDatabase): unknown => database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');

/** Makes the folder, but not its parents: if a disk is not mounted, that would make a new database in its place, and nobody would notice. */
function makeFolder(path: string): void {
  try {
    fs().mkdirSync(path);
  } catch {
    // The folder exists already. Or it can't be made; then opening a file in it fails, too.
  }
}

export class Holder {
  readonly #folder: string;
  readonly #opens: () => Opens;
  #held: { readonly name: string; readonly database: SqliteDatabase } | undefined;

  constructor(path: string, opens: () => Opens) {
    this.#folder = `${path}-holders`;
    this.#opens = opens;
  }

  /** The name by which others can ask about this process; `undefined` if no file can be made, so that its leases must run out. */
  name(): string | undefined {
    if (this.#held) return this.#held.name;
    const { pid } = globalThis.process;
    const start = startOf(pid);
    const name = crypto.randomUUID() + (start ? `-${pid}-${start}` : '');
    try {
      makeFolder(this.#folder);
      const database = new (this.#opens())(this.#file(name));
      // From now on `isGone` does not open this file: closing it again would release the lock.
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

  /** Whether the process of this name is certainly gone. */
  isGone(name: string): boolean {
    const [valid, , pid, start] = NAME.exec(name) ?? [];
    // A process that is at work may have lost its lock, for example by copying the folder with `fs.cp`. So ask Linux first whether it still runs.
    if (!valid || own().has(name) || (pid && startOf(pid) === start)) return false;
    const file = this.#file(name);
    if (fs().existsSync(file + GONE)) return true;
    // A missing file proves nothing: the process may only have closed its store, or somebody may have removed the file.
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

  /** Marks the files of dead processes, and removes them some time later. */
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

/** Found without an import, because bundlers for browsers fail on such imports. */
const fs = () => globalThis.process.getBuiltinModule('node:fs');
