/** The apps, each started as its framework starts it in production. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const here = join(import.meta.dirname, '..');

export interface App {
  readonly name: string;
  readonly folder: string;
  /** The pages of this app that the other apps do not have. */
  readonly pages: readonly string[];
  /** The arguments of Node, which runs in the app's folder. */
  readonly server: (port: number) => readonly string[];
}

const installed = (file: string): string => join(here, 'node_modules', file);

export const APPS = {
  next: {
    name: 'Next.js',
    folder: 'next',
    pages: ['/state'],
    server: (port) => [installed('next/dist/bin/next'), 'start', '-H', '127.0.0.1', '-p', String(port)],
  },
  reactRouter: {
    name: 'React Router',
    folder: 'react-router',
    pages: ['/state'],
    server: () => [installed('@react-router/serve/bin.js'), 'build/server/index.js'],
  },
  svelteKit: { name: 'SvelteKit', folder: 'sveltekit', pages: [], server: () => ['build/index.js'] },
} satisfies Record<string, App>;

const PRODUCTION = { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', HOST: '127.0.0.1', PROTOCOL_HEADER: 'x-forwarded-proto' };

export interface Running {
  /** What the app has printed so far. */
  readonly said: () => string;
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const START_MS_MAX = 60_000;
const LOOK_MS = 50;

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

/** Starts an app. Resolves when it answers. SvelteKit assumes that browsers use https, unless the proxy's header says otherwise. */
export async function start({ name, folder, server }: App, port: number, env: Readonly<Record<string, string>>): Promise<Running> {
  const child = spawn(process.execPath, server(port), {
    cwd: join(here, folder),
    env: { ...process.env, ...PRODUCTION, PORT: String(port), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = (): Promise<void> => {
    child.kill('SIGKILL');
    return exited;
  };
  const deadline = Date.now() + START_MS_MAX;
  while (!(await answers(`http://127.0.0.1:${port}/`))) {
    if (child.exitCode === null && Date.now() < deadline) await sleep(LOOK_MS);
    else throw await stop().then(() => new Error(`${name} did not start: ${said}`));
  }
  return { said: () => said, stop };
}
