/** The runtimes, and how to start a service in each. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Told } from '../programs/app.js';
import type { ContractResult } from '../programs/contract.js';

const here = join(import.meta.dirname, '..');
const made = join(here, '../../.tmp/runtimes');
const installed = createRequire(join(here, 'package.json'));

/** A service that runs. */
export interface Service {
  pay(query: Readonly<Record<string, string>>): Promise<Told>;
  pending(customer: string): Promise<readonly unknown[]>;
  /** Runs the contract of its store inside the runtime. */
  contract(): Promise<ContractResult>;
  /** Ends the service at once, whatever it is doing. */
  kill(): Promise<void>;
}

export interface Runtime {
  readonly name: string;
  /** Why it can't be started here. */
  readonly missing?: string | undefined;
  /** The store in which records outlive the service, if there is one. */
  readonly store?: string | undefined;
  /** `folder`: where its store is, if it has one. */
  start(folder: string): Promise<Service>;
}

/** A service that `fetch` reaches at `base`. */
function serviceBy(fetch: (url: string) => Promise<{ json(): Promise<unknown> }>, base: string, kill: Service['kill']): Service {
  const ask = async <T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> =>
    (await (await fetch(`${base}${path}?${new URLSearchParams(query)}`)).json()) as T;
  return { pay: (query) => ask('/pay', query), pending: (customer) => ask('/pending', { customer }), contract: () => ask('/contract'), kill };
}

interface Miniflare {
  dispatchFetch(url: string): Promise<{ json(): Promise<unknown> }>;
  readonly ready: Promise<unknown>;
  dispose(): Promise<void>;
}

/** Compatibility dates of Workers: a recent one, and one before newer features such as `WeakRef`. */
const [TODAY, EARLIER] = ['2026-07-01', '2023-03-01'];

/** The bindings that a Worker gets for each store, whose data is in a folder. */
const BINDINGS: Readonly<Record<string, (folder: string) => object>> = {
  D1: (folder) => ({ d1Databases: ['DB'], d1Persist: folder }),
  'a Durable Object': (folder) => ({ durableObjects: { TILL: { className: 'Till', useSQLite: true } }, durableObjectsPersist: folder }),
};

interface Worker {
  readonly store?: string;
  readonly flags?: readonly string[];
  readonly day?: string;
}

const workerd = ({ store, flags = [], day = TODAY }: Worker = {}): Runtime => ({
  name: `workerd${flags.map((flag) => ` with ${flag}`).join('')}${store ? ` on ${store}` : ''}${day === TODAY ? '' : ` of ${day}`}`,
  store,
  async start(folder) {
    const { Miniflare } = installed('miniflare') as { Miniflare: new (options: object) => Miniflare };
    const worker = { modules: true, scriptPath: join(made, 'workerd.js'), compatibilityDate: day, compatibilityFlags: flags };
    const flare = new Miniflare({ ...worker, ...(store && BINDINGS[store]?.(folder)) });
    await flare.ready;
    return serviceBy(
      (url) => flare.dispatchFetch(url),
      'http://worker.example',
      () => flare.dispose(),
    );
  },
});

const edge: Runtime = {
  name: 'edge-runtime',
  async start() {
    const { EdgeVM } = installed('@edge-runtime/vm') as { EdgeVM: new (options: object) => { dispatchFetch(url: string): Promise<Response> } };
    const { readFileSync } = await import('node:fs');
    // Next.js gives its edge functions a `process` that has an environment only.
    const vm = new EdgeVM({ initialCode: `globalThis.process = { env: {} };${readFileSync(join(made, 'edge.js'), 'utf8')}` });
    return serviceBy(
      (url) => vm.dispatchFetch(url),
      'http://edge.example',
      async () => {},
    );
  },
};

interface Binary {
  readonly name: string;
  /** Files of packages, one of which is for this machine. */
  readonly from: readonly string[];
  readonly args: readonly string[];
}

/** `STORE`: as `programs/process.ts` takes it. */
function inProcess({ name, from, args }: Binary, store?: string, STORE?: string): Runtime {
  const binary = from.map((file) => join(here, 'node_modules', file)).find((file) => existsSync(file));
  return {
    name: store ? `${name} on ${store}` : name,
    store,
    missing: binary === undefined ? `${name} has no package for this machine (${process.platform} ${process.arch})` : undefined,
    async start(FOLDER) {
      const env = { ...process.env, FOLDER, ...(STORE && { STORE }) };
      const child = spawn(binary as string, [...args, join(made, 'process.mjs')], { stdio: ['ignore', 'pipe', 'pipe'], env });
      let said = '';
      child.stderr.on('data', (text) => (said += text));
      const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()));
      const port = await new Promise<string>((resolve, reject) => {
        child.stdout.on('data', (text) => resolve(/listening (\d+)/.exec(String(text))?.[1] ?? ''));
        void ended.then(() => reject(new Error(`${name} ended: ${said}`)));
      });
      return serviceBy(fetch, `http://127.0.0.1:${port}`, async () => {
        child.kill('SIGKILL');
        await ended;
      });
    },
  };
}

const platform = `${process.platform}-${process.arch}`;
const node = (which: 'oldest' | 'newest'): Binary => ({ name: `the ${which} Node`, from: [`node-${which}-${platform}/bin/node`], args: ['--no-warnings'] });
const deno: Binary = { name: 'Deno', from: [`@deno/${platform}/deno`, `@deno/${platform}-glibc/deno`], args: ['run', '--allow-all', '--unstable-kv'] };
const bun: Binary = { name: 'Bun', from: [`@oven/bun-${platform}/bin/bun`, `@oven/bun-${platform.replace('arm64', 'aarch64')}/bin/bun`], args: ['run'] };

export const RUNTIMES: readonly Runtime[] = [
  workerd(),
  workerd({ flags: ['nodejs_compat'] }),
  workerd({ day: EARLIER }),
  workerd({ store: 'D1' }),
  workerd({ store: 'a Durable Object' }),
  edge,
  inProcess(deno),
  inProcess(deno, 'Deno KV', 'deno-kv'),
  inProcess(deno, 'SQLite', 'sqlite'),
  inProcess(bun),
  inProcess(bun, 'SQLite', 'sqlite'),
  inProcess(bun, 'a database that it opened', 'handed'),
  inProcess(node('oldest')),
  inProcess(node('oldest'), 'a database that it opened', 'handed'),
  inProcess(node('newest')),
  inProcess(node('newest'), 'SQLite', 'sqlite'),
];
