/** Goal: `npm run schemes` fails if it ran nothing, or if it is asked for a part that does not exist. Method: runs the command. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../docs/support/markdown.js';

const schemes = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  new Promise<{ status: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [join(root, 'scripts/schemes.mjs'), ...args], { env: { ...process.env, ...env } }, (_, stdout, stderr) =>
      resolve({ status: child.exitCode, stdout, stderr }),
    );
  });

test.concurrent('a scheme whose database is not installed is left out, and the run fails', async () => {
  const { status, stdout, stderr } = await schemes(['distributed-lock'], { REDIS_SERVER_PATH: '/nowhere/redis-server' });
  expect(status).toBe(1);
  expect(stdout).toContain('distributed-lock: left out, there is no redis here');
  expect(stderr).toContain('nothing was run');
});

test.concurrent('a part that a scheme does not have is refused, and the error lists its parts', async () => {
  const { status, stderr } = await schemes(['state-machine', '--without', 'lock']);
  expect(status).toBe(1);
  expect(stderr).toContain('state-machine has no part lock: state, transaction');
});
