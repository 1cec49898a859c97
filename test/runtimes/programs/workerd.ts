/** A Worker whose client is made at module level: without a store, on D1 if it has the binding, or in a Durable Object. */
// @ts-expect-error: the runtime's own module
import { env as bindings } from 'cloudflare:workers';
import { type D1DatabaseLike, type DurableObjectStorageLike, d1Migration, d1Store, durableObjectStore } from 'oncefetch/cloudflare';
import { answer, clientOver } from './app.js';
import { runContract } from './contract.js';

interface Env {
  readonly DB?: D1DatabaseLike & { exec(sql: string): Promise<unknown> };
  readonly TILL?: { idFromName(name: string): unknown; get(id: unknown): { fetch(request: Request): Promise<Response> } };
}

const { DB, TILL } = bindings as Env;
const once = DB ? clientOver({ store: d1Store(DB) }) : clientOver();
const tableOf = (medium: string): string => medium.replaceAll('-', '_');
/** Writes a damaged record where scans meet it. */
const planting = (medium: string, more = ''): string =>
  `INSERT OR REPLACE INTO ${tableOf(medium)} (id, data, ns, state, label, forget_at${more && ', rev'}) VALUES (?, ?, 'ns', 'pending', '', 1${more})`;

const onD1 = (database: NonNullable<Env['DB']>) =>
  runContract({
    async open(medium) {
      await database.exec(d1Migration({ table: tableOf(medium) }));
      return d1Store(database, { table: tableOf(medium) });
    },
    plant: async (medium, id, value) => void (await database.batch([database.prepare(planting(medium, ", 'x'")).bind(id, JSON.stringify(value))])),
  });

export class Till {
  readonly #storage: DurableObjectStorageLike;
  readonly #once: ReturnType<typeof clientOver>;

  constructor({ storage }: { readonly storage: DurableObjectStorageLike }) {
    this.#storage = storage;
    this.#once = clientOver({ store: durableObjectStore(storage) });
  }

  fetch(request: Request): Promise<Response> {
    return answer(this.#once, request, () =>
      runContract({
        open: (medium) => durableObjectStore(this.#storage, { table: tableOf(medium) }),
        plant: async (medium, id, value) => {
          // A store makes its table when it is first used.
          await durableObjectStore(this.#storage, { table: tableOf(medium) }).read(id);
          this.#storage.sql.exec(planting(medium), id, JSON.stringify(value));
        },
      }),
    );
  }
}

export default {
  async fetch(request: Request): Promise<Response> {
    if (TILL) return TILL.get(TILL.idFromName('till')).fetch(request);
    if (DB && new URL(request.url).pathname === '/pay') await DB.exec(d1Migration());
    return answer(once, request, DB && (() => onD1(DB)));
  },
};
