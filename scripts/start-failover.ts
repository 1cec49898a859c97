/** Starts Redis servers that take over from each other, for tests: a group with a sentinel, and a cluster with replicas. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { executablesOf } from './executables.mjs';
import { redis } from './services.mjs';
import { ask, freePort, type RedisServer, startRedis, until } from './start-services.ts';

/** How long a server must stay silent before it counts as down, ms. */
const DOWN_MS = 600;

export interface SentinelGroup {
  /** The name by which clients find the master. */
  readonly name: string;
  readonly sentinel: { readonly host: string; readonly port: number };
  readonly master: RedisServer;
  readonly replica: RedisServer;
  /** The port of the server that the sentinel considers the master. */
  masterPort(): Promise<number>;
  /** Resolves when the replica has taken over. */
  takenOver(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a master, a replica, and a sentinel that watches them. `options` are for the master and the replica. */
export async function startSentinelGroup(options: readonly string[] = []): Promise<SentinelGroup> {
  const quick = ['--repl-diskless-sync-delay', '0', ...options];
  const master = await startRedis(quick);
  const replica = await startRedis([...quick, '--replicaof', '127.0.0.1', String(master.port)]);
  await until('the replica', async () => (await ask(master.port, 'INFO replication')).includes('state=online'));
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-sentinel-'));
  const file = join(folder, 'sentinel.conf');
  const settings = [`monitor shop 127.0.0.1 ${master.port} 1`, `down-after-milliseconds shop ${DOWN_MS}`, 'failover-timeout shop 3000'];
  writeFileSync(file, settings.map((setting) => `sentinel ${setting}\n`).join(''));
  const sentinel = await startRedis(['--sentinel'], file);
  const masterPort = async (): Promise<number> => Number(/\$\d+\r\n(\d+)\r\n$/.exec(await ask(sentinel.port, 'SENTINEL get-master-addr-by-name shop'))?.[1]);
  await until('the sentinel', async () => (await ask(sentinel.port, 'SENTINEL replicas shop')).includes(String(replica.port)));
  return {
    name: 'shop',
    sentinel: { host: '127.0.0.1', port: sentinel.port },
    master,
    replica,
    masterPort,
    takenOver: () => until('the replica as master', async () => (await masterPort()) === replica.port && (await ask(replica.port, 'ROLE')).includes('master')),
    async stop() {
      for (const server of [master, replica]) server.resume();
      await Promise.all([sentinel, master, replica].map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface FailoverCluster {
  readonly ports: readonly number[];
  /** Kills the master that owns the key's slot. Resolves when its replica has taken over. */
  killMasterOf(key: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts three masters, each with a replica. */
export async function startFailoverCluster(): Promise<FailoverCluster> {
  const cli = executablesOf(redis)?.[1] as string;
  const nodes: RedisServer[] = [];
  for (let n = 0; n < 6; n++) {
    const own = ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort()), '--cluster-node-timeout', String(2 * DOWN_MS)];
    nodes.push(await startRedis([...own, '--repl-diskless-sync-delay', '0']));
  }
  const ports = nodes.map(({ port }) => port);
  const places = ports.map((port) => `127.0.0.1:${port}`);
  execFileSync(cli, ['--cluster', 'create', ...places, '--cluster-replicas', '1', '--cluster-yes'], { stdio: 'ignore' });
  const of = (port: number, command: string): string => execFileSync(cli, ['-p', String(port), ...command.split(' ')], { encoding: 'utf8' });
  const ready = (alive: readonly number[]): boolean => alive.every((port) => of(port, 'CLUSTER INFO').includes('cluster_state:ok'));
  await until('the cluster', () => ready(ports) && ports.every((port) => of(port, 'INFO replication').match(/master_link_status:up|state=online/)));
  return {
    ports,
    async killMasterOf(key) {
      const [asked = 0] = ports;
      const slot = Number(of(asked, `CLUSTER KEYSLOT ${key}`));
      // A master's line has its id, its address and its flags, and its slots at the end.
      const owner = of(asked, 'CLUSTER NODES')
        .split('\n')
        .find((line) => line.split(' ').some((word) => /^\d+-\d+$/.test(word) && Number(word.split('-')[0]) <= slot && slot <= Number(word.split('-')[1])));
      const port = Number(/ 127\.0\.0\.1:(\d+)@/.exec(owner ?? '')?.[1]);
      const master = nodes.find((node) => node.port === port) as RedisServer;
      await master.kill();
      const alive = ports.filter((other) => other !== port);
      const failed = (other: number): boolean => new RegExp(`:${port}@\\d+[^\\n]*fail`).test(of(other, 'CLUSTER NODES'));
      await until('the failover', () => alive.every(failed) && ready(alive));
    },
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
}
