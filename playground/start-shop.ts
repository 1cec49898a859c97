/** Starts the shop's server in its own process, for the comparison and for tests. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';

export interface Shop {
  readonly url: string;
  /** The SQLite file, which survives the server. */
  readonly file: string;
  /** Queries the database directly, to find the truth whatever the server says. */
  query<Row = Record<string, unknown>>(sql: string, ...values: (string | number)[]): Row[];
  /** Sends SIGKILL to the server. Resolves when the process that the supervisor starts in its place answers. */
  kill(): Promise<void>;
  /** Resolves when a process with another boot id than this one answers. */
  restarted(boot: string): Promise<void>;
  health(): Promise<{ readonly boot: string; readonly pid: number; readonly busy: number }>;
  stop(): Promise<void>;
}

/** Starts a supervised server on a free port with a new database. `flags` are those of `server/main.ts`. */
export async function startShop(flags: Readonly<Record<string, string | number>> = {}): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-shop-'));
  const file = join(folder, 'shop.db');
  const args = Object.entries({ port: 0, db: file, ...flags }).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(process.execPath, [fileURLToPath(new URL('server/supervisor.ts', import.meta.url)), ...args], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const { port } = await new Promise<{ port: number }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { port: number }));
    exited.then(() => {
      rmSync(folder, { recursive: true, force: true });
      reject(new Error(`the shop did not start: ${said}`));
    });
  });
  child.stderr?.pipe(process.stderr);
  const url = `http://127.0.0.1:${port}`;

  const health = async () => (await (await fetch(`${url}/api/health`)).json()) as Awaited<ReturnType<Shop['health']>>;
  const restarted = async (boot: string): Promise<void> => {
    const deadline = Date.now() + 60_000;
    while ((await health().catch(() => ({ boot }))).boot === boot) {
      if (Date.now() > deadline) throw new Error('the shop did not come back');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  return {
    url,
    file,
    query: <Row>(sql: string, ...values: (string | number)[]) => {
      const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
      try {
        return db.prepare(sql).all(...values) as Row[];
      } finally {
        db.close();
      }
    },
    kill: async () => {
      const { boot, pid } = await health();
      process.kill(pid, 'SIGKILL');
      await restarted(boot);
    },
    restarted,
    health,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
