/**
 * Goal: the services' own count finds double charges. Method: runs them as a user would, with few orders and with
 * copies that share no store. `dashboard.test.ts` shows that copies with a shared store harm nobody; `test/node/kills`
 * kills processes on each store.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const run = (script: string, flags: readonly string[], env: object = {}) =>
  new Promise<{ code: number; said: string }>((resolve) => {
    const child = execFile(process.execPath, [join(root, script), ...flags], { cwd: root, env: { ...process.env, ...env } }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, said: stdout + stderr }),
    );
  });
// The services import the built package by its name.
beforeAll(async () => expect(await run('scripts/build.mjs', ['--if-stale'])).toMatchObject({ code: 0 }), 120_000);

// Retried, because a kill may miss the moment between a charge and its receipt.
test('copies that share nothing charge twice', { timeout: 240_000, retry: 2 }, async () => {
  const { code, said } = await run('playground/services/play.ts', ['--orders', '24', '--kills', '6'], { STORE: 'none' });
  expect(Number(/charged twice (\d+)/.exec(said)?.[1]), said).toBeGreaterThan(0);
  expect(code).toBe(1);
});
