/** The runtimes, each as one starts a service in it. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Told } from '../programs/app.js';

const here = join(import.meta.dirname, '..');
const made = join(here, '../../.tmp/runtimes');
const installed = createRequire(join(here, 'package.json'));

/** A service that runs. */
export interface Service {
  ask(path: '/pay' | '/pending', query?: Readonly<Record<string, string>>): Promise<Told>;
  /** Ends it at once, whatever it is at. */
  kill(): Promise<void>;
}

export interface Runtime {
  readonly name: string;
  /** Why it can't be started here. */
  readonly missing?: string | undefined;
  start(): Promise<Service>;
}

const told = async (response: { json(): Promise<unknown> }): Promise<Told> => (await response.json()) as Told;
const addressOf = (base: string, path: string, query: Readonly<Record<string, string>> = {}): string => `${base}${path}?${new URLSearchParams(query)}`;

interface Miniflare {
  dispatchFetch(url: string): Promise<{ json(): Promise<unknown> }>;
  readonly ready: Promise<unknown>;
  dispose(): Promise<void>;
}

/** On this day workerd forbids what it forbids today; a Worker chooses the day itself. */
const COMPATIBILITY_DATE = '2026-07-01';

const workerd = (...compatibilityFlags: string[]): Runtime => ({
  name: `workerd${compatibilityFlags.map((flag) => ` with ${flag}`).join('')}`,
  async start() {
    const { Miniflare } = installed('miniflare') as { Miniflare: new (options: object) => Miniflare };
    const flare = new Miniflare({ modules: true, scriptPath: join(made, 'workerd.js'), compatibilityDate: COMPATIBILITY_DATE, compatibilityFlags });
    await flare.ready;
    return {
      ask: async (path, query) => told(await flare.dispatchFetch(addressOf('http://worker.example', path, query))),
      kill: () => flare.dispose(),
    };
  },
});

const edge: Runtime = {
  name: 'edge-runtime',
  async start() {
    const { EdgeVM } = installed('@edge-runtime/vm') as { EdgeVM: new (options: object) => { dispatchFetch(url: string): Promise<Response> } };
    const { readFileSync } = await import('node:fs');
    const vm = new EdgeVM({ initialCode: readFileSync(join(made, 'edge.js'), 'utf8') });
    return { ask: async (path, query) => told(await vm.dispatchFetch(addressOf('http://edge.example', path, query))), kill: async () => {} };
  },
};

/** `from`: packages, one of which has the binary for this machine. */
function inProcess(name: string, from: readonly string[], args: readonly string[]): Runtime {
  const binary = from.map((file) => join(here, 'node_modules', file)).find((file) => existsSync(file));
  return {
    name,
    missing: binary === undefined ? `${name} has no package for this machine (${process.platform} ${process.arch})` : undefined,
    async start() {
      const child = spawn(binary as string, [...args, join(made, 'process.mjs')], { stdio: ['ignore', 'pipe', 'pipe'] });
      let said = '';
      child.stderr.on('data', (text) => (said += text));
      const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()));
      const port = await new Promise<string>((resolve, reject) => {
        child.stdout.on('data', (text) => resolve(/listening (\d+)/.exec(String(text))?.[1] ?? ''));
        void ended.then(() => reject(new Error(`${name} ended: ${said}`)));
      });
      return {
        ask: async (path, query) => told(await fetch(addressOf(`http://127.0.0.1:${port}`, path, query))),
        async kill() {
          child.kill('SIGKILL');
          await ended;
        },
      };
    },
  };
}

const platform = `${process.platform}-${process.arch}`;
const node = (which: 'oldest' | 'newest'): Runtime => inProcess(`the ${which} Node`, [`node-${which}-${platform}/bin/node`], ['--no-warnings']);

export const RUNTIMES: readonly Runtime[] = [
  workerd(),
  workerd('nodejs_compat'),
  edge,
  inProcess('Deno', [`@deno/${platform}/deno`, `@deno/${platform}-glibc/deno`], ['run', '--allow-all', '--unstable-kv']),
  inProcess('Bun', [`@oven/bun-${platform}/bin/bun`, `@oven/bun-${platform.replace('arm64', 'aarch64')}/bin/bun`], ['run']),
  node('oldest'),
  node('newest'),
];
