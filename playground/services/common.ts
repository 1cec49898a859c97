/** What the services share: their store and client, and their HTTP server. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { close, createOnce, memoryStore, type Once, type OnceOptions, type Store } from 'oncefetch/node';
import { startTelemetry, within } from './telemetry.ts';

export type Engine = 'sqlite' | 'redis' | 'postgres' | 'none';

/** The store that all copies of all services share. `at` is a file, or a port of this machine. */
async function storeOf(engine: Engine, at: string): Promise<Store> {
  if (engine === 'redis') {
    const [{ Redis }, { redisStore }] = [await import('ioredis'), await import('oncefetch/redis')];
    return redisStore(new Redis(Number(at), '127.0.0.1'));
  }
  if (engine === 'postgres') {
    const [{ default: pg }, { postgresStore }] = [await import('pg'), await import('oncefetch/postgres')];
    return postgresStore(new pg.Pool({ host: '127.0.0.1', port: Number(at), user: 'postgres', database: 'postgres', max: 8 }));
  }
  // Each copy gets its own store, to show what happens without a shared one.
  if (engine === 'none') return memoryStore();
  const { sqliteStore } = await import('oncefetch/sqlite');
  return sqliteStore({ path: at });
}

/** The client of a service. Its namespace separates its operations from those of the other service. */
export async function clientOf(namespace: string, options: Partial<OnceOptions> = {}): Promise<Once> {
  const store = await storeOf(env('STORE') as Engine, env('STORE_AT'));
  const telemetry = startTelemetry(namespace, env('SPANS'), Number(env('METRICS_PORT')));
  const once = createOnce({
    namespace,
    store,
    durability: env('STORE') === 'none' ? 'best-effort' : 'required',
    limits: { attemptMs: 2000, totalMs: 20_000 },
    retry: { minDelayMs: 20, maxDelayMs: 200 },
    use: [telemetry.feature],
    ...options,
  });
  // Calls in progress may finish, and no new call starts.
  process.once(
    'SIGTERM',
    () =>
      void close(once)
        .then(telemetry.flush)
        .then(() => process.exit(0)),
  );
  return once;
}

export function env(name: string): string {
  const value = process.env[name];
  if (!value) throw new TypeError(`${name} is not set`);
  return value;
}

export type Routes = Readonly<Record<string, (body: Record<string, unknown>, key: string | undefined) => Promise<{ status: number; body?: unknown }>>>;

/** Serves JSON over HTTP. Resolves to the port. */
export async function listen(routes: Routes, fallback?: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createServer((request, response) => {
    const route = routes[`${request.method} ${request.url}`];
    if (!route) return fallback ? fallback(request, response) : void response.writeHead(404).end();
    const answer = async () => {
      const text = Buffer.concat(await request.toArray()).toString();
      const { status, body } = await within(request.headers, () =>
        route(text ? JSON.parse(text) : {}, request.headers['idempotency-key'] as string | undefined),
      );
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
    };
    answer().catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(503, { 'content-type': 'text/plain' }).end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
