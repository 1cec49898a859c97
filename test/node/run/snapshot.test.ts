/**
 * Goal: processes that start from one snapshot of Node's heap share no key and no name of a version in a store, although they begin with the same
 * random bytes in reserve. Method: real processes (`node --build-snapshot`), a real SQLite file and Redis, a real HTTP server that honours
 * keys and counts charges by key and by cart.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type RedisServer, startRedis, withoutRedis } from '../../../scripts/start-services.ts';
import { describeOn } from '../../support/describe-on.js';

const ROOT = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'oncefetch-snapshot-'));
const blob = join(folder, 'snapshot.blob');
const run = promisify(execFile);

/** The cart charged for each key. */
const charges = new Map<string, string>();
const server = createServer(async (request, response) => {
  const key = String(request.headers['idempotency-key']);
  const replayed = charges.has(key);
  if (!replayed) charges.set(key, (JSON.parse((await request.toArray()).join('')) as { cart: string }).cart);
  response.writeHead(201, { 'content-type': 'application/json', 'idempotent-replayed': String(replayed) }).end('{}');
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bundle = join(folder, 'service.cjs');
  const entry = join(import.meta.dirname, 'snapshot-worker.ts');
  const how = ['--bundle', '--platform=node', '--format=cjs', '--target=node22', '--log-level=error', `--outfile=${bundle}`];
  execFileSync(join(ROOT, 'node_modules/.bin/esbuild'), [entry, ...how]);
  execFileSync(process.execPath, ['--no-warnings', '--snapshot-blob', blob, '--build-snapshot', bundle]);
});
beforeEach(() => charges.clear());
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A process that pays for the cart. */
async function pays(cart: string, redis: number | '' = ''): Promise<Record<'service' | 'effect' | 'key', string>> {
  const shop = `http://127.0.0.1:${(server.address() as AddressInfo).port}/payments`;
  const args = ['--no-warnings', '--snapshot-blob', blob, shop, cart, join(folder, 'once.db'), join(ROOT, 'package.json'), String(redis)];
  return JSON.parse((await run(process.execPath, args)).stdout);
}

test('two processes pay for two carts under two keys, and a third one finds in the file that one is paid', async () => {
  const [first, second] = [await pays('c1'), await pays('c2')];
  expect([first.effect, second.effect, second.service]).toEqual(['done', 'done', first.service]);
  expect([...charges.values()]).toEqual(['c1', 'c2']);
  expect(await pays('c1')).toMatchObject({ effect: 'done', key: first.key });
});

describeOn(withoutRedis)('with records in one Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(['--maxmemory-policy', 'noeviction']);
  });
  afterAll(() => redis.stop());

  test('a process whose app makes its own keys finds the record of the process that has paid', async () => {
    const [first, second] = [await pays('c1', redis.port), await pays('c1', redis.port)];
    expect([second.effect, second.key]).toEqual(['done', first.key]);
    expect([...charges.values()]).toEqual(['c1']);
  });
});
