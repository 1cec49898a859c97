/**
 * A process that serves on a free port, which it prints, with the server of Deno, Bun or Node. STORE names the kind of store of
 * its client, and FOLDER the folder of that store.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type DenoKvLike, denoKvStore } from 'oncefetch/deno';
import { type SqliteDatabase, sqliteStore } from 'oncefetch/sqlite';
import { answer, clientOver } from './app.js';
import { type ContractResult, runContract } from './contract.js';

/** The longest time limit that a store allows: in the contract, fifty updates of one record at once may each wait for a busy disk. */
const PATIENCE_MS = 10_000;

interface Runtimes {
  readonly Deno?: {
    serve(options: object, handler: (request: Request) => Promise<Response>): unknown;
    openKv(path: string): Promise<DenoKvLike & { set(key: readonly string[], value: unknown): Promise<unknown> }>;
  };
  readonly Bun?: { serve(options: object): { readonly port: number } };
}

const { Deno, Bun } = globalThis as Runtimes;
const { STORE, FOLDER } = process.env;

/** The class for SQLite databases. Node before 22.16 has no suitable SQLite, so a package with the same API replaces it there. */
function sqlite(): new (path: string) => SqliteDatabase {
  if (Bun) return process.getBuiltinModule('bun:sqlite' as 'node:sqlite')['Database' as 'DatabaseSync'];
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);
  return (process.getBuiltinModule('node:sqlite') ?? require('@photostructure/sqlite')).DatabaseSync;
}
const fileOf = (medium: string): string => `${FOLDER}/${medium}.db`;

async function plantInSqlite(medium: string, id: string, value: unknown): Promise<void> {
  const database = new (sqlite())(fileOf(medium));
  // A store makes its table when it is first used.
  await sqliteStore({ database }).read(id);
  const sql = `INSERT OR REPLACE INTO oncefetch_records (id, data, ns, state, label, forget_at) VALUES (?, ?, 'ns', 'pending', '', 1)`;
  database.prepare(sql).run(id, JSON.stringify(value));
  database.close();
}

/** The store of the client, if it has one, and the contract of that store. */
async function stores() {
  if (!STORE) return {};
  if (STORE === 'deno-kv') {
    const kv = await Deno!.openKv(fileOf('kv'));
    const plant = async (medium: string, id: string, value: unknown): Promise<void> =>
      void (await kv.set([medium, 'record', id], { text: JSON.stringify(value), indexes: [] }));
    return { store: denoKvStore(kv), contract: () => runContract({ open: (medium) => denoKvStore(kv, { prefix: medium, timeoutMs: PATIENCE_MS }), plant }) };
  }
  const open = (medium: string) => (STORE === 'handed' ? sqliteStore({ database: new (sqlite())(fileOf(medium)) }) : sqliteStore({ path: fileOf(medium) }));
  return { store: open('once'), contract: () => runContract({ open, plant: plantInSqlite }) };
}

const { store, contract }: { store?: ReturnType<typeof sqliteStore>; contract?: () => Promise<ContractResult> } = await stores();
const once = clientOver({ store });
const handle = (request: Request): Promise<Response> => answer(once, request, contract);
const listening = (port: number): void => console.log(`listening ${port}`);

if (Deno) Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: ({ port }: { port: number }) => listening(port) }, handle);
else if (Bun) listening(Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 60, fetch: handle }).port);
else {
  const server = createServer(async (asked, told) => {
    const response = await handle(new Request(`http://127.0.0.1${asked.url}`));
    told.end(await response.text());
  });
  server.listen(0, '127.0.0.1', () => listening((server.address() as AddressInfo).port));
}
