/** Starts real Redis and PostgreSQL servers for tests, each on a free loopback port and in its own folder. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executablesOf, howToGet } from './executables.mjs';
import { pgbouncer, postgres, redis } from './services.mjs';

const START_MS_MAX = 20_000;
const LOOK_EVERY_MS = 20;

const [redisServer, redisCli] = executablesOf(redis) ?? [];
const [pgCtl, initdb] = executablesOf(postgres) ?? [];
const [bouncer] = executablesOf(pgbouncer) ?? [];
const without = (tool: typeof redis) => (executablesOf(tool) ? undefined : `there is no ${tool.name} here: ${howToGet(tool)}`);
/** Why a server can't be started here, and how to get it. `undefined` if it can. */
export const withoutRedis = without(redis);
export const withoutPostgres = without(postgres);
export const withoutPgBouncer = withoutPostgres ?? without(pgbouncer);

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

export async function until(what: string, holds: () => Promise<unknown> | unknown): Promise<void> {
  for (const end = Date.now() + START_MS_MAX; Date.now() < end; ) {
    if (await holds()) return;
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
  }
  throw new Error(`${what} was not ready within ${START_MS_MAX} ms`);
}

/** Sends one command to a Redis. Resolves to its answer, or to '' if there is none. */
export const ask = (port: number, command: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`));
    socket.setTimeout(1000, () => socket.destroy());
    socket.once('data', (data) => socket.end(() => resolve(data.toString())));
    socket.once('error', () => resolve(''));
    socket.once('close', () => resolve(''));
  });

export interface RedisServer {
  readonly port: number;
  /** Kills it, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again, with what it had on disk. */
  start(): Promise<void>;
  /** Pauses the server, so that it seems unreachable. `resume` lets it continue. */
  pause(): void;
  resume(): void;
  /** Restarts it as an operator would: it finishes its work, and comes back with all its data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a Redis server. `options` are command-line options, such as `['--appendonly', 'yes']`; `file` is a
 * configuration file with more.
 */
export async function startRedis(options: readonly string[] = [], file?: string): Promise<RedisServer> {
  if (!redisServer) throw new Error(withoutRedis);
  const [port, folder] = [await freePort(), mkdtempSync(join(tmpdir(), 'oncefetch-redis-'))];
  // A sentinel saves nothing, and rejects this option.
  const save = options.includes('--sentinel') ? [] : ['--save', ''];
  const args = [...(file ? [file] : []), '--port', String(port), '--bind', '127.0.0.1', ...save, '--dir', folder, ...options];
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    server = spawn(redisServer, args, { stdio: 'ignore' });
    await until('redis-server', async () => (await ask(port, 'PING')).startsWith('+PONG'));
  };
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    const running = server;
    server = undefined;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const gone = new Promise((resolve) => running.once('exit', resolve));
    running.kill(signal);
    await gone;
  };
  const kill = (): Promise<void> => end('SIGKILL');
  // Kills the server when this process exits, even in the middle of a test.
  const last = (): void => void server?.kill('SIGKILL');
  process.once('exit', last);
  await start();
  return {
    port,
    kill,
    start,
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    restart: () => end('SIGTERM').then(start),
    async stop() {
      process.off('exit', last);
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a cluster of three masters that share the slots. */
export async function startRedisCluster(): Promise<{ readonly ports: readonly number[]; stop(): Promise<void> }> {
  const nodes: RedisServer[] = [];
  for (let n = 0; n < 3; n++) nodes.push(await startRedis(['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())]));
  const ports = nodes.map(({ port }) => port);
  execFileSync(redisCli as string, ['--cluster', 'create', ...ports.map((port) => `127.0.0.1:${port}`), '--cluster-yes'], { stdio: 'ignore' });
  await until('the cluster', async () =>
    (await Promise.all(ports.map((port) => ask(port, 'CLUSTER INFO')))).every((info) => info.includes('cluster_state:ok')),
  );
  return { ports, stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))) };
}

export interface PostgresServer {
  readonly port: number;
  /** For `new Pool(…)`. */
  readonly connection: { readonly host: string; readonly port: number; readonly user: string; readonly database: string };
  /** Stops it at once, as a crash would: everything that is not yet in its log is lost. */
  kill(): void;
  start(): void;
  /** Restarts it as an operator would: it ends all connections, and comes back with everything that was committed. */
  restart(): Promise<void>;
  /** Turns it into a hot standby, as a failover does with the old primary: it answers reads from its data and takes no writes. */
  demote(): void;
  stop(): void;
}

/** User and group ids for programs that refuse to run as root. */
const unprivileged = (): readonly (number | undefined)[] =>
  process.getuid?.() === 0 ? ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))) : [];

/**
 * A new, empty cluster. Each server gets a copy, because `initdb` takes ten times as long as the copy. The run of tests names the folder for
 * it and removes it, because Vitest ends its workers without an `exit` event.
 */
let template: string | undefined;

/** Starts a PostgreSQL server, in UTF-8 and with the locale `C`. PostgreSQL refuses to run as root, so root starts it as the user `postgres`. */
export async function startPostgres(): Promise<PostgresServer> {
  if (!pgCtl || !initdb) throw new Error(withoutPostgres);
  const [port, [uid, gid]] = [await freePort(), unprivileged()];
  const newFolder = (parent = tmpdir()): string => {
    const folder = mkdtempSync(join(parent, 'oncefetch-postgres-'));
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
    return folder;
  };
  const folder = newFolder();
  const data = join(folder, 'data');
  const run = (program: string, ...args: string[]): void => {
    const { status, stderr } = spawnSync(program, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: folder,
      ...(uid !== undefined && { uid }),
      ...(gid !== undefined && { gid }),
    });
    if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
  };
  const init = (to: string): void => run(initdb, '-D', to, '-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale=C');
  const parent = process.env['TEMPLATES'];
  if (parent === undefined) init(data);
  else {
    if (template === undefined) {
      const made = join(newFolder(parent), 'data');
      init(made);
      template = made;
    }
    cpSync(template, data, { recursive: true });
    // PostgreSQL starts on a folder only if it is its user's own. `cpSync` keeps neither owners nor the modes of folders.
    chmodSync(data, 0o700);
    if (uid !== undefined && gid !== undefined)
      for (const path of ['.', ...readdirSync(data, { recursive: true, encoding: 'utf8' })]) chownSync(join(data, path), uid, gid);
  }
  // After a crash the server flushes its whole folder. File by file, that may take a slow disk more than a minute. Linux does it by one call, from version 14 on.
  const version = Number(/\d+/.exec(execFileSync(pgCtl, ['--version'], { encoding: 'utf8' }))?.[0]);
  const atOnce = process.platform === 'linux' && version >= 14 ? ' -c recovery_init_sync_method=syncfs' : '';
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder}${atOnce}`;
  const start = (): void => run(pgCtl, '-D', data, '-o', options, '-l', join(folder, 'log'), '-w', 'start');
  const kill = (): void => run(pgCtl, '-D', data, '-m', 'immediate', 'stop');
  // Asynchronous, so that the caller's store calls continue meanwhile.
  const restart = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const restarting = spawn(pgCtl, ['-D', data, '-o', options, '-l', join(folder, 'log'), '-m', 'fast', '-w', 'restart'], {
        stdio: 'ignore',
        cwd: folder,
        ...(uid !== undefined && { uid }),
        ...(gid !== undefined && { gid }),
      });
      restarting.once('close', (status) => (status === 0 ? resolve() : reject(new Error(`${pgCtl} restart ended with ${status}`))));
    });
  const demote = (): void => {
    run(pgCtl, '-D', data, '-m', 'fast', '-w', 'stop');
    writeFileSync(join(data, 'standby.signal'), '');
    start();
  };
  const stop = (): void => {
    process.off('exit', stop);
    if (existsSync(join(data, 'postmaster.pid'))) kill();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', stop);
  start();
  return { port, connection: { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' }, kill, start, restart, demote, stop };
}

/** Starts a PgBouncer in front of `server`, in transaction mode: each statement may use either of its two connections. */
export async function startPgBouncer(
  server: PostgresServer,
): Promise<Pick<PostgresServer, 'connection'> & { restart(): Promise<void>; stop(): Promise<void> }> {
  if (!bouncer) throw new Error(withoutPgBouncer);
  const [port, folder, [uid, gid]] = [await freePort(), mkdtempSync(join(tmpdir(), 'oncefetch-pgbouncer-')), unprivileged()];
  const file = join(folder, 'pgbouncer.ini');
  const lines = [
    ...['[databases]', `postgres = host=127.0.0.1 port=${server.port} user=postgres`],
    ...['[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any'],
    ...['pool_mode = transaction', 'default_pool_size = 2', 'server_login_retry = 0.2'],
  ];
  writeFileSync(file, lines.join('\n'));
  if (uid !== undefined && gid !== undefined) for (const path of [folder, file]) chownSync(path, uid, gid);
  let running: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    running = spawn(bouncer, ['-q', file], { stdio: 'ignore', ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }) });
    await until('pgbouncer', () => reached(port));
  };
  const kill = async (): Promise<void> => {
    const gone = new Promise((resolve) => running?.once('exit', resolve));
    running?.kill('SIGKILL');
    await gone;
  };
  const last = (): void => void running?.kill('SIGKILL');
  process.once('exit', last);
  await start();
  return {
    connection: { ...server.connection, port },
    restart: () => kill().then(start),
    async stop() {
      process.off('exit', last);
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Whether a server listens on the port. */
const reached = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(() => resolve(true)));
    socket.once('error', () => resolve(false));
  });
