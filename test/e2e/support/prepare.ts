/** Builds the page of the playground, once for all test files. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildPage } from '../../../playground/page/build.ts';
import { buildIfStale } from '../../../scripts/build.mjs';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder with the playground's page. */
    page: string;
  }
}

export async function setup(project: TestProject): Promise<() => void> {
  buildIfStale();
  const folder = mkdtempSync(join(tmpdir(), 'oncefetch-e2e-'));
  project.provide('page', await buildPage(folder));
  return () => rmSync(folder, { recursive: true, force: true });
}
