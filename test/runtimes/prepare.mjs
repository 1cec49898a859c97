/**
 * Runs before the tests: installs the runtimes from their own lockfile, and bundles the programs that run in them. For Workers and
 * edge functions the bundle includes the package, as with their own bundlers; the other runtimes resolve the package themselves.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { installBeside, unpackInto } from '../../scripts/beside.mjs';
import { buildIfStale } from '../../scripts/build.mjs';

const here = import.meta.dirname;
const root = join(here, '../..');
const made = join(root, '.tmp/runtimes');
/** The reason why nothing can be tested. The tests give it when they skip. */
const reasonFile = join(made, 'missing');

/** @type {import('esbuild').BuildOptions} */
const common = { bundle: true, absWorkingDir: made, nodePaths: [join(made, 'node_modules')], tsconfigRaw: '{}', logLevel: 'error', target: 'es2022' };
/** @type {import('esbuild').BuildOptions[]} */
const PROGRAMS = [
  {
    entryPoints: { workerd: join(here, 'programs/workerd.ts') },
    conditions: ['workerd', 'worker', 'browser'],
    format: 'esm',
    external: ['cloudflare:workers'],
  },
  { entryPoints: { edge: join(here, 'programs/edge.ts') }, conditions: ['edge-light', 'worker', 'browser'], format: 'iife' },
  { entryPoints: { process: join(here, 'programs/process.ts') }, platform: 'node', format: 'esm', packages: 'external', outExtension: { '.js': '.mjs' } },
];

/** Lays out users' programs for the compilers. */
function layOutTypes() {
  cpSync(join(here, 'types'), join(made, 'types'), { recursive: true });
  cpSync(join(root, 'test/types/fetch-types/program.ts'), join(made, 'types/program.ts'));
  // Otherwise the nearest package.json is that of this project, whose paths lead to its sources.
  writeFileSync(join(made, 'package.json'), '{"type":"module"}');
}

/** @param {string} from @param {string} name */
function link(from, name) {
  const link = join(made, 'node_modules', name);
  mkdirSync(dirname(link), { recursive: true });
  if (!existsSync(link)) symlinkSync(join(from, 'node_modules', name), link, 'junction');
}

/** Links the dependencies of the project, and the packages with the types of the runtimes. */
function linkDependencies() {
  /** @type {{ dependencies: Record<string, string> }} */
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) link(root, name);
  for (const name of ['@cloudflare/workers-types', '@photostructure/sqlite', 'bun-types', '@types/node', 'undici-types']) link(here, name);
}

export async function setup() {
  mkdirSync(made, { recursive: true });
  rmSync(reasonFile, { force: true });
  const reason = installBeside(here, 'a runtime');
  if (reason !== undefined) {
    writeFileSync(reasonFile, reason);
    return;
  }
  buildIfStale();
  unpackInto(made);
  linkDependencies();
  layOutTypes();
  await Promise.all(PROGRAMS.map((program) => build({ ...common, ...program, outdir: made })));
}
