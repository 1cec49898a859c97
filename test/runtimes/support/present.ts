/** The runtimes that are installed. For each of the others, a test is skipped and says why it is missing; on CI it fails. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { RUNTIMES, type Runtime } from './runtimes.js';

const reasonFile = join(import.meta.dirname, '../../../.tmp/runtimes/missing');
/** Why no runtime is installed, or `undefined`. */
export const reason = existsSync(reasonFile) ? readFileSync(reasonFile, 'utf8') : undefined;

export const here: readonly Runtime[] = RUNTIMES.filter(({ missing }) => !reason && !missing);
export const withStore = here.filter(({ store }) => store);

export function tellAbsent(): void {
  test.for(RUNTIMES.filter((runtime) => !here.includes(runtime)))('$name', ({ missing = reason }, { skip }) => {
    if (process.env['CI']) throw new Error(missing);
    skip(missing);
  });
}

/** Makes a folder for a store. `remove` removes it. */
export function folder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'oncefetch-runtimes-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
