/**
 * Goal: users' programs in `test/types` compile against the built types, except for the lines that must not: each of these is marked. Method: the compiler,
 * with each resolution that users have. Older compilers: `fetch-types`.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './installed.js';

const tsc = join(root, 'node_modules/typescript-native/bin/tsc');

test.concurrent.each([
  ['a bundler', 'esnext', 'bundler'],
  ['Node', 'nodenext', 'nodenext'],
])('as %s resolves it, all of them compile', async (_, module, resolution) => {
  const flags = ['-p', join(root, 'test/types'), '--module', module, '--moduleResolution', resolution, '--pretty', 'false', '--singleThreaded'];
  const said = await new Promise<string>((resolve) => execFile(process.execPath, [tsc, ...flags], (_, stdout, stderr) => resolve(stdout + stderr)));
  expect(said).toBe('');
});
