/** Goal: `npm run schemes` fails where it ran nothing, and where it is asked for what there is not. Method: it is run. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { root } from '../docs/support/markdown.js';

vi.setConfig({ testTimeout: 60_000 });

const schemes = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, [join(root, 'scripts/schemes.mjs'), ...args], { encoding: 'utf8', env: { ...process.env, ...env } });

test('a scheme whose database is not here is left out, and the run fails', () => {
  const { status, stdout, stderr } = schemes(['distributed-lock'], { REDIS_SERVER_PATH: '/nowhere/redis-server' });
  expect(status).toBe(1);
  expect(stdout).toContain('distributed-lock: left out, there is no redis here');
  expect(stderr).toContain('nothing was run');
});

test('a part that a scheme does not have is refused, with those that it has', () => {
  const { status, stderr } = schemes(['state-machine', '--without', 'lock']);
  expect(status).toBe(1);
  expect(stderr).toContain('state-machine has no part lock: state, transaction');
});
