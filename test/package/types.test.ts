/**
 * Goal: users' programs in `test/types` compile against the built types, except for the lines that are marked as wrong.
 * Method: the current compiler, with each module resolution that users have. `fetch-types` has older compilers.
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
