/**
 * Goal: the services charge each order once, whichever copy is killed when. Method: run as its user runs it, with few orders, on SQLite.
 * Each store under killed processes: `test/node/kills`.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const run = (script: string, flags: readonly string[], env: object = {}) =>
  new Promise<{ code: number; said: string }>((resolve) => {
    const child = execFile(process.execPath, [join(root, script), ...flags], { cwd: root, env: { ...process.env, ...env } }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, said: stdout + stderr }),
    );
  });
const ORDERS = 40;
const play = (store: string, kills: number) => run('playground/services/play.ts', ['--orders', String(ORDERS), '--kills', String(kills)], { STORE: store });

// The services take the package by its name, as built.
beforeAll(async () => expect(await run('scripts/build.mjs', ['--if-stale'])).toMatchObject({ code: 0 }), 120_000);

describe.concurrent('copies that share', { timeout: 240_000 }, () => {
  test('a store: one charge and one receipt for each order', async () => {
    const { code, said } = await play('sqlite', 6);
    expect(said).toContain(`charges ${ORDERS}, charged twice 0, not charged 0`);
    expect(said).toContain(`receipts ${ORDERS}, twice 0, missing 0`);
    expect(code, said).toBe(0);
  });

  // A kill need not meet anybody between the charge and its receipt.
  test('nothing charge twice', { retry: 2 }, async () => {
    const { code, said } = await play('none', 12);
    expect(Number(/charged twice (\d+)/.exec(said)?.[1]), said).toBeGreaterThan(0);
    expect(code).toBe(1);
  });
});
