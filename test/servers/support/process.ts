/** Runs a server in its own process. Another process stands by to replace it when it dies. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Opened } from './database.js';
import type { Edits } from './parts.js';

export interface ServerProcess {
  /** Port of the process that serves, or of the next one if that has died. */
  port(): Promise<number>;
  /** How often it was killed. */
  readonly deaths: number;
  /** Kills the process that serves. Resolves when the next one serves. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const MAIN = join(import.meta.dirname, 'main.ts');

/** `edits`: changes to the server's source. */
export function startServer(scheme: string, opened: Opened, edits: Edits = []): ServerProcess {
  let deaths = 0;
  let stopping = false;
  const spawned = (): ChildProcess =>
    spawn(process.execPath, [MAIN, scheme, JSON.stringify(opened), JSON.stringify(edits)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let [child, next] = [spawned(), spawned()];

  const serve = (): Promise<number> =>
    new Promise((resolve, reject) => {
      child.once('message', (port) => resolve(Number(port)));
      child.once('exit', (code, signal) => {
        if (stopping) return;
        if (signal !== 'SIGKILL') return reject(new Error(`the server ${scheme} ended with ${signal ?? code}`));
        deaths++;
        [child, next] = [next, spawned()];
        port = serve();
        port.catch(() => {});
      });
      child.send('go');
    });
  let port = serve();
  return {
    port: () => port,
    get deaths() {
      return deaths;
    },
    async kill() {
      await ended(child);
      await port;
    },
    async stop() {
      stopping = true;
      await Promise.all([child, next].map(ended));
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}
