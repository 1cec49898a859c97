/**
 * Goal: the services' count tells harm. Method: run as its user runs it, with few orders, and with copies that share no store. That nobody is
 * harmed where they do: `dashboard.test.ts`; each store under killed processes: `test/node/kills`.
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
// The services take the package by its name, as built.
beforeAll(async () => expect(await run('scripts/build.mjs', ['--if-stale'])).toMatchObject({ code: 0 }), 120_000);

// A kill need not meet anybody between the charge and its receipt.
test('copies that share nothing charge twice', { timeout: 240_000, retry: 2 }, async () => {
  const { code, said } = await run('playground/services/play.ts', ['--orders', '24', '--kills', '6'], { STORE: 'none' });
  expect(Number(/charged twice (\d+)/.exec(said)?.[1]), said).toBeGreaterThan(0);
  expect(code).toBe(1);
});
