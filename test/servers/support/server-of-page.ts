/** A server whose code stands on a page of docs, in a process of its own that can be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { serverContract } from '../../../src/testing/server-contract.js';
import { fencesOf, readPage, root } from '../../docs/support/markdown.js';

const CARDS = { usual: 'good', changed: 'another', refused: 'declined', 'fails-once': 'fails-once' };
const LOGINS = { own: 'ann', other: 'bob', refused: 'nobody' };

/** The log-in that the pages leave to their readers. */
export const LOG_IN = `const accountOf = ({ headers }) => /^Bearer (ann|bob)$/.exec(headers.authorization ?? '')?.[1];\n`;

/** What a server that follows all rules is found to do; `preflight` is the page's own choice. */
export const FINDINGS = {
  first: 'works',
  again: 'replays-marked',
  'at-once': 'replays-marked',
  'other-payload': 'refuses-payload',
  'answer-cut': 'replays-marked',
  reset: 'replays-marked',
  // The replay is marked only if the kill came after the result was stored.
  killed: expect.stringMatching(/^replays/),
  refusal: 'refusal-kept',
  'passing-fault': 'fault-released',
  'changed-after-fault': 'refuses-payload',
  'refused-login': 'login-first',
  'other-path': 'refuses-path',
  'other-account': 'per-account',
  'after-wait': 'remembers',
};

export interface ServerOfPage {
  /** The code on the page. */
  readonly code: string;
  /** Where the server may keep its database. */
  readonly folder: string;
  /** Starts the server. `around`: the parts that the page leaves to its reader. */
  start(around: string): Promise<void>;
  /** Kills the server and removes its folder. */
  end(): Promise<void>;
  /** How `serverContract` sends, and kills the server. */
  readonly contract: Pick<Parameters<typeof serverContract>[0], 'url' | 'elsewhere' | 'send' | 'restart' | 'settleMs' | 'afterMs'>;
}

/** The server of the snippet `id` on the page `path`. */
export function serverOfPage(path: string, id: string): ServerOfPage {
  const made = join(root, '.tmp');
  mkdirSync(made, { recursive: true });
  const folder = mkdtempSync(join(made, `${id}-`));
  const main = join(folder, 'main.ts');
  const code = fencesOf(readPage(path)).find(({ wants }) => wants.get('id')?.[0] === id)?.code ?? '';
  let server: ChildProcess;
  let port = 0;

  async function spawned(): Promise<void> {
    server = spawn(process.execPath, [main], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    port = await new Promise<number>((resolve, reject) => {
      server.once('message', (message) => resolve(Number(message)));
      server.once('exit', () => reject(new Error('the server ended')));
    });
  }

  async function kill(): Promise<void> {
    if (server.exitCode !== null) return;
    const gone = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await gone;
  }

  return {
    code,
    folder,
    async start(around) {
      writeFileSync(main, `${around}${code}server.listen(0, '127.0.0.1', () => process.send(server.address().port));\n`);
      await spawned();
    },
    async end() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
    contract: {
      url: () => `http://127.0.0.1:${port}/payments`,
      elsewhere: () => `http://127.0.0.1:${port}/refunds`,
      send: ({ url, key, operation, payload, login }) =>
        fetch(url, {
          method: 'POST',
          headers: { 'idempotency-key': key, authorization: `Bearer ${LOGINS[login]}` },
          body: JSON.stringify({ cart: operation, card: CARDS[payload] }),
        }),
      restart: async () => {
        await kill();
        await spawned();
      },
      settleMs: 20,
      afterMs: 300,
    },
  };
}
